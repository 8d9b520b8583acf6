"""The error for a body that is not what its content type says."""


class Malformed(Exception):
    """Raised when a body cannot be decoded; the message says why and repeats nothing of it."""
