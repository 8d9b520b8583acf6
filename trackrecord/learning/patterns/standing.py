"""A pattern's standing: the conclusions from its evidence and the rules."""

from dataclasses import dataclass

from ..text.slug import anti_id
from .decisions import Decision, DecisionAction
from .evidence import Evidence
from .maturity import (
    AntiPatternRules,
    Maturity,
    MaturityRules,
    base_score,
    in_comparison,
    is_inverted,
    is_little,
    maturity_of,
    pattern_score,
)


@dataclass(frozen=True)
class PatternFacts:
    """The stored facts about a pattern besides its evidence.

    Attributes:
        slug: its identity in the project.
        kind: "strategy" or "named".
        content: its text.
        last_validated: when helpful or harmful evidence last came, seconds since the epoch.
        tags: those that it was given by hand.
    """

    slug: str
    kind: str
    content: str
    last_validated: float | None
    tags: tuple[str, ...] = ()

    @property
    def all_tags(self) -> tuple[str, ...]:
        """Everything that it is found by: its kind, then its tags."""
        return (self.kind, *self.tags)


@dataclass(frozen=True)
class Standing:
    """A pattern's standing at one moment.

    Attributes:
        facts: what is recorded of it.
        evidence: its counts, raw and decayed.
        state: its maturity.
        multiplier: what its state multiplies its score by.
        score: the score by which recommendations are ranked.
        is_inverted: whether it has become an anti-pattern.
        decision: the decision by hand that its state comes from, None where the evidence decides.
        goes_worse: whether its tasks almost certainly go worse than such tasks do otherwise; None
            if there is nothing to compare.
        is_little: whether its evidence is too little for a judgement.
    """

    facts: PatternFacts
    evidence: Evidence
    state: Maturity
    multiplier: float
    score: float
    is_inverted: bool
    decision: Decision | None = None
    goes_worse: bool | None = None
    is_little: bool = False

    @property
    def id(self) -> str:
        """The id it is shown under: `anti-<slug>` once it is inverted."""
        return anti_id(self.facts.slug) if self.is_inverted else self.facts.slug

    @property
    def failure_score(self) -> float:
        """The score of warnings: the cautious failure rate of the raw counts, 0..1."""
        counts = Evidence(
            decayed_helpful=float(self.evidence.failed),
            decayed_harmful=float(self.evidence.succeeded),
        )
        return base_score(counts)


def standing_of(
    maturity: MaturityRules,
    antipatterns: AntiPatternRules,
    facts: PatternFacts,
    evidence: Evidence,
    decision: Decision | None = None,
    goes_worse: bool | None = None,
) -> Standing:
    """Derive a pattern's standing; only a decision by hand is ever stored.

    Args:
        maturity: the rules of its state.
        antipatterns: the rules of warnings.
        facts: what is recorded of it.
        evidence: its counts.
        decision: the decision by hand in force.
        goes_worse: whether its tasks almost certainly go worse than such tasks do otherwise; None
            if there is nothing to compare, so that its counts alone decide.
    """
    # What a person vouches for is never warned of.
    is_promoted = decision is not None and decision.action is DecisionAction.PROMOTE
    inverted = is_inverted(antipatterns, evidence) and goes_worse is not False and not is_promoted
    state = in_comparison(maturity_of(maturity, evidence), goes_worse)
    if decision is not None:
        state = decision.state
    elif inverted and state is not Maturity.DEPRECATED:
        state = Maturity.CANDIDATE
    return Standing(
        facts=facts,
        evidence=evidence,
        state=state,
        multiplier=maturity.multiplier(state),
        score=pattern_score(maturity, evidence, state),
        is_inverted=inverted,
        decision=decision,
        goes_worse=goes_worse,
        is_little=is_little(maturity, evidence),
    )
