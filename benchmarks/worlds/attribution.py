"""Worlds with known effects of strategies: are good strategies separated from easy tasks?

Tasks come in families of different difficulty, and each run takes one strategy. Where a world is
confounded, hard families attract the good strategies. Measured is how well the order of strategies
by an estimate agrees with the order by their true rates (Kendall's tau), how often the best one is
found, and how much success is lost by taking the one that seems best.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp
from statistics import fmean, stdev
from typing import Any

from trackrecord.learning.advice.estimates.estimates import estimate
from trackrecord.learning.advice.runs.runs import Run

from .attribution_baselines import cells_of, crude_rate, logistic, product_score

_STRATEGIES = 8
_FAMILIES = 6
_SPREAD_OF_STRATEGIES = 0.6
_SPREAD_OF_FAMILIES = 1.3
# Tasks of one family differ, too, where each is tried several times.
_SPREAD_OF_TASKS = 0.7
_ENDED_AT = 1_790_000_000.0
OURS = "effect"
ESTIMATORS = ("product score", "crude rate", "logistic", OURS)


@dataclass(frozen=True)
class World:
    """Parameters of a world.

    Attributes:
        name: its name.
        runs: how many runs there are.
        confounding: how much hard families attract the good strategies; 0 for not at all.
        wrong: the share of runs whose family is told wrongly.
        attempts: how many runs each task has; from two on, no family is told.
    """

    name: str
    runs: int
    confounding: float
    wrong: float = 0.0
    attempts: int = 1


WORLDS = (
    World("2,000 runs, not confounded", 2000, 0.0),
    World("2,000 runs, confounding 1", 2000, 1.0),
    World("2,000 runs, confounding 2", 2000, 2.0),
    World("300 runs, confounding 1", 300, 1.0),
    World("2,000 runs, confounding 1, 30% of families wrong", 2000, 1.0, wrong=0.3),
    World("2,000 runs, confounding 1, 3 runs a task", 2000, 1.0, attempts=3),
    World("2,000 runs, not confounded, 3 runs a task", 2000, 0.0, attempts=3),
)


INTERVALS = (
    WORLDS[0],
    WORLDS[1],
    WORLDS[2],
    World("2,000 runs, confounding 1, 15% of families wrong", 2000, 1.0, wrong=0.15),
    WORLDS[4],
    WORLDS[5],
)


@dataclass(frozen=True)
class Row:
    """The result of one estimator in one world.

    Attributes:
        world: the world's name.
        estimator: the estimator's name.
        tau: the mean of Kendall's tau over seeds.
        spread: its standard deviation over seeds.
        best_found: the share of seeds in which the best strategy was found.
        lost: the mean of the success lost by taking the one that seemed best.
    """

    world: str
    estimator: str
    tau: float
    spread: float
    best_found: float
    lost: float


def attribution_table(seeds: Iterable[int], worlds: Sequence[World] = WORLDS) -> list[Row]:
    """Return what each estimator comes to in each world, over two seeds at least."""
    seeds = list(seeds)
    return [row for world in worlds for row in _rows(world, seeds)]


def interval_table(seeds: Iterable[int]) -> Iterable[dict[str, Any]]:
    """Return, for each world, how often the interval of an effect covers the truth.

    The last column: of the strategies that are better than the others, the share called harmful.
    """
    seeds = list(seeds)
    for world in INTERVALS:
        covered, harmed = [], []
        for seed in seeds:
            runs, rates = make(world, seed)
            taken = Counter(run.patterns[0] for run in runs)
            found = estimate(runs, now=_ENDED_AT, half_life_days=90.0).of_patterns.overall
            for slug, effect in found.items():
                others = sum(taken[each] * rates[each] for each in taken if each != slug)
                truth = rates[slug] - others / (len(runs) - taken[slug])
                covered.append(effect.low <= truth <= effect.high)
                if truth > 0.0:
                    harmed.append(effect.is_known and effect.high < 0.0)
        yield {
            "world": world.name,
            "seeds": len(seeds),
            "covered": fmean(covered),
            "better_called_harmful": fmean(harmed),
        }


def _rows(world: World, seeds: Sequence[int]) -> Iterable[Row]:
    found: dict[str, list[tuple[float, bool, float]]] = {name: [] for name in ESTIMATORS}
    for seed in seeds:
        runs, truth = make(world, seed)
        for name, values in _estimates(world, runs).items():
            found[name].append(_judged(values, truth))
    for name, judged in found.items():
        taus, hits, losses = zip(*judged, strict=True)
        yield Row(world.name, name, fmean(taus), stdev(taus), fmean(hits), fmean(losses))


def _estimates(world: World, runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    cells = cells_of(runs, by_task=world.attempts > 1)
    ours = estimate(runs, now=_ENDED_AT, half_life_days=90.0).of_patterns.overall
    return dict(
        zip(
            ESTIMATORS,
            (
                product_score(cells),
                crude_rate(cells),
                logistic(cells),
                {slug: effect.difference for slug, effect in ours.items()},
            ),
            strict=True,
        )
    )


def make(world: World, seed: int) -> tuple[list[Run], dict[str, float]]:
    """Return the runs of a world, and the true rate of each strategy over all families."""
    chance = random.Random(seed)
    strengths = [chance.gauss(0.0, _SPREAD_OF_STRATEGIES) for _ in range(_STRATEGIES)]
    ease = [chance.gauss(0.0, _SPREAD_OF_FAMILIES) for _ in range(_FAMILIES)]
    goodness, hardness = _ranks(strengths), _ranks([-each for each in ease])
    taken = [
        [
            exp(2 * world.confounding * goodness[each] * hardness[family])
            for each in range(_STRATEGIES)
        ]
        for family in range(_FAMILIES)
    ]
    runs: list[Run] = []
    while len(runs) < world.runs:
        task = f"t{len(runs)}"
        family = chance.randrange(_FAMILIES)
        own = chance.gauss(0.0, _SPREAD_OF_TASKS) if world.attempts > 1 else 0.0
        for _ in range(world.attempts):
            (strategy,) = chance.choices(range(_STRATEGIES), taken[family])
            rate = _rate(strengths[strategy] + ease[family] + own)
            told = chance.randrange(_FAMILIES) if chance.random() < world.wrong else family
            runs.append(
                Run(
                    outcome=len(runs),
                    task_id=task,
                    ended_at=_ENDED_AT,
                    success=chance.random() < rate,
                    trigger=f"family {told}" if world.attempts == 1 else "",
                    patterns=(f"s{strategy}",),
                )
            )
    truth = {
        f"s{each}": fmean(_rate(strength + family) for family in ease)
        for each, strength in enumerate(strengths)
    }
    return runs, truth


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the values' places, from -1 for the lowest to 1 for the highest."""
    order = sorted(range(len(values)), key=lambda each: values[each])
    places = {each: 2 * place / (len(values) - 1) - 1 for place, each in enumerate(order)}
    return [places[each] for each in range(len(values))]


def _rate(log_odds: float) -> float:
    return 1.0 / (1.0 + exp(-log_odds))


def _judged(values: dict[str, float], truth: dict[str, float]) -> tuple[float, bool, float]:
    """Return the tau of an order, whether its first is the best, and the success lost by it."""
    names = sorted(truth)
    agreed = pairs = 0
    for place, one in enumerate(names):
        for other in names[:place]:
            product = (values.get(one, 0.0) - values.get(other, 0.0)) * (truth[one] - truth[other])
            agreed += (product > 0) - (product < 0)
            pairs += 1
    chosen = max(names, key=lambda name: values.get(name, 0.0))
    best = max(truth.values())
    return agreed / pairs, truth[chosen] == best, best - truth[chosen]
