"""Settings: what they are, where they come from, and what is read from them."""
