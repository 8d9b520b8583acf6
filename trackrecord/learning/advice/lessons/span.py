"""Spans: from when to when something occurred, how often in that time, and whether it stopped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .chance import share_interval
from .history import History

# A silence that chance would explain this rarely is an end.
_HARDLY: Final = 0.01
_FEWEST_SINCE: Final = 3


@dataclass(frozen=True)
class OccurrenceSpan:
    """The number of occurrences, and the days of the first and the last.

    What broke yesterday is counted from then on, and what was mended last month up to then:
    all other tasks tell nothing of it.

    Attributes:
        interval: of its share of the tasks that could show it.
        is_over: whether it has stopped: in too many tasks since then it could have occurred.
    """

    interval: tuple[float, float]
    is_over: bool


def span_of(history: History, chances: Sequence[int], seen: Sequence[int]) -> OccurrenceSpan:
    """Return the span of something that occurs in runs of some sources, among their runs.

    Args:
        history: the runs.
        chances: the positions of the runs in which it could have occurred, ascending.
        seen: those in which it did, ascending.
    """
    # Another agent that never shows it is not another time.
    sources = {history.runs[position].source for position in seen}
    chances = [position for position in chances if history.runs[position].source in sources]
    first, last = seen[0], seen[-1]
    within = [position for position in chances if first <= position <= last]
    since = history.tasks_of(position for position in chances if position > last)
    # By run, because most tasks since then have had one run so far.
    silence = (1 - len(seen) / len(within)) ** len(since)
    return OccurrenceSpan(
        share_interval(len(history.tasks_of(seen)), len(history.tasks_of(within))),
        len(since) >= _FEWEST_SINCE and silence <= _HARDLY,
    )
