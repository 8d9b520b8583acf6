"""Sums of verdicts, as a row of patterns and one of criteria has them."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import case, or_

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ...database.upsert import Columns, later


@dataclass(frozen=True, slots=True)
class Replaced:
    """A record that is replaced.

    Attributes:
        row: its row.
        project_id: its project.
        replaced_at: from when on it counts no longer, seconds since the epoch.
        outcome: what it says, with the score and the verdict that it was counted with.
        slugs: the patterns that it touched; None where that is not on record.
        names_criteria: whether its feedback stands in criterion_feedback.
    """

    row: int
    project_id: int
    replaced_at: float
    outcome: ScoredOutcome
    slugs: tuple[str, ...] | None
    names_criteria: bool

    @property
    def received_at(self) -> float:
        """Return when it was received."""
        return self.outcome.received_at


COUNTED = ("helpful", "neutral", "harmful", "helpful_sum", "harmful_sum")
SUM_COLUMNS = (*COUNTED, "last_validated")

# An enum's members are looked up slowly, and this is done for every verdict of every outcome.
_HELPFUL, _HARMFUL = Verdict.HELPFUL, Verdict.HARMFUL


# Before any moment.
NEVER: Final = float("-inf")


@dataclass(slots=True)
class VerdictSums:
    """The changes of one row by a batch."""

    helpful: int = 0
    neutral: int = 0
    harmful: int = 0
    helpful_sum: float = 0.0
    harmful_sum: float = 0.0
    last_validated: float | None = None

    def add(self, verdict: Verdict, weighed: float, ended_at: float) -> None:
        """Count one verdict.

        Args:
            verdict: what it says.
            weighed: what it counts for, times the forward-decayed weight (DecayBasis.weight).
            ended_at: when the task ended.
        """
        if verdict is _HELPFUL:
            self.helpful += 1
            self.helpful_sum += weighed
        elif verdict is _HARMFUL:
            self.harmful += 1
            self.harmful_sum += weighed
        else:
            self.neutral += 1
        if self.last_validated is None or ended_at > self.last_validated:
            self.last_validated = ended_at

    def take_back(self, verdict: Verdict, weighed: float) -> None:
        """Take back one verdict that was counted with this weight; see `settled` for the rest."""
        if verdict is _HELPFUL:
            self.helpful -= 1
            self.helpful_sum -= weighed
        elif verdict is _HARMFUL:
            self.harmful -= 1
            self.harmful_sum -= weighed
        else:
            self.neutral -= 1

    def merge(self, other: "VerdictSums") -> None:
        """Add what another one adds."""
        self.helpful += other.helpful
        self.neutral += other.neutral
        self.harmful += other.harmful
        self.helpful_sum += other.helpful_sum
        self.harmful_sum += other.harmful_sum
        last = other.last_validated
        if last is not None and (self.last_validated is None or last > self.last_validated):
            self.last_validated = last

    def values(self) -> tuple[Any, ...]:
        """Return the values of SUM_COLUMNS."""
        return (
            self.helpful,
            self.neutral,
            self.harmful,
            self.helpful_sum,
            self.harmful_sum,
            self.last_validated,
        )


def several(verdict: Verdict, weighed: float, times: int, ended_at: float) -> VerdictSums:
    """Return the sums of equal verdicts; below zero for what is taken back.

    Args:
        verdict: what each says.
        weighed: what each counts for, times its forward-decayed weight.
        times: how many there are.
        ended_at: when the last of the tasks ended.
    """
    sums = VerdictSums(last_validated=ended_at)
    if verdict is _HELPFUL:
        sums.helpful, sums.helpful_sum = times, times * weighed
    elif verdict is _HARMFUL:
        sums.harmful, sums.harmful_sum = times, times * weighed
    else:
        sums.neutral = times
    return sums


def validates(sums: VerdictSums, ended_at: float) -> bool:
    """Return whether sums have something that ended then or later."""
    return sums.last_validated is not None and sums.last_validated >= ended_at


def added(table: Columns, new: Columns) -> dict[str, Any]:
    """Return the columns of a row after a new row's sums are added."""
    sums: dict[str, Any] = {name: table[name] + new[name] for name in COUNTED}
    return sums | {"last_validated": later(table.last_validated, new.last_validated)}


def settled(table: Columns) -> dict[str, Any]:
    """Return the columns of a row after a subtraction from its sums.

    Nothing is counted less than never, and where nothing is left the sum is exactly nothing:
    floats that are subtracted leave dust.
    """
    counts: dict[str, Any] = {
        name: case((table[name] < 0, 0), else_=table[name])
        for name in ("helpful", "neutral", "harmful")
    }
    sums = {
        f"{name}_sum": case(
            (or_(table[name] <= 0, table[f"{name}_sum"] < 0.0), 0.0), else_=table[f"{name}_sum"]
        )
        for name in ("helpful", "harmful")
    }
    return counts | sums
