"""Speakers: whose word counts for how much, where several of them speak.

One source alone can be wrong, or lie. Where others speak, what it says counts as evidence, but no
state rests on it alone: each must still hold without any one speaker. Where nobody else speaks,
there is nobody to agree with, and everything counts in full.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from .checks import require
from .speaker_names import PERSON
from .tolerance import COUNT, RATIO
from .verdict_counts import VerdictCounts

# An agent's own word, and a guess, against tests, evaluators and people.
CLAIM_WEIGHT: Final = 0.5
# With few speakers no share is smaller than this many even ones.
_EVEN_SHARES: Final = 1.5


@dataclass(frozen=True)
class CapRules:
    """The rules that bound the weight of one source among others.

    Attributes:
        source_share: largest share of a pattern's decayed count that one source has where others
            speak, but 1.5 even shares at least. With 1, one source alone is enough for everything.
    """

    source_share: float = 0.05

    def __post_init__(self) -> None:
        require(0 < self.source_share <= 1, "source_share must be above 0 and at most 1")

    @property
    def are_on(self) -> bool:
        """Return whether sources are capped, and must agree."""
        return self.source_share < 1


@dataclass(frozen=True)
class SpeakerCounts(VerdictCounts):
    """The verdicts of one speaker on one pattern.

    Attributes:
        speaker: whose word they are.
        succeeded: outcomes whose task reached its goal, a raw count.
        feedback: verdicts that are feedback, of no outcome.
    """

    speaker: str = ""
    succeeded: int = 0
    feedback: int = 0

    @property
    def observations(self) -> int:
        """Outcomes, a raw count."""
        return self.reports - self.feedback


def is_enough(speakers: Collection[str]) -> bool:
    """Return whether these speakers need no confirmation: two agree, or a person is among them."""
    return len(set(speakers)) > 1 or PERSON in speakers


def cap_of(rules: CapRules, weights: Sequence[float]) -> float:
    """Return the most that one of several sources counts for.

    It is the level L at which L is that share of the sum of min(w, L); infinite if none exceeds it.
    Sources that weigh nothing, or no more than rounding leaves, share with nobody.
    """
    rising = sorted(weight for weight in weights if weight > COUNT)
    share = max(rules.source_share, _EVEN_SHARES / len(rising)) if rising else 1.0
    rest = sum(rising)
    # From the largest one down: those above the level count as much as the level.
    for above in range(len(rising)):
        level = share * rest / (1 - share * above) if share * above < 1 else float("inf")
        if level >= rising[-1 - above] * (1 - RATIO):
            return level if above else float("inf")
        rest -= rising[-1 - above]
    return float("inf")


def capped(rules: CapRules, parts: Iterable[SpeakerCounts]) -> tuple[SpeakerCounts, ...]:
    """Return the counts of several speakers with their decayed parts capped; a person's are not."""
    weighed = [(part.speaker, part.decayed_helpful + part.decayed_harmful, part) for part in parts]
    weighed.sort(key=itemgetter(0))
    cap = cap_of(rules, [total for speaker, total, _ in weighed if speaker != PERSON])
    return tuple(
        [
            part if total <= cap or speaker == PERSON else _scaled(part, cap / total)
            for speaker, total, part in weighed
        ]
    )


def _scaled(part: SpeakerCounts, factor: float) -> SpeakerCounts:
    return SpeakerCounts(
        part.helpful,
        part.neutral,
        part.harmful,
        part.decayed_helpful * factor,
        part.decayed_harmful * factor,
        part.speaker,
        part.succeeded,
        part.feedback,
    )


def holds_without_each(
    parts: Sequence[SpeakerCounts], holds: Callable[[SpeakerCounts], bool]
) -> bool:
    """Return whether something holds without any one source; also if there is only one.

    Args:
        parts: the counts of each speaker; empty where only one speaks in the project.
        holds: whether it holds without the given counts.
    """
    return all(holds(part) for part in parts if part.speaker != PERSON)
