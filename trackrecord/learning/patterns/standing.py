"""A pattern's standing: everything that its evidence and the rules say about it."""

from dataclasses import dataclass

from ..strategies.identity import anti_id
from .antipatterns import AntiPatternRules, is_failing, is_inverted
from .decisions import Decision
from .evidence import Evidence
from .maturity import Maturity, MaturityRules, base_score, maturity_of, pattern_score


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
        is_failing: whether its tasks fail often enough for a warning.
        success_count: outcomes that scored helpful.
        failure_count: outcomes that count as failures for inversion.
        decision: the decision by hand that its state comes from, None where the evidence decides.
    """

    facts: PatternFacts
    evidence: Evidence
    state: Maturity
    multiplier: float
    score: float
    is_inverted: bool
    is_failing: bool
    success_count: int
    failure_count: int
    decision: Decision | None = None

    @property
    def id(self) -> str:
        """The id it is shown under: `anti-<slug>` once it is inverted."""
        return anti_id(self.facts.slug) if self.is_inverted else self.facts.slug

    @property
    def is_warning(self) -> bool:
        """Whether agents are warned: an anti-pattern whose tasks really fail."""
        return self.is_inverted and self.is_failing

    @property
    def failure_score(self) -> float:
        """The score of warnings: the cautious failure rate of the raw counts, 0..1."""
        counts = Evidence(
            decayed_helpful=float(self.failure_count), decayed_harmful=float(self.success_count)
        )
        return base_score(counts)


def standing_of(
    maturity: MaturityRules,
    antipatterns: AntiPatternRules,
    facts: PatternFacts,
    evidence: Evidence,
    decision: Decision | None = None,
) -> Standing:
    """Derive a pattern's standing; only a decision by hand is ever stored."""
    state = decision.state if decision is not None else maturity_of(maturity, evidence)
    return Standing(
        facts=facts,
        evidence=evidence,
        state=state,
        multiplier=maturity.multiplier(state),
        score=pattern_score(maturity, evidence, state),
        is_inverted=is_inverted(antipatterns, evidence),
        is_failing=is_failing(antipatterns, evidence),
        success_count=evidence.helpful,
        failure_count=antipatterns.failures(evidence),
        decision=decision,
    )
