"""The numbers that candidates are ranked and counted by."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from trackrecord.learning.numbers.checks import require, require_positive

AgeDecay = Literal["exponential", "linear"]

WEIGHT_MOST: Final = 5.0


@dataclass(frozen=True)
class ContextRules:
    """What candidates are ranked by, and how their tokens are estimated.

    Attributes:
        enabled: whether candidates are ranked at all; if not, their order is left as it is.
        max_candidates: of the candidates handed in, the first so many are ranked.
        max_learnt: of each kind of what is learnt, the best so many compete with them.
        phase_weight: of a candidate of the kind `phase`.
        current_task_weight: of the task at hand.
        blocked_task_weight: of a blocked task.
        recent_failure_weight: of what has failed.
        recent_success_weight: of what has succeeded.
        evidence_presence_weight: of what has evidence.
        decision_recency_weight: of a decision, times its age factor.
        dependency_proximity_weight: how much depth divides a score by.
        pattern_weight: what the score of a pattern is multiplied by.
        anti_pattern_weight: what the score of an anti-pattern is multiplied by.
        competence_weight: what the score of a competence record is multiplied by.
        memory_weight: what the score of a memory is multiplied by.
        age_decay: `exponential` or `linear`: how decisions fade.
        half_life_hours: age of a decision that counts half.
        max_age_hours: age from which on a decision counts nothing, when they fade linearly; unset
            it is twice the half-life.
        prose_ratio: tokens per character of prose.
        code_ratio: tokens per character of code.
        markdown_ratio: tokens per character of Markdown, and of headings and separators.
        json_ratio: tokens per character of JSON.
    """

    enabled: bool = True
    max_candidates: int = 100
    max_learnt: int = 100
    phase_weight: float = 1.0
    current_task_weight: float = 2.0
    blocked_task_weight: float = 1.5
    recent_failure_weight: float = 2.5
    recent_success_weight: float = 0.5
    evidence_presence_weight: float = 1.0
    decision_recency_weight: float = 1.5
    dependency_proximity_weight: float = 1.0
    pattern_weight: float = 1.0
    anti_pattern_weight: float = 1.0
    competence_weight: float = 1.0
    memory_weight: float = 1.0
    age_decay: AgeDecay = "exponential"
    half_life_hours: float = 24.0
    max_age_hours: float | None = None
    prose_ratio: float = 0.25
    code_ratio: float = 0.40
    markdown_ratio: float = 0.30
    json_ratio: float = 0.35

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name.endswith("_weight"):
                _require_between(name, value, 0.0, WEIGHT_MOST)
            elif name.endswith("_ratio"):
                _require_between(name, value, 0.1, 1.0)
        _require_between("max_candidates", self.max_candidates, 10, 500)
        _require_between("max_learnt", self.max_learnt, 0, 1000)
        _require_between("half_life_hours", self.half_life_hours, 1.0, 168.0)
        if self.max_age_hours is not None:
            require_positive("max_age_hours", self.max_age_hours)
        require(
            self.age_decay in get_args(AgeDecay),
            f"age_decay is one of {', '.join(get_args(AgeDecay))}, not {self.age_decay!r}",
        )

    @property
    def counts_nothing_from_hours(self) -> float:
        """The age from which on a decision that fades linearly counts nothing."""
        return 2 * self.half_life_hours if self.max_age_hours is None else self.max_age_hours


def _require_between(name: str, value: float, low: float, high: float) -> None:
    require(low <= value <= high, f"{name} must lie in {low:g}..{high:g}, not {value}")
