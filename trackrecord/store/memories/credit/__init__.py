"""Credit: what confirms and rejects memories."""
