"""What the sections of patterns and warnings offer, by the kinds of task they were seen in."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .advice_document import AdviceDocument, PatternEntry
from .document import RankedPattern
from .known import LEAST_RELEVANCE, Known
from .offered import FEW, Offer, Offered, best_first

# Runs of a kind of task that make a pattern half as relevant to it as can be.
_HALF_KNOWN: Final = 2
# A kind that a task is less probably of tells nothing.
_LEAST_KIND: Final = 0.05


@dataclass(frozen=True)
class _Patterns:
    """A field's patterns as they are offered, made once for both documents.

    Attributes:
        advice: what they were made with.
        everything: all that are not refuted, best first.
        by_kind: for each kind of task, the places of its patterns in `everything`, and how sure it
            is that they belong to such tasks.
        refuted: the ids of those that are not offered.
    """

    advice: AdviceDocument | None
    everything: Sequence[Offer]
    by_kind: Mapping[int, Sequence[tuple[int, float]]] = field(default_factory=dict)
    refuted: frozenset[str] = frozenset()


def warnings_for(known: Known) -> Offered:
    """Offer warnings by the kinds of task that their patterns were seen in."""
    return _patterns_for(known, "anti_patterns", known.document.anti_patterns)


def patterns_for(known: Known) -> Offered:
    """Offer patterns by the kinds of task that they were seen in."""
    return _patterns_for(known, "patterns", known.document.patterns)


def _patterns_for(known: Known, name: str, entries: Sequence[RankedPattern]) -> Offered:
    made: _Patterns | None = known.document.derived.get(("offers", name))
    if made is None or made.advice is not known.advice:
        made = _made(known, entries)
        known.document.derived["offers", name] = made
    if not known.task or known.advice is None:
        return Offered(made.everything, pool=entries, refuted=made.refuted)
    related = _related(known, made)
    return Offered(related, made.everything[:FEW], entries, made.refuted)


def _related(known: Known, made: _Patterns) -> list[Offer]:
    relevance: defaultdict[int, float] = defaultdict(float)
    for kind, probable in sorted(known.expectation.kinds.items()):
        if probable >= _LEAST_KIND:
            for place, sure in made.by_kind.get(kind, ()):
                relevance[place] += probable * sure
    return best_first(
        Offer(offer.entry, relevant, relevant * offer.value, "kinds")
        for place, relevant in relevance.items()
        if relevant >= LEAST_RELEVANCE
        for offer in (made.everything[place],)
    )


def _made(known: Known, entries: Sequence[RankedPattern]) -> _Patterns:
    estimates = known.patterns
    refuted = frozenset(each.id for each in entries if _is_refuted(estimates, each))
    everything = best_first(
        Offer(each, 1.0, _strength(estimates, each), "project")
        for each in entries
        if each.id not in refuted
    )
    by_kind: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for place, offer in enumerate(everything):
        entry = estimates.get(_slug(offer.entry))
        for kind, runs in entry.kinds.items() if entry is not None else ():
            by_kind[kind].append((place, runs / (runs + _HALF_KNOWN)))
    return _Patterns(known.advice, everything, by_kind, refuted)


def _slug(pattern: RankedPattern) -> str:
    return pattern.id.removeprefix("anti-") if pattern.is_negative else pattern.id


def _strength(estimates: Mapping[str, PatternEntry], pattern: RankedPattern) -> float:
    entry = estimates.get(_slug(pattern))
    return pattern.score if entry is None or pattern.is_negative else entry.expected.order_key


def _is_refuted(estimates: Mapping[str, PatternEntry], pattern: RankedPattern) -> bool:
    """Return whether such tasks go better without a pattern, or with what a warning names."""
    entry = estimates.get(_slug(pattern))
    if entry is None:
        return False
    expected = entry.expected
    if pattern.is_negative:
        return expected.effect is not None and expected.is_worth_recommending
    return not expected.is_worth_recommending
