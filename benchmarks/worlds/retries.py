"""Tasks that are tried again: is what comes first blamed, and what comes last praised?

Two strategies, whose difference is known, work on tasks of six kinds. Measured is what the effect
of the first one comes to, beside the difference within tasks, which takes every task with several
runs for a stratum.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any, Final

from trackrecord.learning.advice.estimates.effects import Effect, EffectRun, effects_of
from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.runs.runs import Run

_KINDS: Final = (0.25, 0.4, 0.5, 0.6, 0.7, 0.8)
_SPREAD_OF_TASKS: Final = 0.12
_ENDED_AT: Final = 1_790_000_000.0
_HOUR: Final = 3600.0

# Whether another run follows: the random numbers, the runs so far, and whether the last succeeded.
Goes = Callable[[random.Random, int, bool], bool]
# Which strategy the next run takes: the random numbers, and the runs so far.
Takes = Callable[[random.Random, int], str]


def _until_success(_chance: random.Random, runs: int, success: bool) -> bool:
    return not success and runs < 3


def _mostly_until_success(chance: random.Random, runs: int, success: bool) -> bool:
    return runs < 3 and (not success or chance.random() < 0.2)


def _always_twice(_chance: random.Random, runs: int, _success: bool) -> bool:
    return runs < 2


def _a_first(chance: random.Random, runs: int) -> str:
    return "A" if chance.random() < (0.85 if runs == 0 else 0.25) else "B"


def _a_then_b(_chance: random.Random, runs: int) -> str:
    return "B" if runs else "A"


def _either(chance: random.Random, _runs: int) -> str:
    return chance.choice("AB")


@dataclass(frozen=True)
class World:
    """Parameters of how tasks are retried.

    Attributes:
        name: what it is called.
        goes_on: whether another run follows.
        takes: which strategy a run takes.
        effect: what A adds to the chance of success.
        tasks: how many tasks there are.
        alike: the share of tasks all of whose runs take the strategy of the first one.
    """

    name: str
    goes_on: Goes
    takes: Takes
    effect: float = 0.0
    tasks: int = 600
    alike: float = 0.0


WORLDS: Final = (
    World("until success, A mostly first, equally good", _until_success, _a_first),
    World("the same, A better by .15", _until_success, _a_first, 0.15),
    World("the same, A worse by .15", _until_success, _a_first, -0.15),
    World("mostly until success, A mostly first, equally good", _mostly_until_success, _a_first),
    World("until success, either at any time, A better by .15", _until_success, _either, 0.15),
    World("always twice, A then B, equally good", _always_twice, _a_then_b),
    World("always twice, A then B, A better by .15", _always_twice, _a_then_b, 0.15),
    World("always twice, nearly all alike, equally good", _always_twice, _either, alike=0.95),
    World("the same, A better by .15", _always_twice, _either, 0.15, alike=0.95),
    World("always twice, all alike, A better by .15", _always_twice, _either, 0.15, alike=1.0),
)


def make(world: World, seed: int) -> list[Run]:
    """Return the runs of a world."""
    chance = random.Random(f"{world.name}/{seed}")
    runs: list[Run] = []
    for task in range(world.tasks):
        kind = chance.randrange(len(_KINDS))
        ease = _KINDS[kind] + chance.gauss(0.0, _SPREAD_OF_TASKS) - world.effect / 2
        tried, goes = 0, True
        is_alike = world.alike and chance.random() < world.alike
        alike = world.takes(chance, 0) if is_alike else ""
        while goes:
            strategy = alike or world.takes(chance, tried)
            rate = min(0.98, max(0.02, ease + (world.effect if strategy == "A" else 0.0)))
            success = chance.random() < rate
            tried += 1
            runs.append(
                Run(
                    outcome=len(runs),
                    task_id=f"t{task}",
                    ended_at=_ENDED_AT - (world.tasks - task) * 60.0 + tried * _HOUR,
                    success=success,
                    trigger=f"kind {kind}",
                    patterns=(strategy,),
                )
            )
            goes = world.goes_on(chance, tried, success)
    return runs


def measured(runs: Sequence[Run]) -> Effect:
    """Return the effect of A."""
    found = estimate(runs, now=_ENDED_AT, half_life_days=36500.0)
    return found.of_patterns.overall["A"]


def within_tasks(runs: Sequence[Run]) -> Effect:
    """Return the effect of A where every task with several runs is a stratum."""
    counts = Counter(run.task_id for run in runs)
    trials = [
        EffectRun(
            run.task_id if counts[run.task_id] > 1 else run.trigger, run.patterns, 1.0, run.success
        )
        for run in runs
    ]
    return effects_of(trials)["A"]


def rows(seeds: Iterable[int], worlds: Sequence[World] = WORLDS) -> Iterator[dict[str, Any]]:
    """Return the estimates of the effect of A in each world.

    Args:
        seeds: one world each.
        worlds: how tasks are tried again.
    """
    seeds = list(seeds)
    for world in worlds:
        runs = [make(world, seed) for seed in seeds]
        found = [measured(each) for each in runs]
        before = [within_tasks(each).difference for each in runs]
        effects = [each.difference for each in found]
        yield {
            "world": world.name,
            "truth": world.effect,
            "effect": fmean(effects),
            "spread": pstdev(effects),
            "within_tasks": fmean(before),
            "known": fmean(each.is_known for each in found),
            "width": fmean(each.high - each.low for each in found),
            "covered": fmean(each.low <= world.effect <= each.high for each in found),
            "called_harmful": fmean(each.is_known and each.high < 0.0 for each in found),
        }
