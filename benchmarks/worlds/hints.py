"""Trials of hints in made-up fleets: does the interval cover, and is a true effect seen in time?

A session has one to three failures of a kind, some sessions go better than others, kinds differ,
and somebody looks after every ten points. A sequence covers if it does so at every look.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from trackrecord.learning.advice.hint_effect import (
    EVEN_UNTIL,
    TrialHint,
    TrialPoint,
    compare_points,
    probability_of,
)

_EVERY = 10
_KINDS = {"line that runs": -0.1, "known failure": 0.0, "file elsewhere": 0.1}


@dataclass(frozen=True)
class HintCase:
    """A planted truth.

    Attributes:
        name: what it is.
        points: how many failures there are.
        without: how often work goes on without a hint.
        effect: by how much a hint changes that.
        of_sessions: by how much sessions differ, up or down.
    """

    name: str
    points: int
    without: float
    effect: float
    of_sessions: float = 0.1


CASES = (
    HintCase("no effect", 400, 0.5, 0.0),
    HintCase("no effect, sessions differ much", 400, 0.5, 0.0, 0.4),
    HintCase("no effect where most goes well", 400, 0.8, 0.0),
    HintCase("+35 points", EVEN_UNTIL, 0.35, 0.35),
    HintCase("+20 points", 283, 0.4, 0.2),
    HintCase("-35 points", EVEN_UNTIL, 0.6, -0.35),
)


def rows(seeds: Iterable[int], cases: Iterable[HintCase] = CASES) -> Iterator[dict[str, Any]]:
    """Return what is seen in each case; the baseline looks with ordinary 95% intervals.

    Args:
        seeds: one fleet each.
        cases: the planted truths.
    """
    seeds = list(seeds)
    for case in cases:
        seen = Counter[str]()
        for seed in seeds:
            seen.update(_looked_at(case, seed))
        yield {
            "fleet": case.name,
            "seeds": len(seeds),
            "points": case.points,
            "covers_at_every_look": seen["covers"],
            "covers_with_ordinary_intervals": seen["ordinary covers"],
            "said_helps": seen["helps"],
            "said_hurts": seen["hurts"],
        }


def _looked_at(case: HintCase, seed: int) -> set[str]:
    points = _points(case, random.Random(f"{case.name}/{seed}"))
    found = {"covers", "ordinary covers"}
    for end in range(_EVERY, len(points) + 1, _EVERY):
        each = compare_points(points[:end], "resumed")
        if each.difference is None or each.interval.high == float("inf"):
            continue
        if not each.interval.low <= case.effect <= each.interval.high:
            found.discard("covers")
        spread = (
            each.given.mean * (1 - each.given.mean) / each.given.tasks
            + each.withheld.mean * (1 - each.withheld.mean) / each.withheld.tasks
        ) ** 0.5
        if abs(each.difference - case.effect) > 1.96 * spread:
            found.discard("ordinary covers")
        if each.interval.is_above_zero:
            found.add("helps")
        if each.interval.is_below_zero:
            found.add("hurts")
    return found


def _points(case: HintCase, chance: random.Random) -> list[TrialPoint]:
    found: list[TrialPoint] = []
    session = 0
    while len(found) < case.points:
        session += 1
        better = chance.choice((-1, 1)) * case.of_sessions
        for number in range(chance.randint(1, 3)):
            kind = chance.choice(sorted(_KINDS))
            probability = probability_of(len(found))
            given = chance.random() < probability
            # Where a share would leave 0..1, the mean effect would be another one than planted.
            rate = case.without + better + _KINDS[kind] + (case.effect if given else 0.0)
            resumed = chance.random() < min(1.0, max(0.0, rate))
            hint = TrialHint(
                session=str(session), entry=f"{kind}: {number}", kind=kind, at=float(len(found)),
                is_given=given, probability=probability,
            )  # fmt: skip
            found.append(TrialPoint(hint, resumed, not resumed))
    return found[: case.points]
