"""A record of an outcome that another one takes the place of."""

from dataclasses import dataclass

from trackrecord.wire.outcome_scorer import ScoredOutcome


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
