"""Counts of verdicts, raw and decayed: the common evidence of patterns and criteria."""

from dataclasses import dataclass, replace
from typing import TypeVar


@dataclass(frozen=True)
class VerdictCounts:
    """The number of verdicts of each kind, as of one moment.

    Attributes:
        helpful: helpful verdicts, a raw count.
        neutral: neutral verdicts, a raw count; they weigh nothing.
        harmful: harmful verdicts, a raw count.
        decayed_helpful: the helpful ones, each weighed by its age.
        decayed_harmful: the harmful ones, each weighed by its age.
    """

    helpful: int = 0
    neutral: int = 0
    harmful: int = 0
    decayed_helpful: float = 0.0
    decayed_harmful: float = 0.0

    @property
    def reports(self) -> int:
        """All verdicts, a raw count."""
        return self.helpful + self.neutral + self.harmful

    @property
    def decayed_total(self) -> float:
        """The decayed mass of evidence; neutral verdicts add nothing."""
        return self.decayed_helpful + self.decayed_harmful

    @property
    def helpful_share(self) -> float | None:
        """Return decayed helpful ÷ decayed total; None without either."""
        counted = self.helpful + self.harmful
        if not counted:
            return None
        mass = self.decayed_total
        # Verdicts so old that a float holds nothing of them any more still have their counts.
        return self.decayed_helpful / mass if mass > 0 else self.helpful / counted


_Counts = TypeVar("_Counts", bound=VerdictCounts)


def plus_helpful(evidence: _Counts, count: int) -> _Counts:
    """Return the evidence with that many more helpful verdicts of this moment."""
    return replace(
        evidence,
        helpful=evidence.helpful + count,
        decayed_helpful=evidence.decayed_helpful + count,
    )


def plus_harmful(evidence: _Counts, count: int) -> _Counts:
    """Return the evidence with that many more harmful verdicts of this moment."""
    return replace(
        evidence,
        harmful=evidence.harmful + count,
        decayed_harmful=evidence.decayed_harmful + count,
    )
