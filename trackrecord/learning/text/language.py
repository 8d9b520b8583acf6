"""The two languages that texts are written in."""

from typing import Final, Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)


def known_language(name: object) -> Language:
    """Return the language of this name; English for a language without texts."""
    return "zh" if name == "zh" else "en"


def both(english: str, chinese: str) -> dict[Language, str]:
    """Return a text by its language."""
    return {"en": english, "zh": chinese}
