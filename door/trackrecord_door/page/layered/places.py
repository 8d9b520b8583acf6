"""Places: each row is put as close as possible to its linked boxes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from .rows import RowMember

GAP: Final = 18.0
_ROUNDS: Final = 6


def place(rows: Sequence[Sequence[RowMember]]) -> None:
    """Set the x of everything in the rows: nothing overlaps, the leftmost begins at 0."""
    for row in rows:
        _settle(row, [0.0] * len(row))
    for _ in range(_ROUNDS):
        # From one side alone what is straight at one end is straight at the other one in one pass.
        for row in rows:
            _settle(row, [_wanted(stand, stand.above or stand.below) for stand in row])
        for row in reversed(rows):
            _settle(row, [_wanted(stand, stand.below or stand.above) for stand in row])
    for row in rows:
        _settle(row, [_wanted(stand, [*stand.above, *stand.below]) for stand in row])
    left = min((stand.x - stand.left for row in rows for stand in row), default=0.0)
    for row in rows:
        for stand in row:
            stand.x -= left


def _wanted(stand: RowMember, others: Sequence[RowMember]) -> float:
    """Return the mean position of the linked boxes; straight passages count most."""
    if not others:
        return stand.x
    pulls = [stand.pull * other.pull for other in others]
    return sum(pull * other.x for pull, other in zip(pulls, others, strict=True)) / sum(pulls)


def _settle(row: Sequence[RowMember], wanted: Sequence[float]) -> None:
    """Put a row's members as near as possible to where they want to be, in their order.

    With the room to the left subtracted that is an isotonic regression: neighbours that would
    overlap are moved together, to their mean.
    """
    offsets = [0.0]
    for before, stand in pairwise(row):
        offsets.append(offsets[-1] + before.right + GAP + stand.left)
    blocks: list[tuple[float, float, int]] = []
    for stand, want, offset in zip(row, wanted, offsets, strict=False):
        mean, weight, count = want - offset, stand.pull, 1
        while blocks and blocks[-1][0] > mean:
            other, heavy, members = blocks.pop()
            mean = (mean * weight + other * heavy) / (weight + heavy)
            weight, count = weight + heavy, count + members
        blocks.append((mean, weight, count))
    settled = [mean for mean, _, count in blocks for _ in range(count)]
    for stand, base, offset in zip(row, settled, offsets, strict=False):
        stand.x = base + offset
