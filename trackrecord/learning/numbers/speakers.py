"""Speakers: the rules of how much the word of each counts, for everything that is learnt.

A *speaker* is the source that a report names, `@local` for what is captured on this machine, or the
name of a token. A name alone can be invented: *known* are `@local`, tokens and persons.

1. Counts come from every speaker, in full. A claim weighs half only for an item that has verified
   verdicts itself (`weighed`).
2. Of an item that several report and disagree about, none has more than its share (`shares`).
   Whoever speaks of something else changes nothing.
3. What an agent reads word for word comes from a known speaker (`may_be_quoted`), and a memory is
   a fact for everyone once a second one or a person says so (`is_enough`).
4. Where several work on the same kind of task, what one alone tells ranks no higher than what two
   tell (`tells_alone`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from operator import attrgetter
from typing import Final

from .checks import require
from .speaker_names import LOCAL, PERSON, TOKEN
from .tolerance import COUNT, RATIO
from .verdict_counts import VerdictCounts
from .wilson import wilson_interval

# An agent's own word, and a guess, against tests, evaluators and people.
CLAIM_WEIGHT: Final = 0.5
# With few speakers no share is smaller than this many even ones.
_EVEN_SHARES: Final = 1.5


@dataclass(frozen=True)
class CapRules:
    """The rules that bound the weight of one source among others.

    Attributes:
        source_share: largest share of an item's decayed count that one source has where others
            disagree, but 1.5 even shares at least. With 1, sources are never capped.
    """

    source_share: float = 0.05

    def __post_init__(self) -> None:
        require(0 < self.source_share <= 1, "source_share must be above 0 and at most 1")


@dataclass(frozen=True)
class SpeakerCounts(VerdictCounts):
    """The verdicts of one speaker on one pattern.

    Attributes:
        speaker: whose word they are.
        succeeded: outcomes whose task reached its goal, a raw count.
        feedback: verdicts that are feedback, of no outcome.
        claimed_helpful: the part of the decayed helpful ones that are only claims.
        claimed_harmful: the part of the decayed harmful ones that are only claims.
        share: the part of all these that counts.
    """

    speaker: str = ""
    succeeded: int = 0
    feedback: int = 0
    claimed_helpful: float = 0.0
    claimed_harmful: float = 0.0
    share: float = 1.0

    @property
    def observations(self) -> int:
        """Outcomes, a raw count."""
        return self.reports - self.feedback


def is_known(speaker: str) -> bool:
    """Return whether a speaker's name cannot be invented."""
    return speaker in (LOCAL, PERSON) or speaker.startswith(TOKEN)


def is_enough(speakers: Collection[str]) -> bool:
    """Return whether these speakers need no confirmation: two agree, or a person is among them."""
    return len(set(speakers)) > 1 or PERSON in speakers


def may_be_quoted(
    tellers: Collection[str], rivals: Collection[str], everyone: Collection[str]
) -> bool:
    """Return whether agents may read word for word what these speakers told.

    Args:
        tellers: who told it.
        rivals: who told the like, with these: where two of them are known, two must tell it.
        everyone: all that ever spoke in the project: who is alone is believed.
    """
    if len(everyone) <= 1 or PERSON in tellers:
        return True
    known = sum(map(is_known, set(tellers)))
    return known > 1 or (known == 1 and sum(map(is_known, set(rivals))) == 1)


def tells_alone(tellers: Collection[str], workers: Collection[str]) -> bool:
    """Return whether one alone tells something, of tasks that others work on, too.

    Args:
        tellers: who tells it.
        workers: who works on such tasks.
    """
    return len(workers) > 1 and not is_enough(tellers)


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


def shares(rules: CapRules, said: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return the part of each speaker's word on one item that counts, of those that are capped.

    Args:
        rules: the share.
        said: by speaker, how much speaks for the item and how much against it.
    """
    weights = {who: good + bad for who, (good, bad) in said.items() if who != PERSON}
    if rules.source_share >= 1 or len(weights) < 2 or not disagree(said.values()):
        return {}
    cap = cap_of(rules, [*weights.values()])
    return {who: cap / weight for who, weight in weights.items() if weight > cap}


def disagree(said: Collection[tuple[float, float]]) -> bool:
    """Return whether what one says lies apart from what the others say, by their 95% intervals."""
    goods, bads = fsum(good for good, _ in said), fsum(bad for _, bad in said)
    if min(goods, bads) <= COUNT:
        return False
    for good, bad in said:
        low, high = wilson_interval(good, bad)
        others_low, others_high = wilson_interval(max(goods - good, 0.0), max(bads - bad, 0.0))
        if high < others_low or others_high < low:
            return True
    return False


def weighed(rules: CapRules, parts: Iterable[SpeakerCounts]) -> tuple[SpeakerCounts, ...]:
    """Return the counts of all speakers on one pattern as they count, by their names."""
    parts = sorted(parts, key=attrgetter("speaker"))
    if any(map(_claimed, parts)) and any(
        part.decayed_total - _claimed(part) > COUNT for part in parts
    ):
        parts = [_with_claims_halved(part) if _claimed(part) else part for part in parts]
    if len(parts) < 2:
        return tuple(parts)
    capped = shares(
        rules, {part.speaker: (part.decayed_helpful, part.decayed_harmful) for part in parts}
    )
    return tuple(
        _scaled(part, capped[part.speaker]) if part.speaker in capped else part for part in parts
    )


def _claimed(part: SpeakerCounts) -> float:
    return 0.0 if part.speaker == PERSON else part.claimed_helpful + part.claimed_harmful


def _with_claims_halved(part: SpeakerCounts) -> SpeakerCounts:
    less = 1 - CLAIM_WEIGHT
    return replace(
        part,
        decayed_helpful=max(part.decayed_helpful - less * part.claimed_helpful, 0.0),
        decayed_harmful=max(part.decayed_harmful - less * part.claimed_harmful, 0.0),
    )


def _scaled(part: SpeakerCounts, share: float) -> SpeakerCounts:
    return replace(
        part,
        decayed_helpful=part.decayed_helpful * share,
        decayed_harmful=part.decayed_harmful * share,
        share=share,
    )
