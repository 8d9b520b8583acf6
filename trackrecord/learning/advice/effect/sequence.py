"""Confidence sequences: intervals that stay valid however often one looks.

An ordinary 95% interval is wrong in far more than 5% of cases for those who look after every task
and stop when they like what they see. A sequence covers the truth at all moments at once. This one
is asymptotic, with a normal mixture (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas: Time-uniform
central limit theory and asymptotic confidence sequences, Annals of Statistics 52(6), 2024; its form
goes back to Robbins, 1970). It depends on sums alone, so that the order of tasks does not matter.
"""

from dataclasses import dataclass
from math import ceil, inf, log, sqrt
from typing import Final

# The share of sequences that may ever miss the truth.
ALPHA: Final = 0.05
# The difference that the sequence is tuned to, in standard deviations: seven points on a rate of a
# half. Other effects are found, too, a little later.
TUNED_TO: Final = 0.15
# 80% of a normal distribution lie above its mean less so many standard deviations.
_FOUR_OF_FIVE: Final = 0.8416


@dataclass(frozen=True)
class Interval:
    """The ends of an interval; infinite while there is too little data."""

    low: float = -inf
    high: float = inf

    @property
    def is_above_zero(self) -> bool:
        """Return whether the whole interval is above 0."""
        return self.low > 0.0

    @property
    def is_below_zero(self) -> bool:
        """Return whether the whole interval is below 0."""
        return self.high < 0.0


def interval_around(
    estimate: float,
    standard_error: float,
    spread: float,
    alpha: float = ALPHA,
    tuned_to: float = TUNED_TO,
) -> Interval:
    """Return the interval of a sequence at this moment.

    Args:
        estimate: the estimated difference.
        standard_error: of the estimate.
        spread: the standard deviation of what is measured.
        alpha: the share of sequences that may ever miss the truth.
        tuned_to: the difference that it is narrowest for, in standard deviations.
    """
    if not standard_error > 0.0 or not spread > 0.0:
        return Interval()
    margin = margin_of(standard_error, spread, alpha, tuned_to)
    return Interval(estimate - margin, estimate + margin)


def margin_of(
    standard_error: float, spread: float, alpha: float, tuned_to: float = TUNED_TO
) -> float:
    """Return half of the width of an interval; see `interval_around`."""
    information = (tuned_to * spread / standard_error) ** 2
    return standard_error * sqrt(
        (1.0 + 1.0 / information) * (log(1.0 + information) - 2.0 * log(alpha))
    )


def tasks_for(
    difference: float,
    spread: float,
    holdout: float,
    alpha: float = ALPHA,
    tuned_to: float = TUNED_TO,
) -> int:
    """Return how many tasks show a difference of this size in four of five projects.

    Args:
        difference: the true difference, above 0.
        spread: the standard deviation of what is measured.
        holdout: the share of tasks that is withheld advice, between 0 and 1.
        alpha: the share of sequences that may ever miss the truth.
        tuned_to: as for `interval_around`.
    """
    tasks = 1.0
    for _ in range(60):  # doubling, then halving the step: margins shrink with the number of tasks
        if _shown_at(tasks, spread, holdout, alpha, tuned_to) <= difference:
            break
        tasks *= 2.0
    low, high = tasks / 2.0, tasks
    while high - low > 0.5:
        middle = (low + high) / 2.0
        if _shown_at(middle, spread, holdout, alpha, tuned_to) <= difference:
            high = middle
        else:
            low = middle
    return ceil(high)


def _shown_at(tasks: float, spread: float, holdout: float, alpha: float, tuned_to: float) -> float:
    standard_error = spread / sqrt(tasks * holdout * (1.0 - holdout))
    return margin_of(standard_error, spread, alpha, tuned_to) + _FOUR_OF_FIVE * standard_error
