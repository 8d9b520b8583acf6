"""Evidence: the sums that a pattern's standing is derived from.

What an outcome says of its patterns is whether its task succeeded, whatever it scored: a score also
counts time, errors and retries, and a quick failure scores as much as a slow success.

In `store/patterns` outcomes are added to the sums by `sums`, and replaced ones subtracted from them
by `subtract`. The sums are read by `transitions.evidence_of`, by `read` also as of a past
moment, and by `over_time` for many moments. `history` replays them where outcomes are forgotten,
and `store/intake/rebuild.py` counts them anew. Whoever changes what counts as evidence, a cap for
each agent say, changes all of these, and where it needs more than is kept, the `tables` with a
revision, and `learning/outcomes/recorded_rules`, so that a rebuild is due. The sums of each speaker
are kept beside those of all, in `speakers`; `heard` caps them when they are read. Feedback comes in
by `store/patterns/feedback`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import fsum

from ..numbers.speakers import CapRules, SpeakerCounts, capped, holds_without_each, is_enough
from ..numbers.verdict_counts import VerdictCounts


@dataclass(frozen=True)
class Evidence(VerdictCounts):
    """The recorded verdicts on one pattern, as of one moment: one from each outcome, and feedback.

    Attributes:
        succeeded: outcomes whose task reached its goal, a raw count.
        feedback: verdicts that were given as feedback on the pattern alone, of no outcome.
        helpful_feedback: those of them that are helpful.
        speakers: the counts of each speaker, capped; empty where only one speaks in the project.
    """

    succeeded: int = 0
    feedback: int = 0
    helpful_feedback: int = 0
    speakers: tuple[SpeakerCounts, ...] = ()

    @property
    def observations(self) -> int:
        """All outcomes that touched the pattern, a raw count."""
        return self.reports - self.feedback

    @property
    def failed(self) -> int:
        """Outcomes whose task did not reach its goal, a raw count."""
        return self.observations - self.succeeded

    @property
    def harmful_share(self) -> float:
        """Decayed harmful ÷ decayed total, 0 without evidence."""
        total = self.decayed_total
        return self.decayed_harmful / total if total > 0 else 0.0

    def agrees(self, holds: Callable[["Evidence"], bool]) -> bool:
        """Return whether something holds of the evidence without any one source, see `speakers`.

        Args:
            holds: whether it holds of evidence with at least one verdict.
        """

        def holds_without(part: SpeakerCounts) -> bool:
            rest = Evidence(
                self.helpful - part.helpful,
                self.neutral - part.neutral,
                self.harmful - part.harmful,
                max(self.decayed_helpful - part.decayed_helpful, 0.0),
                max(self.decayed_harmful - part.decayed_harmful, 0.0),
                self.succeeded - part.succeeded,
                self.feedback - part.feedback,
            )
            return rest.reports > 0 and holds(rest)

        return holds_without_each(self.speakers, holds_without)

    def is_confirmed(self, says: Callable[[VerdictCounts], bool]) -> bool:
        """Return whether two sources, or a person, each say so; also if there is only one speaker.

        Unlike `agrees`, no source can prevent it by contradicting the others.

        Args:
            says: whether the verdicts of one source, of which there is at least one, say so.
        """
        confirming = [each.speaker for each in self.speakers if each.reports and says(each)]
        return not self.speakers or is_enough(confirming)


def heard(rules: CapRules, evidence: Evidence, parts: Iterable[SpeakerCounts]) -> Evidence:
    """Return the evidence as it counts where several speak: no source beyond its share.

    Args:
        rules: the share.
        evidence: all verdicts.
        parts: the same, by speaker; none where only one speaks in the project.
    """
    known = capped(rules, parts) if rules.are_on else ()
    if not known:
        return evidence
    return replace(
        evidence,
        decayed_helpful=fsum(part.decayed_helpful for part in known),
        decayed_harmful=fsum(part.decayed_harmful for part in known),
        speakers=known,
    )
