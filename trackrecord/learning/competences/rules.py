"""Competence: the numbers of its rules, and how salient a record is at a moment."""

from dataclasses import dataclass
from enum import StrEnum

from ..numbers.checks import require, require_positive, require_ratio
from ..numbers.decay import decayed

MOST_SALIENT = 1.0
# Of the failure modes that a record keeps: the most frequent ones.
MOST_FAILURE_MODES = 10
# Of a procedure, or of its calls if repeats are kept; episodes with more are skipped.
MAX_TOOLS = 64
# The most frequent ones that a record keeps.
MAX_TRIGGERS = 20


class Status(StrEnum):
    """The status of a competence record."""

    ACTIVE = "active"
    CONTESTED = "contested"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"

    @property
    def is_selectable(self) -> bool:
        """Return whether a record of this status is a candidate for selection."""
        return self in (Status.ACTIVE, Status.CONTESTED)


@dataclass(frozen=True)
class CompetenceRules:
    """The rules for new records: when a procedure becomes one, its first values, and its ageing.

    Attributes:
        min_successes: number of successful episodes from which a procedure becomes a competence
            record.
        keep_repeats: whether a tool that is used twice appears twice in the signature and in the
            recipe.
        confidence: confidence of a new record.
        salience: salience of a new record.
        half_life_days: days without reinforcement after which a record's salience has halved;
            applies to new records.
        reinforcement_gain: salience that new successes add to a record; applies to new records.
        min_salience: lower bound of a record's salience; applies to new records.
        needs_more_below: a selection whose confidence is below this value asks for more
            information.
    """

    min_successes: int = 2
    keep_repeats: bool = False
    confidence: float = 0.8
    salience: float = 1.0
    half_life_days: float = 30.0
    reinforcement_gain: float = 0.1
    min_salience: float = 0.0
    needs_more_below: float = 0.7

    def __post_init__(self) -> None:
        require(self.min_successes >= 1, "min_successes must be at least 1")
        for name in (
            "confidence", "salience", "reinforcement_gain", "min_salience", "needs_more_below",
        ):  # fmt: skip
            require_ratio(name, getattr(self, name))
        require_positive("half_life_days", self.half_life_days)
        require(self.min_salience <= self.salience, "min_salience must not lie above salience")


@dataclass(frozen=True)
class Lifecycle:
    """The numbers by which one record's salience ages and rises.

    Attributes:
        half_life_days: days without reinforcement after which its salience is half.
        reinforcement_gain: what one reinforcement adds.
        min_salience: what its salience never falls below.
        last_reinforced_at: when it was last reinforced, seconds since the epoch.
        pinned: whether it is kept from decaying.
    """

    half_life_days: float
    reinforcement_gain: float
    min_salience: float
    last_reinforced_at: float | None = None
    pinned: bool = False


def begun(rules: CompetenceRules, at: float | None, *, pinned: bool = False) -> Lifecycle:
    """Return the lifecycle that a new record begins with.

    Args:
        rules: its numbers.
        at: when the record was last reinforced, seconds since the epoch.
        pinned: whether its salience is kept from decaying.
    """
    return Lifecycle(rules.half_life_days, rules.reinforcement_gain, rules.min_salience, at, pinned)


def salience_now(salience: float, lifecycle: Lifecycle, now: float) -> float:
    """Return max(min_salience, salience·0.5^(days since last_reinforced_at / half-life)).

    A pinned record, and one that was never reinforced, does not decay; the future counts as now.
    """
    if not lifecycle.pinned and lifecycle.last_reinforced_at is not None:
        age = now - lifecycle.last_reinforced_at
        salience = decayed(salience, age, lifecycle.half_life_days)
    return max(lifecycle.min_salience, salience)


def reinforced(salience: float, lifecycle: Lifecycle) -> float:
    """Return the salience to store after a reinforcement: plus the gain, at most 1.

    It starts from the stored salience, not from what is left of it now: decay is computed when
    salience is read and never written back, else a penalty and a later read would apply it twice.
    What reinforcement undoes is the ageing, since it sets last_reinforced_at; only penalties take
    from the stored salience, and reinforcement wins that back by steps of the gain.
    """
    return min(MOST_SALIENT, salience + lifecycle.reinforcement_gain)
