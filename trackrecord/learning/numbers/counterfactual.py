"""Counterfactuals: the smallest count at which a condition changes."""

from collections.abc import Callable

# A change that needs more than this is not a practical way out.
FARTHEST = 1_000_000_000
_ONE_BY_ONE = 1_000


def smallest_count(changes: Callable[[int], bool], farthest: int = FARTHEST) -> int | None:
    """Return the smallest count from 1 on at which `changes` holds; None if it never does.

    Where it holds beyond a thousand it must hold for every larger count, too.
    """
    for count in range(1, min(_ONE_BY_ONE, farthest) + 1):
        if changes(count):
            return count
    low, high = _ONE_BY_ONE, 2 * _ONE_BY_ONE
    while not changes(high):
        if high >= farthest:
            return None
        low, high = high, min(2 * high, farthest)
    while high - low > 1:
        middle = (low + high) // 2
        if changes(middle):
            high = middle
        else:
            low = middle
    return high
