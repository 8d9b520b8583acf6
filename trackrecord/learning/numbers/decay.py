"""Decay: old evidence weighs less, applied exactly once, when a number is read.

A decayed count at time t is Σ w·2^((tᵢ−t)/h). Kept against a fixed landmark L as
Σ w·2^((tᵢ−L)/h) it is a plain sum, so that outcomes may arrive in any order and from any worker
("forward decay", Cormode, Shkapenyuk, Srivastava, Xu: Forward Decay, ICDE 2009).
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from math import exp2, fsum, inf, log2

from .checks import require_positive

DAY = 86_400.0

# A float holds 2^1023. Sums are moved to a later landmark long before they get there.
REBASE_AFTER_HALF_LIVES = 500.0


@dataclass(frozen=True)
class DecayRules:
    """The rules of how fast evidence ages.

    Attributes:
        half_life_days: days after which an outcome counts half. Patterns and criteria may have
            half-lives of their own.
    """

    half_life_days: float = 90.0

    def __post_init__(self) -> None:
        require_positive("half_life_days", self.half_life_days)


def decayed(value: float, age_seconds: float, half_life_days: float) -> float:
    """Return a value after decay at this age: value·0.5^(max(0, age)/half-life)."""
    return value * exp2(-max(0.0, age_seconds) / (half_life_days * DAY))


def moment_of(moments: Collection[float], half_life_days: float) -> float:
    """Return the moment at which all parts would weigh together what they weigh at their own.

    Args:
        moments: seconds since the epoch, at least one.
        half_life_days: days after which one counts half.
    """
    newest = max(moments)
    kept = fsum(decayed(1.0, newest - moment, half_life_days) for moment in moments)
    return newest + half_life_days * DAY * log2(kept / len(moments))


@dataclass(frozen=True)
class DecayBasis:
    """The basis of stored sums: a half-life and a landmark (seconds since the epoch)."""

    half_life_days: float
    landmark: float

    def weight(self, at: float) -> float:
        """Return what one outcome that ended at this moment adds to a stored sum."""
        return exp2((at - self.landmark) / (self.half_life_days * DAY))

    def value(self, stored_sum: float, at: float) -> float:
        """Return the decayed count at a moment, from a stored sum of outcomes ended by then."""
        if stored_sum == 0.0:  # 0 at any moment; the factor may be beyond the range of a float
            return 0.0
        return stored_sum * exp2((self.landmark - at) / (self.half_life_days * DAY))

    def factor(self, at: float) -> float:
        """Return what any stored sum but 0 is multiplied by for its value at a moment."""
        try:
            return exp2((self.landmark - at) / (self.half_life_days * DAY))
        except OverflowError:  # no sum but 0 is so far from its landmark
            return inf

    def growth(self, earlier: float, later: float) -> float:
        """Return what a count of a moment is multiplied by for its value at an earlier one."""
        halvings = (later - earlier) / (self.half_life_days * DAY)
        return exp2(min(halvings, REBASE_AFTER_HALF_LIVES))

    def is_due_for_rebase(self, at: float) -> bool:
        """Return whether sums must move to a later landmark before this weight is added."""
        return (at - self.landmark) / (self.half_life_days * DAY) > REBASE_AFTER_HALF_LIVES


@dataclass(frozen=True)
class HalfLives:
    """The half-lives of a project's stored sums.

    Attributes:
        patterns: days after which an outcome counts half for the maturity of patterns.
        criteria: days after which feedback to a criterion counts half.
    """

    patterns: float
    criteria: float


@dataclass(frozen=True)
class Bases:
    """The bases of a project's sums: two half-lives, and one landmark.

    Attributes:
        half_lives: the half-lives.
        landmark: seconds since the epoch.
    """

    half_lives: HalfLives
    landmark: float

    @cached_property
    def patterns(self) -> DecayBasis:
        """The basis of the sums of patterns."""
        return DecayBasis(self.half_lives.patterns, self.landmark)

    @cached_property
    def criteria(self) -> DecayBasis:
        """The basis of the sums of criteria."""
        return DecayBasis(self.half_lives.criteria, self.landmark)

    def are_due_for_rebase(self, at: float) -> bool:
        """Return whether one of them must move to a later landmark; they move together."""
        return self.patterns.is_due_for_rebase(at) or self.criteria.is_due_for_rebase(at)
