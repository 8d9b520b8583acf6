"""The steps term: how runs went in which the same tools followed each other."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from typing import Final, NamedTuple

from .known_runs import Feature, KnownRun
from .log_odds import log_odds

_STRENGTH: Final = 16.0
# What may be left of a sum from which everything was taken away again.
_NOTHING: Final = 1e-9


class FeatureEffect(NamedTuple):
    """The contribution of one feature.

    Attributes:
        feature: two tools that followed each other, or the last tool.
        effect: in log odds.
        runs: how many runs had it, decayed.
        successes: how many of these succeeded, decayed.
    """

    feature: Feature
    effect: float
    runs: float
    successes: float


class StepSums:
    """The runs, successes and expected successes of each feature.

    Args:
        runs: what is counted.
    """

    def __init__(self, runs: Iterable[KnownRun]) -> None:
        self._sums: defaultdict[Feature, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for run in runs:
            for feature in run.features:
                _add(self._sums[feature], run, run.weight)

    def effects(self, run: KnownRun, left_out: Sequence[KnownRun]) -> list[FeatureEffect]:
        """Return the contribution of each of a run's features, in a fixed order.

        Args:
            run: the run.
            left_out: known runs that must not count.
        """
        found = []
        for feature in sorted(run.features):
            sums = self._sums.get(feature)
            if sums is None:
                continue
            rest = list(sums)
            for other in left_out:
                if feature in other.features:
                    _add(rest, other, -other.weight)
            if rest[0] > _NOTHING:
                found.append(_effect(feature, *rest))
        return found

    def term(self, run: KnownRun, left_out: Sequence[KnownRun]) -> float:
        """Return the sum of all effects, in log odds."""
        return fsum(each.effect for each in self.effects(run, left_out))


def _add(sums: list[float], run: KnownRun, weight: float) -> None:
    sums[0] += weight
    sums[1] += weight * run.success
    sums[2] += weight * run.base


def _effect(feature: Feature, runs: float, successes: float, expected: float) -> FeatureEffect:
    usual = expected / runs
    seen = (successes + _STRENGTH * usual) / (runs + _STRENGTH)
    return FeatureEffect(feature, log_odds(seen) - log_odds(usual), runs, successes)
