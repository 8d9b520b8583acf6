"""A fleet whose advice has a known effect: what `trackrecord effect` makes of it.

Each task is handed the entries that fit it, or belongs to the holdout. Its chance of success is
that of its kind, changed by the planted effects of the entries that it was handed. The effect is
measured by the product's own functions, looked at after every batch of tasks.
"""

import random
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

from trackrecord.learning.advice.assignment import assign
from trackrecord.learning.advice.effect.comparison import SUCCESS, WORTH_KNOWING, compare, effect_of
from trackrecord.learning.advice.effect.sequence import tasks_for
from trackrecord.learning.advice.effect.trials import Exposure, Trial, trials_of
from trackrecord.learning.advice.runs.runs import Run

KINDS: Final = {"build is red": 0.75, "type error": 0.6, "refund request": 0.45, "": 0.65}
# An entry fits half of the tasks.
_FITS: Final = 0.5


@dataclass(frozen=True)
class Fleet:
    """A planted truth.

    Attributes:
        name: what it is called.
        effects: by entry, what it adds to the chance of success of a task that it is handed to.
        tasks: how many tasks the fleet works on.
        batch: after how many tasks one looks.
        holdout: the share of tasks that is withheld advice.
    """

    name: str
    effects: Mapping[str, float]
    tasks: int = 3000
    batch: int = 50
    holdout: float = 0.1


@dataclass
class Seen:
    """The observations of one fleet.

    Attributes:
        missed: whether any interval, at any look, missed the truth.
        verdict: what was said at the end.
        said_after: after how many tasks it was first said that advice helps or hurts.
        difference: the measured effect at the end.
        width: the width of the interval at the end.
    """

    missed: bool = False
    verdict: str = ""
    said_after: int | None = None
    difference: float = 0.0
    width: float = 0.0


def watch(fleet: Fleet, seed: int) -> Seen:
    """Let a fleet work, and look at the effect of its advice after every batch."""
    seen = Seen()
    trials: list[Trial] = []
    planted: list[float] = []
    chance = random.Random(f"{fleet.name}/{seed}")
    while len(trials) < fleet.tasks:
        for _ in range(fleet.batch):
            _work(fleet, seed, chance, trials, planted)
        _look(seen, trials, planted)
    return seen


def _work(
    fleet: Fleet,
    seed: int,
    chance: random.Random,
    trials: list[Trial],
    planted: list[float],
) -> None:
    """Add one task, with the effect of its entries."""
    number = len(trials)
    entries = tuple(entry for entry in fleet.effects if chance.random() < _FITS)
    kind = chance.choice(list(KINDS))
    effect = sum(fleet.effects[entry] for entry in entries)
    assignment = assign(
        f"fleet-{fleet.name}-{seed}",
        task_id=str(number),
        task=None,
        revision=0,
        holdout=fleet.holdout,
        explore="off",
    )
    rate = KINDS[kind] + (0.0 if assignment.is_withheld else effect)
    exposure = Exposure(
        exposure_id=str(number),
        task_id=str(number),
        at=float(number),
        is_withheld=assignment.is_withheld,
        holdout=fleet.holdout,
        propensity=assignment.propensity,
        entries=entries,
    )
    run = Run(
        outcome=number,
        task_id=str(number),
        ended_at=float(number),
        success=chance.random() < rate,
        trigger=kind,
    )
    if entries:
        trials.append(Trial(exposure, run, kind))
        planted.append(effect)
    else:
        chance.random()


def _look(seen: Seen, trials: list[Trial], planted: list[float]) -> None:
    found = compare(trials, SUCCESS)
    truth = statistics.fmean(planted)
    if not found.interval.low <= truth <= found.interval.high:
        seen.missed = True
    seen.verdict, seen.difference = found.verdict, found.difference or 0.0
    seen.width = found.interval.high - found.interval.low
    if seen.said_after is None and found.verdict in ("helps", "hurts"):
        seen.said_after = len(trials)


def _of_all(effect: float) -> dict[str, float]:
    """Return six entries; a task that is given three of them has this effect, on average."""
    return {f"entry-{number}": effect / 3 for number in range(6)}


FLEETS: Final = (
    Fleet("no effect", _of_all(0.0)),
    Fleet("helps by 10 points", _of_all(0.1)),
    Fleet("hurts by 10 points", _of_all(-0.1)),
    Fleet("one entry of six hurts by 20 points", {**_of_all(0.06), "entry-5": -0.2}),
)


def rows(seeds: Iterable[int], fleets: Iterable[Fleet] = FLEETS) -> Iterator[dict[str, Any]]:
    """Return the figures of each fleet.

    Args:
        seeds: one fleet each.
        fleets: the planted truths.
    """
    seeds = list(seeds)
    for fleet in fleets:
        seen = [watch(fleet, seed) for seed in seeds]
        said = [each.said_after for each in seen if each.said_after is not None]
        yield {
            "fleet": fleet.name,
            "seeds": len(seeds),
            "tasks": fleet.tasks,
            "always_covered": sum(not each.missed for each in seen),
            "said_helps": sum(each.verdict == "helps" for each in seen),
            "said_hurts": sum(each.verdict == "hurts" for each in seen),
            "said_after_median": statistics.median(said) if said else None,
            "width_mean": statistics.fmean(each.width for each in seen),
        }


@dataclass(frozen=True)
class Case:
    """A fleet that is looked at once.

    Attributes:
        name: what it is called.
        tasks: how many tasks it works on.
        given: the chance of success with advice.
        withheld: the chance without.
        holdout: the share of tasks that is withheld advice.
        unreported: the share of the failed tasks with advice that never report.
    """

    name: str
    tasks: int
    given: float
    withheld: float
    holdout: float = 0.1
    unreported: float = 0.0


_FEW: Final = 0.3
CASES: Final = (
    Case("no effect", 3000, 0.6, 0.6, _FEW),
    Case("no effect, 30% of failures with advice unreported", 3000, 0.6, 0.6, _FEW, 0.3),
    Case("helps: 90% to 98%", 3000, 0.98, 0.9),
    Case("no effect at 98%", 3000, 0.98, 0.98),
    Case(
        "helps: 60% to 70%, as many tasks as are said to be needed",
        tasks_for(WORTH_KNOWING, sqrt(0.65 * 0.35), _FEW), 0.7, 0.6, _FEW,
    ),
)  # fmt: skip


def case_rows(seeds: Iterable[int], cases: Iterable[Case] = CASES) -> Iterator[dict[str, Any]]:
    """Return what is said of each case.

    Args:
        seeds: one fleet each.
        cases: the planted truths.
    """
    seeds = list(seeds)
    for case in cases:
        said = Counter[str]()
        for seed in seeds:
            exposures, runs = _once(case, seed)
            success = effect_of(trials_of(exposures, runs)).success
            said["" if success is None else success.verdict] += 1
        yield {
            "fleet": case.name,
            "seeds": len(seeds),
            "tasks": case.tasks,
            "said_helps": said["helps"],
            "said_hurts": said["hurts"],
            "outcomes_missing": said["outcomes missing"],
            "too_few": said["too few"],
        }


def _once(case: Case, seed: int) -> tuple[list[Exposure], list[Run]]:
    """Return the exposures of a fleet's tasks, and the endings that were reported."""
    chance = random.Random(f"{case.name}/{seed}")
    exposures, runs = [], []
    for number in range(case.tasks):
        withheld = chance.random() < case.holdout
        success = chance.random() < (case.withheld if withheld else case.given)
        exposures.append(
            Exposure(
                exposure_id=str(number),
                task_id=str(number),
                at=float(number),
                is_withheld=withheld,
                holdout=case.holdout,
                entries=("entry",),
            )
        )
        if success or withheld or chance.random() >= case.unreported:
            runs.append(
                Run(outcome=number, task_id=str(number), ended_at=float(number), success=success)
            )
    return exposures, runs
