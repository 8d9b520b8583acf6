"""Anti-patterns: a pattern that keeps failing is turned into a warning."""

from dataclasses import dataclass

from ..numbers.checks import require, require_ratio
from ..numbers.tolerance import RATIO, ratio_at_least
from .evidence import Evidence


@dataclass(frozen=True)
class AntiPatternRules:
    """The rules for inverting a pattern.

    Attributes:
        min_observations: number of tasks, undecayed, that a pattern needs before it can become an
            anti-pattern.
        failure_share: share of failed tasks, undecayed, from which a pattern becomes an
            anti-pattern.
    """

    min_observations: int = 3
    failure_share: float = 0.6

    def __post_init__(self) -> None:
        require(self.min_observations >= 1, "min_observations must be at least 1")
        require_ratio("failure_share", self.failure_share)
        require(
            self.failure_share > RATIO,
            "failure_share must be above 0",
        )


def is_inverted(rules: AntiPatternRules, evidence: Evidence) -> bool:
    """Return whether the counts make an anti-pattern, no source beyond its share.

    The tasks must fail; helpful feedback can speak for the pattern all the same.
    """
    return (
        evidence.observations >= rules.min_observations
        and _reaches(rules, *evidence.tasks_heard)
        and _reaches(rules, *evidence.verdicts_heard)
    )


def _reaches(rules: AntiPatternRules, failures: float, total: float) -> bool:
    return total > 0 and ratio_at_least(failures / total, rules.failure_share)
