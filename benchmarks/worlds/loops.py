"""Loops: are they called harmful only because agents repeat themselves at hard tasks?

Each task is worked on several times, whatever comes of it. The harder a task, the more often a run
repeats one call. Measured is how often the loop becomes a lesson, beside how often its runs succeed
more rarely than all others do.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from trackrecord.learning.advice.lessons.counting.loops import find_loops
from trackrecord.learning.advice.lessons.history import history_of
from trackrecord.learning.advice.lessons.rules import LessonRules
from trackrecord.learning.advice.runs.runs import Run, RunStep

_ENDED_AT: Final = 1_780_000_000.0
_TASKS: Final = 60
_RUNS: Final = 4
_SAME: Final = 7
_LOOP: Final = (RunStep("search", arguments=_SAME),) * 3


@dataclass(frozen=True)
class World:
    """Parameters of the effect of a loop.

    Attributes:
        name: what it is called.
        harm: what it takes from the chance of success.
    """

    name: str
    harm: float


WORLDS: Final = (World("loops at hard tasks, harmless", 0.0), World("the same, harmful", 0.4))


def make(world: World, seed: int) -> list[Run]:
    """Return the runs of a world."""
    chance = random.Random(f"{world.name}/{seed}")
    runs = []
    for task in range(_TASKS):
        ease = chance.random()
        for _ in range(_RUNS):
            loops = chance.random() < 0.8 * (1.0 - ease)
            rate = ease - (world.harm if loops else 0.0)
            runs.append(
                Run(
                    outcome=len(runs),
                    task_id=f"t{task}",
                    ended_at=_ENDED_AT + len(runs),
                    success=chance.random() < rate,
                    steps=_LOOP if loops else (RunStep("search", arguments=_SAME),),
                )
            )
    return runs


def is_called_harmful(runs: Sequence[Run]) -> bool:
    """Return whether the loop becomes a lesson."""
    return any(find_loops(history_of(runs), LessonRules()))


def by_rates(runs: Sequence[Run]) -> bool:
    """Return whether the runs with the loop succeed more rarely than all others."""
    loops = [run.success for run in runs if len(run.steps) > 1]
    others = [run.success for run in runs if len(run.steps) == 1]
    return bool(loops and others) and fmean(loops) < fmean(others)


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return how often the loop is called harmful.

    Args:
        seeds: one world each.
    """
    seeds = list(seeds)
    for world in WORLDS:
        runs = [make(world, seed) for seed in seeds]
        yield {
            "world": world.name,
            "seeds": len(seeds),
            "called_harmful": fmean(map(is_called_harmful, runs)),
            "by_rates": fmean(map(by_rates, runs)),
        }


if __name__ == "__main__":
    for row in rows(range(700, 730)):
        print(row)
