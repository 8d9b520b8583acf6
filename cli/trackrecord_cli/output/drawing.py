"""Bars: a share as a few characters.

They are for people: on a terminal only. One that is not UTF-8 gets ASCII.
"""

from __future__ import annotations

import sys
from typing import Final

from .screen import on_terminal

BAR_WIDTH: Final = 10
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_NOTHING: Final = "·"
_ASCII_NOTHING: Final = "."


def bar(share: float | None, width: int = BAR_WIDTH) -> str:
    """Return a share of 0..1 as a bar; "" without one, or outside a terminal."""
    if share is None or not on_terminal():
        return ""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    if not _is_utf8():
        return ("#" * round(eighths / 8)).ljust(width, _ASCII_NOTHING)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width, _NOTHING)


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
