"""A text as an argument, or from standard input."""

import sys

from trackrecord.errors import InvalidRequest

# Far more than any text is used of; a terminal's or a program's output has no end.
_LONGEST = 16 * 1024 * 1024


def text_or_input(given: str, what: str) -> str:
    """Return the text that was given; standard input for "-".

    Args:
        given: the argument.
        what: the noun for the text in a message.

    Raises:
        InvalidRequest: standard input is not UTF-8, or longer than any such text.
    """
    if given != "-":
        return given
    data = sys.stdin.buffer.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        message = f"standard input has more than {_LONGEST} bytes; give a shorter {what}"
        raise InvalidRequest(message)
    try:
        return data.decode()
    except UnicodeDecodeError:
        message = f"standard input is not UTF-8; write the {what} in UTF-8"
        raise InvalidRequest(message) from None
