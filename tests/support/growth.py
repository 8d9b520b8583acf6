"""Measures how processor time grows with the input, from one run on a busy machine, too."""

import time
from collections.abc import Callable
from typing import TypeVar

_Input = TypeVar("_Input")

_ROUNDS = 12
# Of what is measured in microseconds, the ratio says little.
_TOO_SHORT_TO_COMPARE_S = 0.001
# Time that grows in proportion passes with room to spare; for an input eight times as long, time
# that grows with the square comes to 64 times as much and fails.
_ROOM = 3.5


def grows_by_at_most(
    factor: float, work: Callable[[_Input], object], *, short: _Input, long: _Input
) -> bool:
    """Return whether the long input takes at most about `factor` times as long as the short one.

    The least time of some rounds counts, since noise only adds; the first round that is within the
    limit is enough.
    """
    least_short = least_long = float("inf")
    for _ in range(_ROUNDS):
        least_short = min(least_short, _seconds(work, short))
        least_long = min(least_long, _seconds(work, long))
        if least_long <= _ROOM * factor * least_short + _TOO_SHORT_TO_COMPARE_S:
            return True
    return False


def repeated(piece: str, length: int) -> str:
    """The piece, over and over, up to so many characters."""
    return (piece * (length // len(piece) + 1))[:length]


def _seconds(work: Callable[[_Input], object], given: _Input) -> float:
    began = time.process_time()
    work(given)
    return time.process_time() - began
