"""Entries of the sections of patterns and warnings, by the kinds of task they were seen in.

A pattern is recommended against what such tasks do otherwise, whatever its own rate, and judged by
its own rate only where there is nothing to compare. A draw may also put forward what is not
recommended, while little is known of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final, Literal

import msgspec

from trackrecord.learning.advice.texts import compared_line, counted_line, points
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.learning.patterns.maturity import Maturity, in_comparison
from trackrecord.learning.text.language import Language

from ..documents.advice_document import Expected
from ..documents.rankings_document import RankedPattern
from .inputs import LEAST_RELEVANCE, PromptInputs
from .offer import FEW, Offer, SectionOffers, best_first, with_offers

# A kind that a task is less probably of tells nothing.
_LEAST_KIND: Final = 0.05
# Of the patterns that are not recommended, no more are tried on one task.
_MOST_TRIED: Final = 2
_TRIALS: Final = "trials"
_Part = Literal["recommended", "held back"]
_STATES: Final = {state.value: state for state in Maturity}
_LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")


@dataclass(frozen=True)
class _Offers:
    """Patterns as they are offered.

    Attributes:
        everything: all of them, best first.
        by_kind: for each kind of task, the places of its patterns in `everything`.
    """

    everything: Sequence[Offer] = ()
    by_kind: Mapping[int, Sequence[int]] = field(default_factory=dict)

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all of them."""
        return frozenset(each.entry.id for each in self.everything)


@dataclass(frozen=True)
class _Patterns:
    """A field's patterns, made once for both documents.

    Attributes:
        entries: all of them, as they are worded, but for those beside.
        beside: those that are deprecated or warned of, and not recommended all the same.
        recommended: those that are offered to any task.
        held_back: those that only a draw puts forward.
        refuted: the ids of the latter.
    """

    entries: tuple[RankedPattern, ...]
    recommended: _Offers
    held_back: _Offers
    refuted: frozenset[str]
    beside: tuple[RankedPattern, ...] = ()

    def part(self, name: _Part) -> _Offers:
        """Return those that are recommended, or those that are held back."""
        return self.recommended if name == "recommended" else self.held_back


def warnings_for(known: PromptInputs) -> SectionOffers:
    """Offer warnings by the kinds of task that their patterns were seen in."""
    made = _made_once(known, "anti_patterns")
    tried = {f"anti-{each.entry.id}" for each in _trials(known)}
    refuted = made.refuted | tried
    everything = _without(made.recommended.everything, tried)
    if not known.task or known.advice is None:
        return SectionOffers(everything, pool=made.entries, refuted=refuted)
    related = _without(_related(known, made.recommended), tried)
    return SectionOffers(related, everything[:FEW], made.entries, refuted)


def patterns_for(known: PromptInputs) -> SectionOffers:
    """Offer patterns by the kinds of task that they were seen in."""
    made, trials = _made_once(known, "patterns"), _trials(known)
    tried = frozenset(each.entry.id for each in trials)
    refuted = made.refuted - tried
    everything = related = made.recommended.everything
    if known.draw is not None:
        related = with_offers(_drawn(known, "recommended"), trials)
    elif known.can_tell:
        related = _related(known, made.recommended)
    if not known.task or known.advice is None:
        return SectionOffers(related, (), made.entries, refuted, tried, made.beside)
    if known.can_tell:
        return SectionOffers(related, everything[:FEW], made.entries, refuted, tried, made.beside)
    return SectionOffers((), related[:FEW], made.entries, refuted, tried, made.beside)


def _trials(known: PromptInputs) -> Sequence[Offer]:
    """Return the few patterns that are tried on the task without being recommended."""
    if known.draw is None:
        return ()
    if _TRIALS not in known.memo:
        known.memo[_TRIALS] = _found_trials(known)
    found: Sequence[Offer] = known.memo[_TRIALS]
    return found


def _found_trials(known: PromptInputs) -> list[Offer]:
    """Return the draw's first pattern for this task, and those it prefers without a warning.

    Only for what comes first does a warning give way: nobody is told to do and to avoid the same.
    """
    assert known.draw is not None  # noqa: S101 - for type checkers
    drawn, recommended = (_drawn(known, name) for name in ("held back", "recommended"))
    first = (
        drawn[0] if drawn and (not recommended or drawn[0].value > recommended[0].value) else None
    )
    warned = _made_once(known, "anti_patterns").recommended.ids - known.withdrawn
    return [
        offer
        for offer in drawn
        if offer is first
        or (offer.entry.id in known.draw.tried and f"anti-{offer.entry.id}" not in warned)
    ][:_MOST_TRIED]


def _drawn(known: PromptInputs, name: _Part) -> list[Offer]:
    """Return the relevant entries of one part of the patterns, as drawn."""
    memo = f"{name} patterns"
    if memo not in known.memo:
        known.memo[memo] = _found_drawn(known, name)
    found: list[Offer] = known.memo[memo]
    return found


def _found_drawn(known: PromptInputs, name: _Part) -> list[Offer]:
    if known.can_tell:
        return _as_drawn(known, _related(known, _made_once(known, "patterns").part(name)))
    # Few are drawn for a task; the others are put in order once.
    undrawn, prospects = known.once_for_both(
        f"{name} patterns by their means", partial(_by_their_means, name=name), kind=known.kind
    )
    return with_offers(undrawn, _as_drawn(known, prospects))


def _by_their_means(known: PromptInputs, name: _Part) -> tuple[list[Offer], list[Offer]]:
    """Return the patterns whose rates are never drawn, best first, and the others."""
    assert known.draw is not None  # noqa: S101 - for type checkers
    ids = {each.id for each in known.draw.prospects}
    everything = _made_once(known, "patterns").part(name).everything
    undrawn = _as_drawn(known, (each for each in everything if each.entry.id not in ids))
    return undrawn, [each for each in everything if each.entry.id in ids]


def _as_drawn(known: PromptInputs, offers: Iterable[Offer]) -> list[Offer]:
    if known.draw is None:
        return list(offers)
    rate = known.draw.rate
    return best_first(
        msgspec.structs.replace(offer, value=offer.relevance * rate(offer.entry.id, offer.value))
        for offer in offers
        if offer.entry.id not in known.withdrawn
    )


def _without(offers: Sequence[Offer], ids: set[str]) -> Sequence[Offer]:
    return [each for each in offers if each.entry.id not in ids] if ids else offers


def _made_once(known: PromptInputs, name: str) -> _Patterns:
    make = _made_of_warnings if name == "anti_patterns" else _made_of_patterns
    return known.once_for_both(f"offers of {name}", make, kind=known.kind)


def _related(known: PromptInputs, made: _Offers) -> list[Offer]:
    relevance: defaultdict[int, float] = defaultdict(float)
    for kind, probable in sorted(known.expectation.kinds.items()):
        if probable >= _LEAST_KIND:
            for place in made.by_kind.get(kind, ()):
                relevance[place] += probable
    return best_first(
        Offer(offer.entry, relevant, relevant * offer.value, "kinds")
        for place, relevant in relevance.items()
        if relevant >= LEAST_RELEVANCE
        for offer in (made.everything[place],)
    )


def _made_of_warnings(known: PromptInputs) -> _Patterns:
    entries = known.document.anti_patterns
    refuted = frozenset(each.id for each in entries if not _is_warned_of(known, each))
    return _made(known, entries, refuted)


def _is_warned_of(known: PromptInputs, pattern: RankedPattern) -> bool:
    """Return whether such tasks almost certainly go worse, or there is nothing to compare."""
    entry = known.patterns.get(_slug(pattern))
    if entry is None or entry.goes_worse is None:
        return True
    high = entry.expected_at(known.kind).effect_high
    return entry.goes_worse and (high is None or high < 0.0)


def _made_of_patterns(known: PromptInputs) -> _Patterns:
    # Another version may have written deprecated ones among those that are recommended.
    given = [
        _judged(known, each)
        for each in known.document.patterns
        if each.state != Maturity.DEPRECATED
    ]
    others = [_judged(known, each) for each in known.document.others]
    refuted = {
        each.id
        for each in given
        for expected in (_expected(known, each),)
        if expected is not None and not expected.is_worth_recommending
    }
    recommended = [each for each in others if _is_above(_expected(known, each))]
    ids = {each.id for each in recommended}
    beside = tuple(each for each in others if each.id not in ids)
    entries = (
        *(_worded(each, _expected(known, each)) for each in given),
        *(_worded(each, _expected(known, each)) for each in recommended),
    )
    return _made(known, entries, frozenset(refuted), beside)


def _judged(known: PromptInputs, pattern: RankedPattern) -> RankedPattern:
    """Return a pattern in the state that it has in comparison, and not by its counts alone."""
    entry = known.patterns.get(pattern.id)
    state = _STATES.get(pattern.state)
    if entry is None or state is None or pattern.id in known.document.promoted:
        return pattern
    judged = in_comparison(state, entry.goes_worse)
    if judged is state:
        return pattern
    multiplier = known.document.candidate_multiplier
    cautious = wilson_interval(pattern.decayed_helpful, pattern.decayed_harmful)[0]
    return msgspec.structs.replace(
        pattern,
        state=judged.value,
        multiplier=multiplier,
        score=cautious * multiplier,
        lines={language: counted_line(line) for language, line in pattern.lines.items()},
    )


def _made(
    known: PromptInputs,
    entries: tuple[RankedPattern, ...],
    refuted: frozenset[str],
    beside: tuple[RankedPattern, ...] = (),
) -> _Patterns:
    recommended = (each for each in entries if each.id not in refuted)
    held_back = (*(each for each in entries if each.id in refuted), *beside)
    return _Patterns(
        entries,
        _offers(known, recommended),
        _offers(known, held_back),
        refuted,
        beside,
    )


def _offers(known: PromptInputs, entries: Iterable[RankedPattern]) -> _Offers:
    estimates = known.patterns
    everything = best_first(Offer(each, 1.0, _strength(known, each), "project") for each in entries)
    by_kind: defaultdict[int, list[int]] = defaultdict(list)
    for place, offer in enumerate(everything):
        entry = estimates.get(_slug(offer.entry))
        for kind in entry.by_kind if entry is not None else ():
            by_kind[kind].append(place)
    return _Offers(everything, by_kind)


def _slug(pattern: RankedPattern) -> str:
    return pattern.id.removeprefix("anti-") if pattern.is_negative else pattern.id


def _expected(known: PromptInputs, pattern: RankedPattern) -> Expected | None:
    """Return the expected rate of a pattern at the task's kind of task."""
    entry = known.patterns.get(_slug(pattern))
    return None if entry is None else entry.expected_at(known.kind)


def _strength(known: PromptInputs, pattern: RankedPattern) -> float:
    expected = _expected(known, pattern)
    if expected is None or pattern.is_negative:
        return pattern.score
    return expected.order_key


def _is_worth_it(expected: Expected | None) -> bool:
    """Return whether such tasks are known to go better with a pattern."""
    return expected is not None and expected.effect is not None and expected.is_worth_recommending


def _is_above(expected: Expected | None) -> bool:
    """Return whether tasks go better by a margin worth mentioning."""
    return _is_worth_it(expected) and expected is not None and points(expected.effect or 0.0) >= 1


def _worded(pattern: RankedPattern, expected: Expected | None) -> RankedPattern:
    """Return a pattern whose line adds how much better such tasks go, if that is sure.

    Args:
        pattern: the pattern.
        expected: its estimate.
    """
    if expected is None or not (_is_above(expected) and expected.is_surely_better):
        return pattern
    effect = expected.effect or 0.0
    lines = {
        language: compared_line(pattern.lines[language], effect, language)
        for language in _LANGUAGES
        if language in pattern.lines
    }
    return msgspec.structs.replace(pattern, lines=lines)
