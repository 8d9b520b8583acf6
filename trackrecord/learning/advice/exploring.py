"""Exploring: try entries with little evidence, so that the best one is found and found again.

What is handed out is followed, and what is followed gets known: without exploring, the first entry
that did well is handed out for ever. A drawn order is Thompson sampling: each entry's rate is drawn
from its Beta posterior, so that an entry is tried as often as it may well be the best. Of a rate
that is drawn as if four times as much were known of it, less is lost by trying, and hardly more
by finding the best later.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest
from math import sqrt
from typing import Final, NamedTuple

from .estimates.posterior import PRIOR_STRENGTH
from .rules import Explore

# An entry with less evidence than this is little known.
LITTLE_KNOWN: Final = 10.0
# Rates are drawn as if this many times as much were known of them.
SHARPNESS: Final[Mapping[Explore, float]] = {"some": 4.0, "full": 1.0}
# Of more entries, those are drawn that may most likely be the best.
MOST_DRAWN: Final = 32
_STANDARD_DEVIATIONS: Final = 3.0


class Prospect(NamedTuple):
    """An entry whose rate of success is estimated.

    Attributes:
        id: the entry.
        a: decayed successes, with those of a prior of `PRIOR_STRENGTH` runs that what faded moves.
        b: decayed failures, with the prior's.
    """

    id: str
    a: float
    b: float

    @property
    def mean(self) -> float:
        """The posterior's mean."""
        return self.a / (self.a + self.b)

    @property
    def is_little_known(self) -> bool:
        """Return whether its evidence, without the prior's, is thin."""
        return self.a + self.b - PRIOR_STRENGTH < LITTLE_KNOWN

    @property
    def optimistic(self) -> float:
        """The rate that it hardly exceeds."""
        total = self.a + self.b
        spread = sqrt(self.a * self.b / (total * total * (total + 1.0)))
        return min(1.0, self.mean + _STANDARD_DEVIATIONS * spread)


@dataclass(frozen=True)
class Draw:
    """The parameters of drawing entries for one task.

    Attributes:
        prospects: the entries that are drawn, with distinct ids.
        means: the rates of all entries, by id.
        seed: of the draw.
        sharpness: as if this many times as much were known of each.
    """

    prospects: Sequence[Prospect]
    means: Mapping[str, float]
    seed: int
    sharpness: float = 1.0

    @cached_property
    def rates(self) -> dict[str, float]:
        """The rates that are drawn, by id."""
        return drawn_rates(self.prospects, self.seed, self.sharpness)

    @cached_property
    def tried(self) -> frozenset[str]:
        """The ids of the little known entries that the draw puts forward."""
        return tried(self.prospects, self.rates)

    def rate(self, name: str, default: float) -> float:
        """Return an entry's rate: drawn, or the mean of one that is not; else the default."""
        drawn = self.rates.get(name)
        return self.means.get(name, default) if drawn is None else drawn


def promising(prospects: Iterable[Prospect], most: int = MOST_DRAWN) -> list[Prospect]:
    """Return those prospects that may most likely be the best, by id."""
    found = nlargest(most, prospects, key=lambda each: (each.optimistic, each.id))
    return sorted(found, key=lambda each: each.id)


def drawn_rates(
    prospects: Sequence[Prospect], seed: int, sharpness: float = 1.0
) -> dict[str, float]:
    """Draw a rate for each prospect; a function of the set of prospects and the seed.

    Args:
        prospects: with distinct ids, in any order.
        seed: of the draw.
        sharpness: as if this many times as much were known of each.
    """
    chance = random.Random(seed)  # noqa: S311 - a draw that a retry repeats, no secret
    return {
        each.id: chance.betavariate(sharpness * each.a, sharpness * each.b)
        for each in sorted(prospects)
    }


def tried(prospects: Sequence[Prospect], rates: dict[str, float]) -> frozenset[str]:
    """Return the little known prospects that a draw put first, or higher than their mean does."""
    drawn = _places(rates)
    little_known = _little_known(tuple(prospects))
    return frozenset(
        [name for name, known in little_known.items() if not drawn[name] or drawn[name] < known]
    )


# One task after another draws from the same prospects.
@lru_cache(maxsize=64)
def _little_known(prospects: tuple[Prospect, ...]) -> dict[str, int]:
    """Return the place by its mean, among all prospects, of each little known one."""
    places = _places({each.id: each.mean for each in prospects})
    return {each.id: places[each.id] for each in prospects if each.is_little_known}


def order(prospects: Sequence[Prospect], seed: int | None, sharpness: float = 1.0) -> list[str]:
    """Return the ids of prospects, best first.

    Args:
        prospects: with distinct ids, in any order.
        seed: of a draw; None for the order of the means.
        sharpness: as if this many times as much were known of each.
    """
    if seed is None:
        rates = {each.id: each.mean for each in prospects}
    else:
        rates = drawn_rates(prospects, seed, sharpness)
    return list(_places(rates))


def _places(rates: dict[str, float]) -> dict[str, int]:
    # Sorting is stable, also in reverse: equal ones stay in the order of their names.
    best_first = sorted(sorted(rates), key=rates.__getitem__, reverse=True)
    return {name: place for place, name in enumerate(best_first)}
