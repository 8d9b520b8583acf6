"""Entries of the sections of patterns and warnings, by the kinds of task they were seen in.

A pattern is recommended against what such tasks do otherwise, whatever its own rate, and judged by
its own rate only where there is nothing to compare. A draw may also put forward what is not
recommended. What the task may be warned of is never offered.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Final, Literal

import msgspec

from trackrecord.learning.advice.exploring import Draw
from trackrecord.learning.advice.texts import compared_line, counted_line, points
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.learning.patterns.maturity import Maturity, in_comparison
from trackrecord.learning.text.language import LANGUAGES
from trackrecord.learning.text.slug import anti_id

from ..documents.advice_document import Expected
from ..documents.rankings_document import RankedPattern
from .inputs import LEAST_RELEVANCE, PromptInputs
from .offer import FEW, Basis, Offer, SectionOffers, best_first, ranked_below, with_offers

# A kind that a task is less probably of tells nothing.
_LEAST_KIND: Final = 0.05
# Of the patterns that are not recommended, no more are tried on one task.
_MOST_TRIED: Final = 2
_Part = Literal["recommended", "held_back"]
_BY_ID: Final = attrgetter("entry.id")
_DRAWN_VALUE: Final = itemgetter(2)
_BY_VALUE: Final = attrgetter("value")
_STATES: Final = {state.value: state for state in Maturity}


@dataclass(frozen=True)
class _Offers:
    """Patterns as they are offered.

    Attributes:
        everything: all of them, best first.
        by_id: all of them, by id.
        by_kind: for each kind of task, the places of its patterns in `by_id`.
    """

    everything: Sequence[Offer] = ()
    by_id: Sequence[Offer] = ()
    by_kind: Mapping[int, Sequence[int]] = field(default_factory=dict)


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


def warnings_for(known: PromptInputs) -> SectionOffers:
    """Offer warnings by the kinds of task that their patterns were seen in."""
    made = _made_once(known, "anti_patterns")
    everything = ranked_below(made.recommended.everything, _outranked(known))
    if not known.task or known.advice is None:
        return SectionOffers(everything, pool=made.entries, refuted=made.refuted)
    related = ranked_below(_related(known, made.recommended), _outranked(known))
    return SectionOffers(related, everything[:FEW], made.entries, made.refuted)


def patterns_for(known: PromptInputs) -> SectionOffers:
    """Offer patterns by the kinds of task that they were seen in."""
    made, outranked, draw = _made_once(known, "patterns"), _outranked(known), known.draw
    trials: Sequence[Offer] = ()
    everything = related = ranked_below(made.recommended.everything, outranked)
    if draw is not None:
        drawn = _offered(known, _drawn_values(known, draw, "recommended"))
        trials = _trials(known, draw, drawn)
        related = ranked_below(with_offers(drawn, trials), outranked)
    elif known.can_tell:
        related = ranked_below(_related(known, made.recommended), outranked)
    tried = frozenset(each.entry.id for each in trials)
    refuted = made.refuted - tried
    if not known.task or known.advice is None:
        return SectionOffers(related, (), made.entries, refuted, tried, made.beside)
    if known.can_tell:
        return SectionOffers(related, everything[:FEW], made.entries, refuted, tried, made.beside)
    return SectionOffers((), related[:FEW], made.entries, refuted, tried, made.beside)


def _outranked(known: PromptInputs) -> frozenset[str]:
    """Return the ids of the patterns, and of their warnings, that one speaker alone tells of."""
    return known.once_for_both("outranked patterns", _found_outranked)


def _found_outranked(known: PromptInputs) -> frozenset[str]:
    slugs = [slug for slug, entry in known.patterns.items() if entry.is_outranked]
    return frozenset((*slugs, *map(anti_id, slugs)))


def _trials(known: PromptInputs, draw: Draw, recommended: Sequence[Offer]) -> list[Offer]:
    """Return the few patterns that are tried on the task without being recommended.

    They are the draw's first pattern for this task, and the little known ones that it prefers.
    """
    # There may be hundreds: few of them become offers.
    values = _drawn_values(known, draw, "held_back")
    best = max(map(_DRAWN_VALUE, values), default=0.0)
    drawn = _offered(
        known, (each for each in values if each[2] == best or each[0].id in draw.tried)
    )
    is_first = drawn and (not recommended or drawn[0].value > recommended[0].value)
    first = drawn[0] if is_first else None
    return [offer for offer in drawn if offer is first or offer.entry.id in draw.tried][
        :_MOST_TRIED
    ]


def _drawn_values(
    known: PromptInputs, draw: Draw, part: _Part
) -> list[tuple[RankedPattern, float, float]]:
    """Return relevant patterns, in the order of their ids, with their relevance and drawn value."""
    made = getattr(_made_once(known, "patterns"), part)
    means = known.once_for_both(f"means: {part}", lambda _: _means(draw, made), kind=known.kind)
    places = _relevances(known, made) if known.can_tell else enumerate([1.0] * len(means))
    rates, found = draw.rates, []
    for place, relevant in places:
        entry, value, rate = means[place]
        if rate is None:
            rate = rates.get(entry.id, relevant * value)
        found.append((entry, relevant, relevant * rate))
    return found


def _means(draw: Draw, made: _Offers) -> list[tuple[RankedPattern, float, float | None]]:
    """Return patterns by id, each with its value and, where no draw changes it, its rate."""
    means, drawn = draw.means, {each.id for each in draw.prospects}
    return [
        (each.entry, each.value, None if each.entry.id in drawn else means.get(each.entry.id))
        for each in made.by_id
    ]


def _offered(
    known: PromptInputs, values: Iterable[tuple[RankedPattern, float, float]]
) -> list[Offer]:
    basis: Basis = "kinds" if known.can_tell else "project"
    return _best_of([Offer(*each, basis) for each in values])


def _made_once(known: PromptInputs, name: str) -> _Patterns:
    make = _made_of_warnings if name == "anti_patterns" else _made_of_patterns
    return known.once_for_both(f"offers of {name}", make, kind=known.kind)


def _related(known: PromptInputs, made: _Offers) -> list[Offer]:
    """Return the patterns of the kinds that the task probably is of, best first."""
    return _best_of(
        [
            Offer(offer.entry, relevant, relevant * offer.value, "kinds")
            for place, relevant in _relevances(known, made)
            for offer in (made.by_id[place],)
        ]
    )


def _best_of(offers: list[Offer]) -> list[Offer]:
    """Return offers, which are in the order of their ids, best first."""
    # Sorting is stable, also in reverse. There are hundreds of them for each prompt.
    return sorted(offers, key=_BY_VALUE, reverse=True)


def _relevances(known: PromptInputs, made: _Offers) -> list[tuple[int, float]]:
    """Return the places of the patterns that are relevant to the task, and how much each is."""
    relevances = [0.0] * len(made.by_id)
    for kind, probable in _probable_kinds(known):
        for place in made.by_kind.get(kind, ()):
            relevances[place] += probable
    return [
        (place, relevant)
        for place, relevant in enumerate(relevances)
        if relevant >= LEAST_RELEVANCE
    ]


def _probable_kinds(known: PromptInputs) -> list[tuple[int, float]]:
    return [each for each in sorted(known.expectation.kinds.items()) if each[1] >= _LEAST_KIND]


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
    # Warned of at any kind of task; the comparison lifts some warnings.
    warned = {
        slug
        for each in known.document.anti_patterns
        for slug in (_slug(each),)
        if slug not in known.patterns or known.patterns[slug].goes_worse is not False
    }
    # Another version may have written deprecated ones among those that are recommended.
    given = [
        _judged(known, each)
        for each in known.document.patterns
        if each.state != Maturity.DEPRECATED and each.id not in warned
    ]
    others = [_judged(known, each) for each in known.document.others if each.id not in warned]
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
    by_id = sorted(everything, key=_BY_ID)
    for place, offer in enumerate(by_id):
        entry = estimates.get(_slug(offer.entry))
        for kind in entry.by_kind if entry is not None else ():
            by_kind[kind].append(place)
    return _Offers(everything, by_id, by_kind)


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


def _is_above(expected: Expected | None) -> bool:
    """Return whether such tasks are known to go better, by a margin worth mentioning."""
    if expected is None or expected.effect is None or not expected.is_worth_recommending:
        return False
    return points(expected.effect) >= 1


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
        for language in LANGUAGES
        if language in pattern.lines
    }
    return msgspec.structs.replace(pattern, lines=lines)
