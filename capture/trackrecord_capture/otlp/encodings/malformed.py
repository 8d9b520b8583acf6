"""The error of a body that does not match its content type."""

from typing import Final

TOO_DENSE: Final = "the body holds too many values; send smaller batches"


class Malformed(Exception):
    """Raised when a body cannot be decoded; the message has the reason and no part of the body."""
