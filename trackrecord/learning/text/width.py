"""Full- and half-width forms, which count as the same characters when texts are compared."""

from collections.abc import Mapping
from functools import cache


def one_width(text: str) -> str:
    """Return the text with full-width Latin and half-width kana in their usual forms."""
    return text if text.isascii() else text.translate(_forms())


@cache
def _forms() -> Mapping[int, str]:
    """Return the usual forms of the characters that have one.

    They are looked up for the first text that is not ASCII: it takes a quarter of a megabyte, and
    the import of the tables as much again.
    """
    from unicodedata import normalize

    # Character by character: normalising a whole text takes time that grows with the square of a
    # run of combining marks, and whoever writes a text chooses how long that is.
    return {
        code: plain
        for code in (0x3000, *range(0xFF01, 0xFFEF))
        if (plain := normalize("NFKC", chr(code))) != chr(code)
    }
