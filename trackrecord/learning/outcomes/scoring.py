"""Scoring: from the signals of one outcome to one number and a verdict.

A new signal is a field of the outcome (`wire.outcome`, and `outcome_fields` of the producers), a
weight here, and an argument in the one caller of `score_outcome`, `wire.outcome_scorer`. The
settings, the command `score` and the rebuild after a change of rules follow from this module.
"""

from dataclasses import dataclass
from enum import StrEnum

from ..numbers.checks import require, require_ratio
from ..numbers.tolerance import RATIO, ratio_at_least, ratio_at_most


class Verdict(StrEnum):
    """A verdict: of an outcome's score, on a criterion or a pattern, or by feedback."""

    HELPFUL = "helpful"
    NEUTRAL = "neutral"
    HARMFUL = "harmful"


@dataclass(frozen=True)
class ScoringRules:
    """The weights and thresholds of scoring.

    Attributes:
        success_weight: weight of the task's success.
        duration_weight: weight of the task's duration.
        errors_weight: weight of the number of errors.
        retries_weight: weight of the number of retries.
        fast_ms: durations below this value are fast and have the signal 1.0.
        slow_ms: durations above this value are slow; from FAST_MS up to it they are middling.
        duration_middle: signal value of a middling duration.
        duration_low: signal value of a slow duration.
        few_errors: highest number of errors that counts as few.
        errors_middle: signal value of few errors.
        errors_low: signal value of more than FEW_ERRORS errors.
        few_retries: highest number of retries that counts as few.
        retries_middle: signal value of few retries.
        retries_low: signal value of more than FEW_RETRIES retries.
        helpful_from: outcomes with this raw score or a higher one are helpful.
        harmful_to: outcomes with this raw score or a lower one are harmful.
    """

    success_weight: float = 0.4
    duration_weight: float = 0.2
    errors_weight: float = 0.2
    retries_weight: float = 0.2
    fast_ms: int = 300_000
    slow_ms: int = 1_800_000
    duration_middle: float = 0.6
    duration_low: float = 0.2
    few_errors: int = 2
    errors_middle: float = 0.6
    errors_low: float = 0.2
    few_retries: int = 1
    retries_middle: float = 0.7
    retries_low: float = 0.3
    helpful_from: float = 0.7
    harmful_to: float = 0.4

    def __post_init__(self) -> None:
        for name in (
            "success_weight", "duration_weight", "errors_weight", "retries_weight",
            "duration_middle", "duration_low", "errors_middle", "errors_low",
            "retries_middle", "retries_low", "helpful_from", "harmful_to",
        ):  # fmt: skip
            require_ratio(name, getattr(self, name))
        total = (
            self.success_weight + self.duration_weight + self.errors_weight + self.retries_weight
        )
        require(
            abs(total - 1.0) <= RATIO,
            "success_weight, duration_weight, errors_weight and retries_weight must sum to 1, "
            f"not {total:g}",
        )
        require(self.success_weight > 0, "success_weight must be above 0: success is always known")
        require(0 <= self.fast_ms < self.slow_ms, "fast_ms must lie below slow_ms")
        require(self.few_errors >= 1, "few_errors must be at least 1")
        require(self.few_retries >= 1, "few_retries must be at least 1")
        require(
            self.harmful_to + RATIO < self.helpful_from - RATIO,
            "harmful_to must lie below helpful_from",
        )


@dataclass(frozen=True)
class Score:
    """The score of one outcome, undecayed.

    Attributes:
        raw_score: 0..1, the weighted mean of the signals that were observed.
        verdict: helpful, neutral or harmful.
        components: each observed signal's value, 0..1, by name.
    """

    raw_score: float
    verdict: Verdict
    components: dict[str, float]


def _graded(value: int, few: int, middle: float, low: float) -> float:
    if value == 0:
        return 1.0
    return middle if value <= few else low


def graded_duration(rules: ScoringRules, duration_ms: int) -> int:
    """Return one of three durations: that which scores as the given one does."""
    if duration_ms < rules.fast_ms:
        return 0
    return rules.fast_ms if duration_ms <= rules.slow_ms else rules.slow_ms + 1


def score_outcome(
    rules: ScoringRules,
    *,
    success: bool,
    duration_ms: int | None = None,
    error_count: int | None = None,
    retry_count: int | None = None,
) -> Score:
    """Score one outcome; a missing signal (None) takes no part."""
    components = {"success": 1.0 if success else 0.0}
    weights = rules.success_weight
    total = rules.success_weight * components["success"]
    if duration_ms is not None:
        if duration_ms < rules.fast_ms:
            signal = 1.0
        else:
            signal = rules.duration_middle if duration_ms <= rules.slow_ms else rules.duration_low
        components["duration"] = signal
        weights += rules.duration_weight
        total += rules.duration_weight * signal
    if error_count is not None:
        signal = _graded(error_count, rules.few_errors, rules.errors_middle, rules.errors_low)
        components["errors"] = signal
        weights += rules.errors_weight
        total += rules.errors_weight * signal
    if retry_count is not None:
        signal = _graded(retry_count, rules.few_retries, rules.retries_middle, rules.retries_low)
        components["retries"] = signal
        weights += rules.retries_weight
        total += rules.retries_weight * signal
    raw_score = total / weights
    return Score(raw_score, verdict_of(rules, raw_score), components)


def verdict_of(rules: ScoringRules, raw_score: float) -> Verdict:
    """Return the verdict of a raw score; decay never changes it."""
    if ratio_at_least(raw_score, rules.helpful_from):
        return Verdict.HELPFUL
    if ratio_at_most(raw_score, rules.harmful_to):
        return Verdict.HARMFUL
    return Verdict.NEUTRAL


def verdict_on_patterns(*, success: bool) -> Verdict:
    """Return an outcome's verdict on its patterns: a failed task never helps.

    Its score decides nothing here: a quick failure scores as much as a slow success.
    """
    return Verdict.HELPFUL if success else Verdict.HARMFUL


def reasoning(score: Score) -> str:
    """Return one line with the signals of a score and their values."""
    parts = ", ".join(f"{name} {value:.1f}" for name, value in score.components.items())
    return f"{score.verdict} at {score.raw_score:.2f} from {parts}"
