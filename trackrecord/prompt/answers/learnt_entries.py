"""Candidates from rankings and advice, as they compete for a prompt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, Final

import msgspec

from trackrecord.errors import InvalidCandidate
from trackrecord.learning.competences.conditions import UNKNOWN, other_conditions, parted
from trackrecord.learning.competences.episodes.signatures import tools_of

from ..candidates.candidate import Candidate
from ..candidates.rank import Scored, score_all
from ..candidates.sections import FEEDS, Feed, Section
from ..choosing.inputs import PromptInputs
from ..choosing.offer import Offer, SectionOffers, best_first
from ..documents.advice_document import LessonEntry
from ..documents.labels import in_language
from ..documents.rankings_document import RankedCompetence, RankedFailure, RankedProcedure
from ..question.wording import with_own_tools

# Of what holds for the project as a whole, only this much stands in for what is related.
_MOST_GENERAL: Final = 5
# More of one section than this is not read, however related it is.
_MOST_RELATED: Final = 5
_BULLET: Final = "- "
# What is made of entries once; those of other feeds are made for one task.
MADE_FOR_TASKS: Final = frozenset({"procedures"})
# Procedures may stand in both.
_RECOMMENDED: Final = "procedures"
_RECORDS: Final = "competences"


# No work for the garbage collector: a prompt makes up to thousands of them.
class Competing(msgspec.Struct, frozen=True, gc=False):
    """An entry that competes.

    Attributes:
        offer: the entry, and why it competes.
        scored: its candidate.
        feed: where it comes from.
    """

    offer: Offer
    scored: Scored
    feed: Feed


@dataclass(frozen=True)
class LearntEntries:
    """A project's entries of rankings and advice that compete.

    Attributes:
        by_field: by the field of an answer, each entry that competes, best first.
        left_out: how many entries do not compete.
        known: what was known.
        offered: by the field of an answer, what was offered.
    """

    by_field: Mapping[str, Sequence[Competing]] = field(default_factory=dict)
    left_out: int = 0
    known: PromptInputs | None = None
    offered: Mapping[str, SectionOffers] = field(default_factory=dict)

    @property
    def entries(self) -> list[Scored]:
        """All that compete, section by section."""
        return [each.scored for each in chain.from_iterable(self.by_field.values())]

    @cached_property
    def fitting(self) -> dict[str, frozenset[str]]:
        """By field, the ids of the entries that have to do with the task or the project."""
        return {
            name: frozenset([offer.entry.id for offer in found.offers])
            for name, found in self.offered.items()
        }

    def ranked(self, name: str) -> tuple[Any, ...]:
        """Return all entries of a field: first those that fit the task, each group best first.

        Args:
            name: the field. What the question leaves out has no entries.
        """
        offered = self.offered.get(name)
        if offered is None or self.known is None:
            return ()
        left_out = self.fitting[name]
        if name == "anti_patterns":  # a warning that the counts speak against is none
            left_out |= offered.refuted
        found = [offer.entry for offer in _by_conditions(offered.offers, offered)]
        found += [each for each in offered.pool if each.id not in left_out]
        return tuple(
            [in_language(each, self.known.language) for each in found[: self.known.question.limit]]
        )

    def taken(self, candidates: Iterable[Candidate]) -> dict[str, tuple[Any, ...]]:
        """Return, by field, the entries whose candidates these are, best first."""
        wanted = {id(candidate) for candidate in candidates}
        language = "en" if self.known is None else self.known.language
        return {
            name: tuple(
                [
                    in_language(each.offer.entry, language)
                    for each in found
                    if id(each.scored.candidate) in wanted
                ]
            )
            for name, found in self.by_field.items()
        }


def learnt_of(known: PromptInputs, *, most: int | None) -> LearntEntries:
    """Return the entries relevant to the task, as candidates with their own score.

    Where nothing has, the few entries that hold for the project as a whole stand in; so do they
    beside what is related as long as no similar past task tells what is.

    Args:
        known: the documents and the question.
        most: how many of each kind compete; None for all.
    """
    wanted = known.question.sections
    offered = {feed.field: feed.offers(known) for feed in FEEDS if wanted.has(feed.field)}
    offers: dict[str, Sequence[Offer]] = {name: found.offers for name, found in offered.items()}
    if known.task and not (known.can_tell and any(offers.values())):
        offers = _with_general(offers, offered)
    if known.foreign_tools:
        offers = {
            name: [each for each in found if known.can_use(tools_of_entry(each.entry))]
            for name, found in offers.items()
        }
    if known.own_tool_names:
        offers = {
            name: [each for each in found if not known.is_of_another_client(each.entry)]
            for name, found in offers.items()
        }
    offers = _once_each(offers)
    by_field: dict[str, Sequence[Competing]] = {}
    beyond = 0
    for feed in FEEDS:
        if feed.field not in offers:
            continue
        found = _by_conditions(offers[feed.field], offered[feed.field])
        limit = _most(feed, most, known)
        competing = _competing(found[:limit], offered[feed.field], feed, known)
        tried = offered[feed.field].tried
        if competing:
            tried |= known.exposure_plan.tried(feed.field)
        if offered[feed.field].fits:
            competing = [_with_conditions(each, offered[feed.field], known) for each in competing]
        by_field[feed.field] = [
            _tried(each, known) if each.offer.entry.id in tried else each for each in competing
        ]
        beyond += len(found) - len(by_field[feed.field])
        if not known.task:
            beyond += known.document.beyond.get(feed.field, 0)
    return LearntEntries(by_field, beyond, known, offered)


def _with_general(
    offers: Mapping[str, Sequence[Offer]], offered: Mapping[str, SectionOffers]
) -> dict[str, Sequence[Offer]]:
    candidates = [
        (offer.value, name, offer)
        for name, found in offered.items()
        for offer in found.general
        if offer.entry.id not in {each.entry.id for each in offers[name]}
    ]
    candidates.sort(key=lambda each: (-each[0], each[1], each[2].entry.id))
    added: dict[str, list[Offer]] = {name: list(found) for name, found in offers.items()}
    for _, name, offer in candidates[:_MOST_GENERAL]:
        added[name].append(offer)
    return dict(added)


def _once_each(offers: Mapping[str, Sequence[Offer]]) -> dict[str, Sequence[Offer]]:
    """Return offers of which no two are about one procedure; the first one speaks for it."""
    told: set[str] = set()
    once: dict[str, Sequence[Offer]] = dict(offers)
    for name in (_RECOMMENDED, _RECORDS):
        kept = []
        for offer in once.get(name, ()):
            signature = signature_of_entry(offer.entry)
            if signature not in told:
                kept.append(offer)
                told.add(signature)
        if name in once:
            once[name] = kept
    return once


def signature_of_entry(entry: Any) -> str:  # noqa: ANN401 - of any feed
    """Return the signature of an entry's procedure; "" without one."""
    if isinstance(entry, RankedCompetence):
        return entry.signature
    return entry.id if isinstance(entry, (RankedProcedure, RankedFailure)) else ""


def tools_of_entry(entry: Any) -> Sequence[str]:  # noqa: ANN401 - of any feed
    """Return the tools that an entry is about."""
    if isinstance(entry, LessonEntry):
        return entry.tools
    return tools_of(signature_of_entry(entry))


def section_for(feed: Feed, entry: Any) -> Section | None:  # noqa: ANN401 - of any feed
    """Return the section of an entry; None if its state has no section."""
    sections = FEEDS[feed]
    return sections.get(None) or sections.get(getattr(entry, "state", None))


def _by_conditions(offers: Sequence[Offer], offered: SectionOffers) -> Sequence[Offer]:
    """Return offers with those first whose conditions agree with the task's."""
    if not offered.fits:
        return offers
    values = parted({each.entry.id: each.value for each in offers}, offered.fits)
    moved = (msgspec.structs.replace(each, value=values[each.entry.id]) for each in offers)
    return best_first(moved)


def _tried(each: Competing, known: PromptInputs) -> Competing:
    """Return an entry whose line mentions that it is being tried."""
    name, text = each.offer.entry.id, each.scored.candidate.text
    line = known.exposure_plan.line(each.feed.field, name, text, known.language)
    return _reworded(each, line, known)


def _with_conditions(each: Competing, offered: SectionOffers, known: PromptInputs) -> Competing:
    """Return an entry that was used under other conditions with a line that names them."""
    record = each.offer.entry
    fit = offered.fits.get(record.id, UNKNOWN)
    if known.conditions is None or not fit.contradicts:
        return each
    # Few prompts need these words: the other lines are read ready.
    from trackrecord.learning.competences.texts import under_other_conditions

    others = other_conditions(known.conditions, known.triggers_of(record), known.task)
    said = under_other_conditions(others, known.language)
    return _reworded(each, each.scored.candidate.text + said, known)


def _reworded(each: Competing, text: str, known: PromptInputs) -> Competing:
    return Competing(each.offer, each.scored.reworded(text, known.rules.context), each.feed)


def _most(feed: Feed, most: int | None, known: PromptInputs) -> int | None:
    related = _MOST_RELATED if known.can_tell else None
    limits = [limit for limit in (feed.at_most, most, related) if limit is not None]
    return min(limits, default=None)


def _competing(
    offers: Sequence[Offer], offered: SectionOffers, feed: Feed, known: PromptInputs
) -> list[Competing]:
    if feed.field in MADE_FOR_TASKS:
        made = _scored((offer.entry for offer in offers), feed, known)
    else:
        made = _scored_once(offered, feed, known)
    weight: float = getattr(known.rules.context, feed.weight)
    return [
        Competing(offer, scored.at(offer.value * weight), feed)
        for offer in offers
        if (scored := made.get(offer.entry.id)) is not None
    ]


def _scored_once(offered: SectionOffers, feed: Feed, known: PromptInputs) -> dict[str, Scored]:
    """Return all of a feed's entries as candidates: made once for a document, not for a prompt."""
    document = known.advice if feed.is_of_advice else known.document
    if document is None:
        return {}
    # Few agents have own names for tools: those without them share the candidates.
    source = known.question.source if known.own_tool_names else None
    key, rules = (feed.field, known.language, source), known.rules.context
    made: dict[str, Scored]
    made_by, made_of, made = document.derived.get(key, (None, None, {}))
    if made_of is not offered.pool or (made_by is not rules and made_by != rules):
        made = _scored((*offered.pool, *offered.beside), feed, known)
        document.derived[key] = rules, offered.pool, made
    return made


def _scored(entries: Iterable[Any], feed: Feed, known: PromptInputs) -> dict[str, Scored]:
    """Return entries as candidates, by id; those that another version wrote may not be ones."""
    candidates, names = {}, known.own_tool_names
    for entry in entries:
        section = section_for(feed, entry)
        line = entry.lines.get(known.language)
        if section is not None and line:
            try:
                candidates[entry.id] = _candidate(entry, section, with_own_tools(line, names))
            except InvalidCandidate:  # never an agent's error
                continue
    scored = score_all(candidates.values(), known.rules.context)
    return dict(zip(candidates, scored, strict=True))


def _candidate(entry: Any, section: Section, line: str) -> Candidate:  # noqa: ANN401 - of any feed
    is_its_kinds_own = section.name == section.kind
    return Candidate(
        id=entry.id if is_its_kinds_own else section.prefix + entry.id,
        kind=section.kind,
        section=None if is_its_kinds_own else section.name,
        text=line if line.startswith(_BULLET) else _BULLET + line,
        score=entry.score,
        content_type="markdown",
    )
