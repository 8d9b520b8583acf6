"""Verdicts from few runs: are useful neighbours and steps heeded before they are established?

Tasks are of three kinds, each with tools that mostly work for it; some runs check their work, which
helps. In the last world nothing tells runs apart.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any, Final

from trackrecord.learning.advice.evaluation.measures import Prediction, auc, log_loss
from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.advice.verdict.model import fit

_TEXTS: Final = (
    ("cancel the reservation of", ("find", "cancel")),
    ("book a flight for", ("search", "book")),
    ("change the seat of", ("find", "seat")),
)
_ENDED_AT: Final = 1_780_000_000.0
_ASKED: Final = 80


@dataclass(frozen=True)
class World:
    """Parameters of how runs succeed.

    Attributes:
        name: what it is called.
        tasks: the tasks that are known, of one run each.
        fitting: what the right tools for the task add to the chance of success.
        checking: what a check adds.
    """

    name: str
    tasks: int
    fitting: float
    checking: float


WORLDS: Final = (
    World("12 tasks", 12, 0.35, 0.25),
    World("25 tasks", 25, 0.35, 0.25),
    World("100 tasks", 100, 0.35, 0.25),
    World("25 tasks, nothing to learn", 25, 0.0, 0.0),
)


def make(world: World, seed: int) -> list[Run]:
    """Return the known runs of a world, and after them those that are asked about."""
    chance = random.Random(f"{world.name}/{seed}")
    runs = []
    for number in range(world.tasks + _ASKED):
        text, right = chance.choice(_TEXTS)
        tools = right if chance.random() < 0.5 else chance.choice(_TEXTS)[1]
        checks = chance.random() < 0.5
        rate = 0.45 + world.fitting * ((tools == right) - 0.6) + world.checking * (checks - 0.5)
        runs.append(
            Run(
                outcome=number,
                task_id=f"t{number}",
                ended_at=_ENDED_AT,
                success=chance.random() < rate,
                instruction=f"{text} customer {chance.choice('abcdefgh')}",
                steps=tuple(map(RunStep, (*tools, *(("check",) if checks else ())))),
            )
        )
    return runs


def judge(world: World, seed: int) -> tuple[float, float, float]:
    """Return the AUC, the log loss, and that of the base rate, on runs that were not known."""
    runs = make(world, seed)
    model = fit(runs[: world.tasks])
    made = [
        Prediction(run.task_id, "", model.probability(run).probability, run.success)
        for run in runs[world.tasks :]
    ]
    usual = [each._replace(probability=model.rates.project.prior) for each in made]
    area = auc(made)
    return 0.5 if area is None else area, log_loss(made), log_loss(usual)


def rows(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Return how good verdicts are in each world.

    Args:
        seeds: one world each.
    """
    seeds = list(seeds)
    for world in WORLDS:
        areas, losses, usual = zip(*(judge(world, seed) for seed in seeds), strict=True)
        yield {
            "known": world.name,
            "auc": fmean(areas),
            "spread": pstdev(areas),
            "log_loss": fmean(losses),
            "base_log_loss": fmean(usual),
        }


if __name__ == "__main__":
    for row in rows(range(500, 530)):
        print(row)
