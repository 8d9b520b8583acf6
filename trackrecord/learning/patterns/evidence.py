"""Evidence: the sums that a pattern's standing is derived from.

What an outcome says of its patterns is whether its task succeeded, whatever it scored: a score also
counts time, errors and retries, and a quick failure scores as much as a slow success.

What an outcome adds is said in `store/ledger/subjects.py`, and kept by speaker. It is read by
`store/patterns/evidence.py`; `heard` weighs it then. Whoever changes what counts as evidence
changes these two, and `learning/outcomes/recorded_rules.py`, so that a rebuild is due.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import fsum

from ..numbers.speakers import CapRules, SpeakerCounts, disagree, is_enough, weighed
from ..numbers.verdict_counts import VerdictCounts


@dataclass(frozen=True)
class Evidence(VerdictCounts):
    """The recorded verdicts on one pattern, as of one moment: one from each outcome, and feedback.

    Attributes:
        succeeded: outcomes whose task reached its goal, a raw count.
        feedback: verdicts that were given as feedback on the pattern alone, of no outcome.
        helpful_feedback: those of them that are helpful.
        speakers: the counts of each speaker, as they count; empty where they are not known.
        is_disputed: whether they disagree.
    """

    succeeded: int = 0
    feedback: int = 0
    helpful_feedback: int = 0
    speakers: tuple[SpeakerCounts, ...] = ()
    is_disputed: bool = False

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

    @property
    def tasks_heard(self) -> tuple[float, float]:
        """The tasks that failed and all of them, as far as each speaker counts; undecayed."""
        unheard = [(1 - part.share, part) for part in self.speakers if part.share < 1]
        lost = fsum(less * (part.observations - part.succeeded) for less, part in unheard)
        return (
            self.failed - lost,
            self.observations - fsum(less * part.observations for less, part in unheard),
        )

    @property
    def verdicts_heard(self) -> tuple[float, float]:
        """The harmful verdicts and all of them, as far as each speaker counts; undecayed."""
        unheard = [(1 - part.share, part) for part in self.speakers if part.share < 1]
        harmful = self.harmful - fsum(less * part.harmful for less, part in unheard)
        return harmful, harmful + self.helpful - fsum(less * part.helpful for less, part in unheard)

    def grown(self, factor: float) -> "Evidence":
        """Return it with the weight of another moment; what the parts say, they say at any time."""
        return replace(
            self,
            decayed_helpful=self.decayed_helpful * factor,
            decayed_harmful=self.decayed_harmful * factor,
        )

    def is_confirmed(self, says: Callable[[VerdictCounts], bool]) -> bool:
        """Return whether two sources, or a person, each say so; also where all agree.

        Args:
            says: whether the verdicts of one source, of which there is at least one, say so.
        """
        confirming = [each.speaker for each in self.speakers if each.reports and says(each)]
        return not self.is_disputed or is_enough(confirming)


def heard(rules: CapRules, evidence: Evidence, parts: Iterable[SpeakerCounts]) -> Evidence:
    """Return the evidence as it counts, see `numbers/speakers`.

    Args:
        rules: the share of a source.
        evidence: all verdicts.
        parts: the same, by speaker; none where they are not known.
    """
    parts = tuple(parts)
    known = weighed(rules, parts)
    is_disputed = (
        len(parts) > 1
        and rules.source_share < 1
        and disagree([(part.decayed_helpful, part.decayed_harmful) for part in parts])
    )
    given = set(map(id, parts))
    if all(id(part) in given for part in known):
        return replace(evidence, speakers=known, is_disputed=is_disputed)
    return replace(
        evidence,
        decayed_helpful=fsum(part.decayed_helpful for part in known),
        decayed_harmful=fsum(part.decayed_harmful for part in known),
        speakers=known,
        is_disputed=is_disputed,
    )
