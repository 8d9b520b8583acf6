"""The error for a body that is not what its content type says."""

from typing import Final

TOO_DENSE: Final = "the body holds too many values; send smaller batches"


class Malformed(Exception):
    """Raised when a body cannot be decoded; the message says why and repeats nothing of it."""
