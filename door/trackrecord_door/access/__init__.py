"""Access to the front door: tokens, sessions of browsers, and the check of each request."""
