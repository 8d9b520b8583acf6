"""Endings that succeed: found where planted.

A habit at the end of a run adds 35 points to its success, or nothing.
"""

import random
from collections.abc import Iterable, Iterator
from typing import Any, Final

from trackrecord.learning.advice.lessons.find import find_completions
from trackrecord.learning.advice.lessons.history import history_of
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import Run, RunStep

_ENDED_AT: Final = 1_790_000_000.0


def endings(seed: int, effect: float) -> list[Run]:
    """Return runs that end in one of two calls."""
    chance = random.Random(f"endings/{seed}")
    runs = []
    for number in range(480):
        is_closed = chance.random() < 0.5
        steps = map(RunStep, ("customer", "order", "close" if is_closed else "think"))
        runs.append(
            Run(
                outcome=number,
                task_id=f"t{number % 120}",
                ended_at=_ENDED_AT + number,
                success=chance.random() < 0.4 + effect * is_closed,
                steps=tuple(steps),
            )
        )
    return runs


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return in how many histories something is told.

    Args:
        seeds: one history each.
    """
    seeds = list(seeds)
    for name, effect in (("a habit helps", 0.35), ("a habit does nothing", 0.0)):
        histories = [endings(seed, effect) for seed in seeds]
        told = sum(any(find_completions(history_of(each), LessonRules())) for each in histories)
        yield {"world": name, "histories": len(seeds), "told": told}
