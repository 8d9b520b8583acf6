"""The ids of traces and spans, as lower-case hexadecimal digits."""

import string
from typing import Final

TRACE_ID_DIGITS: Final = 32
SPAN_ID_DIGITS: Final = 16
_HEX: Final = frozenset(string.hexdigits)


def usable_id(text: str, digits: int) -> str:
    """Return an id in lower case; "" if it is missing, malformed or all zeros."""
    if len(text) != digits or not text.strip("0") or not _HEX.issuperset(text):
        return ""
    return text.lower()
