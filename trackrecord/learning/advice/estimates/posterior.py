"""Posteriors: a rate of success with an interval, from decayed counts and a prior.

A Beta distribution. The prior is the rate that the level above leads one to expect, and weighs as
much as `PRIOR_STRENGTH` runs: 2 of 2 does not become 100%, and 0 of 1 does not become 0%.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from .incomplete_beta import beta_quantile

# A prior weighs as much as this number of runs.
PRIOR_STRENGTH: Final = 3.0
# An interval holds the rate with this probability.
COVERAGE: Final = 0.9
# In an order, no prior is better than this, so that 2 of 2 stands behind 9 of 10 whatever the
# project's rate is: that takes a prior below (7m - 2) / 8m = 0.79 for the strength m = 3.
_BEST_PRIOR_IN_ORDER: Final = 0.75
# The parameters of a distribution are never 0, however certain its prior is.
_LEAST_PARAMETER: Final = 1e-3


class DecayedTally(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Runs and their successes, counted and decayed.

    Attributes:
        runs: how many runs there were.
        successes: how many of them succeeded.
        decayed_runs: the runs, each weighed by its age.
        decayed_successes: the successes, each weighed by its age.
        tasks: how many distinct tasks the runs were of.
    """

    runs: int = 0
    successes: int = 0
    decayed_runs: float = 0.0
    decayed_successes: float = 0.0
    tasks: int = 0

    def without(self, part: "DecayedTally") -> "DecayedTally":
        """Return the evidence without a part of it, apart from its tasks."""
        runs = max(0.0, self.decayed_runs - part.decayed_runs)
        return DecayedTally(
            self.runs - part.runs,
            self.successes - part.successes,
            runs,
            min(runs, max(0.0, self.decayed_successes - part.decayed_successes)),
        )


@dataclass(frozen=True, slots=True)
class Posterior:
    """A Beta distribution of a rate.

    Attributes:
        a: decayed successes with the prior's, above 0.
        b: decayed failures with the prior's, above 0.
    """

    a: float
    b: float

    @property
    def mean(self) -> float:
        """The expected rate."""
        return self.a / (self.a + self.b)

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds between which the rate lies with a probability of `COVERAGE`."""
        return self.bounds(COVERAGE)

    def bounds(self, coverage: float) -> tuple[float, float]:
        """Return the central interval with this probability, which always holds the mean."""
        tail = (1.0 - coverage) / 2
        mean = self.mean
        # The mean of a very skewed distribution lies outside its central interval.
        return (
            min(mean, beta_quantile(tail, self.a, self.b)),
            max(mean, beta_quantile(1.0 - tail, self.a, self.b)),
        )


def posterior_of(tally: DecayedTally, prior: float, strength: float = PRIOR_STRENGTH) -> Posterior:
    """Return the posterior of a rate.

    Args:
        tally: what was seen.
        prior: the rate that is expected without it, 0..1.
        strength: how many runs the prior weighs as much as.
    """
    failures = max(0.0, tally.decayed_runs - tally.decayed_successes)
    return Posterior(
        max(_LEAST_PARAMETER, tally.decayed_successes + strength * prior),
        max(_LEAST_PARAMETER, failures + strength * (1.0 - prior)),
    )


def base_rate(total: DecayedTally) -> float:
    """Return a project's rate of success, never 0 or 1: (successes + ½) ÷ (runs + 1)."""
    return (total.decayed_successes + 0.5) / (total.decayed_runs + 1.0)


def cautious_mean(tally: DecayedTally, prior: float) -> float:
    """Return the rate by which things are put in order: few runs never lead.

    It is the posterior's mean with a prior that is no better than the one with which 2 of 2 would
    overtake 9 of 10.
    """
    return posterior_of(tally, min(prior, _BEST_PRIOR_IN_ORDER)).mean
