"""Criteria: feedback on single aspects of a task, and how far each can be relied on."""

from dataclasses import dataclass
from typing import Final

from ..numbers.checks import require, require_positive, require_ratio
from ..numbers.tolerance import count_at_least, ratio_above
from ..numbers.verdict_counts import VerdictCounts
from ..outcomes.scoring import Verdict

MAX_NAME: Final = 128
# The raw value of a verdict on a criterion that an outcome names.
NAMED_VALUE: Final = 1.0
# The least weight of a criterion that is not deprecated, and that without any feedback.
FLOOR: Final = 0.1
WEIGHT_WITHOUT_FEEDBACK: Final = 1.0
# A criterion with less decayed evidence is marked as having little.
LITTLE_EVIDENCE_BELOW: Final = 3.0


@dataclass(frozen=True)
class CriteriaRules:
    """The rules for counting a criterion's feedback and computing its weight.

    Attributes:
        defaults: criteria that get the verdict of every outcome that does not name them.
        min_feedback: number of helpful and harmful reports, undecayed, that a criterion needs
            before it can be deprecated.
        deprecated_above: a criterion whose undecayed harmful share is above this value is
            deprecated.
        half_life_days: days after which feedback to a criterion counts half; if unset, that of
            `decay`.
    """

    defaults: tuple[str, ...] = ()
    min_feedback: int = 3
    deprecated_above: float = 0.3
    half_life_days: float | None = None

    def __post_init__(self) -> None:
        require(
            all(name == name.strip() and 1 <= len(name) <= MAX_NAME for name in self.defaults),
            f"defaults must be names of 1 to {MAX_NAME} characters without spaces around them",
        )
        require(len(set(self.defaults)) == len(self.defaults), "defaults must not repeat a name")
        require_ratio("deprecated_above", self.deprecated_above)
        require(self.min_feedback >= 1, "min_feedback must be at least 1")
        if self.half_life_days is not None:
            require_positive("half_life_days", self.half_life_days)


@dataclass(frozen=True)
class CriterionEvidence(VerdictCounts):
    """The recorded feedback on one criterion, as of one moment, weighed by its raw value.

    Attributes:
        last_validated: when the last feedback of any kind came, seconds since the epoch.
    """

    last_validated: float | None = None

    @property
    def harmful_share(self) -> float:
        """Harmful ÷ helpful and harmful, undecayed; 0 without either."""
        counted = self.helpful + self.harmful
        return self.harmful / counted if counted else 0.0


@dataclass(frozen=True)
class CriterionStanding:
    """The evidence and the rules' conclusions on a criterion at one moment.

    Attributes:
        criterion: its name.
        evidence: its counts and sums.
        weight: its weight; 0 once it is deprecated.
        formula_weight: its weight if deprecation is ignored.
        deprecated: whether too much of its feedback was harmful.
        has_little_evidence: whether the decayed evidence is too little to rely on.
    """

    criterion: str
    evidence: CriterionEvidence
    weight: float
    formula_weight: float
    deprecated: bool
    has_little_evidence: bool


def criterion_standing(
    rules: CriteriaRules, criterion: str, evidence: CriterionEvidence
) -> CriterionStanding:
    """Derive a criterion's standing, which is never stored."""
    formula = formula_weight(evidence)
    deprecated = is_criterion_deprecated(rules, evidence)
    return CriterionStanding(
        criterion=criterion,
        evidence=evidence,
        weight=0.0 if deprecated else formula,
        formula_weight=formula,
        deprecated=deprecated,
        has_little_evidence=not count_at_least(evidence.decayed_total, LITTLE_EVIDENCE_BELOW),
    )


def formula_weight(evidence: CriterionEvidence) -> float:
    """Return max(floor, H/(H+X)) of the decayed sums, or the weight without feedback."""
    share = evidence.helpful_share
    return WEIGHT_WITHOUT_FEEDBACK if share is None else max(FLOOR, share)


def is_criterion_deprecated(rules: CriteriaRules, evidence: CriterionEvidence) -> bool:
    """Return whether a criterion's impact is 0: the undecayed counts decide."""
    if evidence.helpful + evidence.harmful < rules.min_feedback:
        return False
    return ratio_above(evidence.harmful_share, rules.deprecated_above)


def feedback_value(verdict: Verdict, raw_score: float) -> float:
    """Return the raw value of an outcome's own verdict: its score, or for harmful 1 - score."""
    if verdict is Verdict.HELPFUL:
        return raw_score
    return 1.0 - raw_score if verdict is Verdict.HARMFUL else 0.0
