"""Counting among the runs with a verdict only, to compare successes with failures."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from .finding import Finding
from .history import History
from .rules import LessonRules

Counting = Callable[[History, LessonRules], Iterator[Finding]]


def among_judged(find: Counting) -> Counting:
    """Return the same counting, done as if the runs without a verdict had not been."""

    def find_among_judged(history: History, rules: LessonRules) -> Iterator[Finding]:
        if history.judged is history:
            yield from find(history, rules)
            return
        place = history.judged_positions
        for finding in find(history.judged, rules):
            yield replace(finding, positions=[place[each] for each in finding.positions])

    return find_among_judged
