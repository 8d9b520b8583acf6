"""A text as an argument, or from standard input."""

import sys

from trackrecord.errors import InvalidRequest


def text_or_input(given: str, what: str) -> str:
    """Return the text that was given; standard input for "-".

    Args:
        given: the argument.
        what: the noun for the text in a message.

    Raises:
        InvalidRequest: standard input is not UTF-8.
    """
    if given != "-":
        return given
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        message = f"standard input is not UTF-8; write the {what} in UTF-8"
        raise InvalidRequest(message) from None
