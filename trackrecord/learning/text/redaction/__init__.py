"""Redaction: secrets are replaced before anything leaves the process that read them."""
