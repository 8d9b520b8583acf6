"""Bars and sparklines: a share or a history of a number as a few characters.

They are for people: on a terminal only. One that is not UTF-8 gets ASCII.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from .screen import on_terminal

BAR_WIDTH: Final = 10
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"
_ASCII_HEIGHTS: Final = "_-~=+*#@"
_NOTHING: Final = "·"
_ASCII_NOTHING: Final = "."
_DRAWN: Final = frozenset(_HEIGHTS + _ASCII_HEIGHTS + _NOTHING + _ASCII_NOTHING)


def bar(share: float | None, width: int = BAR_WIDTH) -> str:
    """Return a share of 0..1 as a bar; "" without one, or outside a terminal."""
    if share is None or not on_terminal():
        return ""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    if not _is_utf8():
        return ("#" * round(eighths / 8)).ljust(width, _ASCII_NOTHING)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width, _NOTHING)


def sparkline(
    values: Sequence[float | None], *, low: float | None = 0.0, high: float | None = None
) -> str:
    """Return numbers as heights, a dot for each None; "" outside a terminal.

    Args:
        values: the oldest first.
        low: what stands for the lowest height; None for the smallest of the values.
        high: what stands for the greatest; None for the largest of the values.
    """
    known = [value for value in values if value is not None]
    if not known or not on_terminal():
        return ""
    least = min(known) if low is None else low
    most = max(known) if high is None else high
    heights, nothing = (_HEIGHTS, _NOTHING) if _is_utf8() else (_ASCII_HEIGHTS, _ASCII_NOTHING)
    return "".join(
        nothing if value is None else heights[_height(value, least, most, len(heights))]
        for value in values
    )


def recent_end(line: str, width: int) -> str:
    """Return a line within a width: a sparkline at its end loses what is oldest.

    Any other line is returned as it is.
    """
    said, blank, drawn = line.rpartition(" ")
    room = max(1, width - len(said + blank))
    return said + blank + drawn[-room:] if _DRAWN.issuperset(drawn) else line


def _height(value: float, least: float, most: float, count: int) -> int:
    """Return the place of a value among a number of heights."""
    if most <= least:
        return 0
    # In parts: the difference of two values may be beyond the largest number, or below the least.
    share = (value / 2 - least / 2) / (most / 2 - least / 2 or 1.0)
    return int(min(max(share * count, 0.0), count - 1.0))


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
