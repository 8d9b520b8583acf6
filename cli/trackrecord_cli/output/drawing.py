"""Bars: a share as a few characters.

They are for people: on a terminal only. One that is not UTF-8 gets ASCII.
"""

from __future__ import annotations

import sys
from typing import Final

_WIDTH: Final = 10
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_NOTHING: Final = "·"
_ASCII_NOTHING: Final = "."


def bar(share: float) -> str:
    """Return a share of 0..1 as a bar."""
    eighths = round(min(max(share, 0.0), 1.0) * _WIDTH * 8)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        return ("#" * round(eighths / 8)).ljust(_WIDTH, _ASCII_NOTHING)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(_WIDTH, _NOTHING)
