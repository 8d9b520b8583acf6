"""Rows: the boxes of each layer, ordered so that few links cross."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_SWEEPS: Final = 8


@dataclass
class RowMember:
    """Something that takes room in a row: a box, or the passage of a link.

    Attributes:
        row: its row.
        left: the room that it takes to the left of its x.
        right: the room that it takes to the right of its x.
        above: what it is linked with in the row above.
        below: what it is linked with in the row below.
        position: its position in the row, from 0.
        x: its place.
        pull: how much it counts where places are found.
    """

    row: int
    left: float
    right: float
    above: list["RowMember"] = field(default_factory=list, repr=False)
    below: list["RowMember"] = field(default_factory=list, repr=False)
    position: int = 0
    x: float = 0.0
    pull: float = 1.0


def ordered(rows: Sequence[list[RowMember]]) -> list[list[RowMember]]:
    """Return the rows, each in an order in which few links cross; the same for the same rows."""
    best = [list(row) for row in rows]
    _number(best)
    fewest = _crossings(best)
    tried = [list(row) for row in best]
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for row in tried[1:] if down else tried[-2::-1]:
            _sort(row, down=down)
        count = _crossings(tried)
        if count < fewest:
            best, fewest = [list(row) for row in tried], count
    _number(best)
    return best


def _sort(row: list[RowMember], *, down: bool) -> None:
    def barycentre(stand: RowMember) -> float:
        others = stand.above if down else stand.below
        if not others:
            return float(stand.position)
        return sum(other.position for other in others) / len(others)

    row.sort(key=barycentre)
    for position, stand in enumerate(row):
        stand.position = position


def _number(rows: Sequence[list[RowMember]]) -> None:
    for row in rows:
        for position, stand in enumerate(row):
            stand.position = position


def _crossings(rows: Sequence[list[RowMember]]) -> int:
    total = 0
    for row in rows:
        seen: list[int] = []
        for stand in row:
            ends = sorted(other.position for other in stand.below)
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
