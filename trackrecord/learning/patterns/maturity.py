"""Maturity: how far a pattern can be trusted, derived from its evidence when it is read.

A pattern that keeps failing is turned into a warning, an anti-pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING

from ..numbers.checks import require, require_positive, require_ratio
from ..numbers.tolerance import (
    COUNT,
    RATIO,
    count_at_least,
    ratio_above,
    ratio_at_least,
    ratio_below,
)
from ..numbers.wilson import wilson_interval

if TYPE_CHECKING:
    # Agents know the states' names, and do without the evidence.
    from ..numbers.verdict_counts import VerdictCounts
    from .evidence import Evidence


class Maturity(StrEnum):
    """The states a pattern can be in, most trusted first."""

    PROVEN = "proven"
    ESTABLISHED = "established"
    CANDIDATE = "candidate"
    DEPRECATED = "deprecated"


@dataclass(frozen=True)
class MaturityRules:
    """The thresholds of maturity, and the factor of each state for scores.

    Attributes:
        min_evidence: decayed number of reports that a pattern needs to be more than a candidate.
        deprecated_above: a pattern whose decayed harmful share is above this value is deprecated.
        proven_from: decayed number of helpful reports that a pattern needs to be proven.
        proven_below: a pattern is proven only while its decayed harmful share is below this value.
        proven_multiplier: factor by which a proven pattern's score is multiplied.
        established_multiplier: factor by which an established pattern's score is multiplied.
        candidate_multiplier: factor by which a candidate's score is multiplied.
        deprecated_multiplier: factor by which a deprecated pattern's score is multiplied.
        half_life_days: days after which an outcome counts half for a pattern; if unset, that of
            `decay`.
    """

    min_evidence: float = 3.0
    deprecated_above: float = 0.3
    proven_from: float = 5.0
    proven_below: float = 0.15
    proven_multiplier: float = 1.5
    established_multiplier: float = 1.0
    candidate_multiplier: float = 0.5
    deprecated_multiplier: float = 0.0
    half_life_days: float | None = None

    def __post_init__(self) -> None:
        require_positive("min_evidence", self.min_evidence)
        require_positive("proven_from", self.proven_from)
        if self.half_life_days is not None:
            require_positive("half_life_days", self.half_life_days)
        require_ratio("deprecated_above", self.deprecated_above)
        require_ratio("proven_below", self.proven_below)
        require(
            self.proven_below <= self.deprecated_above,
            "proven_below must not lie above deprecated_above",
        )
        require(
            0 <= self.deprecated_multiplier
            <= self.candidate_multiplier
            <= self.established_multiplier
            <= self.proven_multiplier
            < inf,
            "deprecated_multiplier, candidate_multiplier, established_multiplier and "
            "proven_multiplier must be finite and rise in this order",
        )  # fmt: skip
        require(
            self.min_evidence > COUNT,
            f"min_evidence must lie above {COUNT}: no evidence is not enough",
        )

    def multiplier(self, state: Maturity) -> float:
        """Return the factor by which a state multiplies a score."""
        return {
            Maturity.PROVEN: self.proven_multiplier,
            Maturity.ESTABLISHED: self.established_multiplier,
            Maturity.CANDIDATE: self.candidate_multiplier,
            Maturity.DEPRECATED: self.deprecated_multiplier,
        }[state]


def maturity_of(rules: MaturityRules, evidence: Evidence) -> Maturity:
    """Return the state that follows from a pattern's evidence.

    Where sources disagree, one alone deprecates nothing. Nor is a pattern trusted against its
    tasks, as they are shown: without weights or feedback.
    """
    enough = count_at_least(evidence.decayed_total, rules.min_evidence)
    share = evidence.harmful_share
    if enough and ratio_above(share, rules.deprecated_above):
        is_confirmed = evidence.is_confirmed(
            lambda own: ratio_above(_share(own), rules.deprecated_above)
        )
        return Maturity.DEPRECATED if is_confirmed else Maturity.CANDIDATE
    if is_little(rules, evidence) or _fails_too_often(rules, evidence):
        return Maturity.CANDIDATE
    helped_enough = count_at_least(evidence.decayed_helpful, rules.proven_from)
    is_proven = helped_enough and ratio_below(share, rules.proven_below)
    return Maturity.PROVEN if is_proven else Maturity.ESTABLISHED


def is_little(rules: MaturityRules, evidence: Evidence) -> bool:
    """Return whether the evidence is too little for a judgement."""
    return not count_at_least(evidence.decayed_total, rules.min_evidence)


def _fails_too_often(rules: MaturityRules, evidence: Evidence) -> bool:
    failed, tasks = evidence.tasks_heard
    return tasks > 0 and ratio_above(failed / tasks, rules.deprecated_above)


def in_comparison(state: Maturity, goes_worse: bool | None) -> Maturity:
    """Return the state of a pattern by its counts where these can be compared with other tasks'.

    Where such tasks almost certainly go worse with it, it is not trusted; where they do not, it is
    not deprecated. What its counts and the comparison disagree on stays a candidate.

    Args:
        state: by its counts alone.
        goes_worse: whether such tasks go worse with it; None if there is nothing to compare.
    """
    if goes_worse is None or state is Maturity.CANDIDATE:
        return state
    return state if goes_worse == (state is Maturity.DEPRECATED) else Maturity.CANDIDATE


def _share(counts: VerdictCounts) -> float:
    total = counts.decayed_total
    return counts.decayed_harmful / total if total > 0 else 0.0


def base_score(evidence: Evidence) -> float:
    """Return a cautious success rate, 0..1: the lower end of Wilson's 95% interval.

    It is used because a plain rate lets one lucky run (1 of 1) beat a hundred good ones (95 of
    100), and so does Laplace's (s+1)/(n+2) against 60 of 100; here they stand at 0.21, 0.89 and
    0.50.
    """
    if evidence.decayed_total <= 0:
        return 0.0
    return wilson_interval(evidence.decayed_helpful, evidence.decayed_harmful)[0]


def pattern_score(rules: MaturityRules, evidence: Evidence, state: Maturity) -> float:
    """Return the score for ranking: the cautious success rate times the state's multiplier."""
    return base_score(evidence) * rules.multiplier(state)


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
