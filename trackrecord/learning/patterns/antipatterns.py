"""Anti-patterns: a pattern that keeps failing is turned into a warning."""

from dataclasses import dataclass

from ..numbers.checks import require, require_ratio
from ..numbers.speakers import holds_without_each
from ..numbers.tolerance import RATIO, ratio_at_least
from ..numbers.verdict_counts import VerdictCounts
from .evidence import Evidence


@dataclass(frozen=True)
class AntiPatternRules:
    """When a pattern is inverted.

    Attributes:
        min_observations: number of reports, undecayed, that a pattern needs before it can become an
            anti-pattern.
        failure_share: share of failures, undecayed, from which a pattern becomes an anti-pattern.
        neutral_is_failure: whether neutral outcomes count as failures; if not, they are left out of
            the share.
        examples_kept: number of newest example tasks that a pattern is shown with.
    """

    min_observations: int = 3
    failure_share: float = 0.6
    neutral_is_failure: bool = True
    examples_kept: int = 10

    def __post_init__(self) -> None:
        require(self.min_observations >= 1, "min_observations must be at least 1")
        require_ratio("failure_share", self.failure_share)
        require(self.examples_kept >= 1, "examples_kept must be at least 1")
        require(
            self.failure_share > RATIO,
            "failure_share must be above 0",
        )

    def failures(self, evidence: VerdictCounts) -> int:
        """Return the failures among the observations."""
        return evidence.harmful + (evidence.neutral if self.neutral_is_failure else 0)

    def observations(self, evidence: VerdictCounts) -> int:
        """Return the observations that count: successes and failures."""
        return evidence.helpful + self.failures(evidence)


def is_failing(rules: AntiPatternRules, evidence: Evidence) -> bool:
    """Return whether tasks fail often enough for a warning, by their success alone.

    Inversion also counts outcomes that scored neutral, and a success that was slow or had errors is
    one of these: nobody is warned that it fails.
    """
    if evidence.observations < rules.min_observations:
        return False
    return _fails(rules, evidence.failed, evidence.observations) and holds_without_each(
        evidence.speakers,
        lambda part: _fails(
            rules,
            evidence.failed - (part.observations - part.succeeded),
            evidence.observations - part.observations,
        ),
    )


def _fails(rules: AntiPatternRules, failures: int, total: int) -> bool:
    return total > 0 and ratio_at_least(failures / total, rules.failure_share)


def is_inverted(rules: AntiPatternRules, evidence: Evidence) -> bool:
    """Return whether the evidence makes an anti-pattern, also without any one source."""
    if rules.observations(evidence) < rules.min_observations:
        return False

    def fails(counts: VerdictCounts) -> bool:
        return _fails(rules, rules.failures(counts), rules.observations(counts))

    return fails(evidence) and evidence.agrees(fails)
