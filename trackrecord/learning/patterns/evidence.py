"""Evidence: the sums that a pattern's standing is derived from.

In `store/patterns` outcomes are added to the sums by `sums`, and replaced ones subtracted from them
by `taking_back`. The sums are read by `transitions.evidence_of`, by `read` also as of a past
moment, and by `over_time` for many moments. `history` replays them where outcomes are forgotten,
and `store/intake/rebuild.py` counts them anew. Whoever changes what counts as evidence, a cap for
each agent say, changes all of these, and where it needs more than is kept, the `tables` with a
revision, and `learning/outcomes/recorded_rules`, so that a rebuild is due. Which agent reported an
outcome is known to `wire/run_digest.py`, not to `ScoredOutcome`, and not kept beside the sums.
Feedback comes in by `store/patterns/feedback`.
"""

from dataclasses import dataclass

from ..numbers.verdict_counts import VerdictCounts


@dataclass(frozen=True)
class Evidence(VerdictCounts):
    """The recorded verdicts on one pattern, as of one moment: one from each outcome, and feedback.

    Attributes:
        succeeded: outcomes whose task reached its goal, a raw count. A verdict is another matter: a
            success that was slow or had errors can score neutral.
        feedback: verdicts that were given as feedback on the pattern alone, of no outcome.
        helpful_feedback: those of them that are helpful.
    """

    succeeded: int = 0
    feedback: int = 0
    helpful_feedback: int = 0

    @property
    def observations(self) -> int:
        """All outcomes that touched the pattern, a raw count."""
        return self.reports - self.feedback

    @property
    def scored_helpful(self) -> int:
        """Outcomes that scored helpful, a raw count."""
        return self.helpful - self.helpful_feedback

    @property
    def failed(self) -> int:
        """Outcomes whose task did not reach its goal, a raw count."""
        return self.observations - self.succeeded

    @property
    def harmful_share(self) -> float:
        """Decayed harmful ÷ decayed total, 0 without evidence."""
        total = self.decayed_total
        return self.decayed_harmful / total if total > 0 else 0.0
