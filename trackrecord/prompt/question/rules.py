"""The numbers that candidates are ranked and counted by."""

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal, get_args

from trackrecord.learning.numbers.checks import Inner, require, require_positive

from .section_names import checked_sections

AgeDecay = Literal["exponential", "linear"]

WEIGHT_MOST: Final = 5.0


@dataclass(frozen=True)
class ContextRules:
    """The rules of ranking candidates, and of estimating their tokens.

    Attributes:
        enabled: whether candidates are ranked; if not, they keep their order.
        max_candidates: maximum number of an agent's own candidates that are ranked; the first ones
            given are used.
        max_learnt: maximum number of entries of each learnt kind that compete with an agent's own
            candidates.
        learnt_tokens: budget of `rankings()` in tokens where the caller gives none, and the most
            that all learnt entries together take of the budget of `context()`.
        include: the sections of what is learnt that prompts have, for example
            `["lessons", "memories"]`. If empty, all.
        exclude: the sections of what is learnt that prompts do not have.
        phase_weight: score added to candidates of the kind `phase`.
        current_task_weight: score added to candidates about the task at hand.
        blocked_task_weight: score added to candidates about a blocked task.
        recent_failure_weight: score added to candidates about a recent failure.
        recent_success_weight: score added to candidates about a recent success.
        evidence_presence_weight: score added to candidates that have evidence.
        decision_recency_weight: score added to decisions, multiplied by their age factor.
        dependency_proximity_weight: how strongly a candidate's depth in the dependencies lowers its
            score.
        pattern_weight: factor by which the scores of patterns are multiplied.
        anti_pattern_weight: factor by which the scores of anti-patterns are multiplied.
        competence_weight: factor by which the scores of competence records are multiplied.
        memory_weight: factor by which the scores of memories are multiplied.
        age_decay: how decisions lose weight with age: `exponential` or `linear`.
        half_life_hours: age in hours at which a decision counts half.
        max_age_hours: age in hours from which a decision counts nothing when `age_decay` is
            `linear`. If unset, twice the half-life.
        prose_ratio: tokens per character of prose.
        code_ratio: tokens per character of code.
        markdown_ratio: tokens per character of Markdown, headings and separators.
        json_ratio: tokens per character of JSON.
    """

    enabled: bool = True
    max_candidates: Inner[int] = 100
    max_learnt: Inner[int] = 100
    learnt_tokens: int = 400
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
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
    prose_ratio: Inner[float] = 0.25
    code_ratio: Inner[float] = 0.40
    markdown_ratio: Inner[float] = 0.30
    json_ratio: Inner[float] = 0.35

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name.endswith("_weight"):
                _require_between(name, value, 0.0, WEIGHT_MOST)
            elif name.endswith("_ratio"):
                _require_between(name, value, 0.1, 1.0)
        _require_between("max_candidates", self.max_candidates, 10, 500)
        _require_between("max_learnt", self.max_learnt, 0, 1000)
        _require_between("learnt_tokens", self.learnt_tokens, 0, 100_000)
        _require_between("half_life_hours", self.half_life_hours, 1.0, 168.0)
        checked_sections((*self.include, *self.exclude))
        if self.max_age_hours is not None:
            require_positive("max_age_hours", self.max_age_hours)
        require(
            self.age_decay in get_args(AgeDecay),
            f"age_decay is one of {', '.join(get_args(AgeDecay))}, not {self.age_decay!r}",
        )

    def tokens_of(self, line: str) -> int:
        """Estimate the tokens of a line outside of the entries."""
        return ceil(len(line) * self.markdown_ratio)

    @property
    def counts_nothing_from_hours(self) -> float:
        """The age from which on a decision that fades linearly counts nothing."""
        return 2 * self.half_life_hours if self.max_age_hours is None else self.max_age_hours


def _require_between(name: str, value: float, low: float, high: float) -> None:
    require(low <= value <= high, f"{name} must lie in {low:g}..{high:g}, not {value}")
