"""Light or dark: as the device has it, or as the reader chose."""

from typing import Final

from starlette.requests import Request

THEMES: Final = ("auto", "light", "dark")
COOKIE: Final = "trackrecord_theme"


def theme_of(request: Request) -> str:
    """Return the theme that the reader chose; "auto" follows the device."""
    chosen = request.cookies.get(COOKIE, "auto")
    return chosen if chosen in THEMES else "auto"
