"""Full- and half-width forms, which count as the same characters when texts are compared."""

from collections.abc import Mapping
from functools import cache


def one_width(text: str) -> str:
    """Return the text with full-width Latin and half-width kana in their usual forms."""
    return text if text.isascii() else text.translate(_forms())


def one_form(text: str) -> str:
    """Return the text with the letters, digits and brackets of full width and of mathematics plain.

    The punctuation of Chinese stays, as does all that is not a variant of an ASCII character.
    """
    return text if text.isascii() else text.translate(_plain_letters())


@cache
def _plain_letters() -> Mapping[int, str]:
    from unicodedata import normalize

    of_chinese = frozenset(map(ord, "，．：；！？（）"))
    letters = (*range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800), *range(0x24B6, 0x24EA))
    return {
        code: plain
        for code in letters
        if code not in of_chinese and (plain := normalize("NFKC", chr(code))).isascii()
    }


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
