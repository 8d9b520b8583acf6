"""The two languages that texts are written in."""

import re
from typing import Literal

Language = Literal["en", "zh"]

_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")


def known_language(name: str) -> Language:
    """Return the language of this name; English for a language without texts."""
    return "zh" if name == "zh" else "en"


def language_of(text: str) -> Language:
    """Return Chinese if a text has at least as many ideographs as Latin words, else English."""
    if text.isascii():
        return "en"
    ideographs = len(_IDEOGRAPH.findall(text))
    return "zh" if ideographs and ideographs >= len(_LATIN_WORD.findall(text)) else "en"
