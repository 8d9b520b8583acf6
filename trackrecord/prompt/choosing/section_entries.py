"""The entries of each section for a task, with their relevance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Final, Generic, TypeVar

import msgspec

from trackrecord.learning.advice.exploring import Draw
from trackrecord.learning.competences.episodes.signatures import tools_of
from trackrecord.learning.competences.selection import selection_score
from trackrecord.learning.memories.rules import recall_rank
from trackrecord.learning.text.words import asked_words, overlap, similarity, words_of

from ..documents.advice_document import AdviceDocument, LessonEntry
from ..documents.rankings_document import RankedCompetence, RankedFailure, RankedMemory
from .inputs import LEAST_PROBABLE, LEAST_RELEVANCE, Meaning, PromptInputs
from .offer import FEW, Offer, SectionOffers, best_first, offers_of, ranked_below

_RankedEntry = TypeVar("_RankedEntry", RankedCompetence, RankedMemory)

_TEXTS_REMEMBERED = 8192

_words_remembered = lru_cache(maxsize=_TEXTS_REMEMBERED)(words_of)
_asked_remembered = lru_cache(maxsize=64)(asked_words)


def fitting_competences(
    competences: Iterable[RankedCompetence], task: str
) -> list[tuple[RankedCompetence, float]]:
    """Rank competences for a task: its similarity takes the place of the confidence.

    Each one stands beside its similarity, 0 where it has nothing to do with the task.
    """
    found = []
    for each in competences:
        similar = similarity(task, (*each.triggers, each.instructions))
        found.append(
            (msgspec.structs.replace(each, score=_score_of(each, similar)), similar or 0.0)
        )
    return _by_score(found)


def competences_by_meaning(
    competences: Iterable[tuple[RankedCompetence, float]],
) -> list[tuple[RankedCompetence, float]]:
    """Rank competences for a task: (cosine + 1)/2 takes the place of the confidence.

    Each one is given, and stands in the answer, beside its cosine.
    """
    return _by_score(
        (
            msgspec.structs.replace(each, score=_score_of(each, min(1.0, (cosine + 1.0) / 2.0))),
            cosine,
        )
        for each, cosine in competences
    )


def sharing_words(
    competences: Iterable[tuple[RankedCompetence, frozenset[str]]], task: str
) -> list[RankedCompetence]:
    """Return the competences that share a word with a task, each with all its words."""
    asked = _words_remembered(task)
    return [each for each, words in competences if not asked.isdisjoint(words)]


def words_of_competence(competence: RankedCompetence) -> frozenset[str]:
    """Return the words that a task is compared with."""
    return frozenset().union(*map(words_of, (*competence.triggers, competence.instructions)))


def _score_of(competence: RankedCompetence, similar: float | None) -> float:
    return selection_score(
        applicability=competence.confidence if similar is None else similar,
        success=competence.expected_success,
        recency=competence.recency,
    )


def fitting_memories(
    memories: Iterable[RankedMemory], task: str
) -> list[tuple[RankedMemory, float]]:
    """Return memories that share words with a task, ranked as by recall, with their relevance."""
    return _by_score(
        (
            msgspec.structs.replace(each, score=recall_rank(relevance, each.effective_confidence)),
            relevance,
        )
        for each, relevance in _sharing_any(memories, task)
    )


def _by_score(entries: Iterable[tuple[_RankedEntry, float]]) -> list[tuple[_RankedEntry, float]]:
    return sorted(entries, key=lambda each: (-each[0].score, each[0].id))


def _sharing_any(entries: Iterable[RankedMemory], task: str) -> list[tuple[RankedMemory, float]]:
    """Return the entries that share words with a task; relevance is relative to the best."""
    asked = _asked_remembered(task)
    found = []
    for each in entries:
        words = _words_remembered(each.text)
        # Most share none: a prompt is compared with a hundred.
        if not asked.isdisjoint(words):
            found.append((each, overlap(asked, words)))
    best = max((relevance for _, relevance in found), default=1.0)
    return [(each, relevance / best) for each, relevance in found]


_Entry = TypeVar("_Entry", RankedCompetence, RankedFailure)

# A lesson that is hardly sure, or hardly ever of use, is not worth its tokens.
_LEAST_WORTH: Final = 0.02
_PROBABLE: Final = 0.5
_CONTESTED: Final = "contested"
# Many procedures are looked at: failing always must be rarer than this by chance.
_CHANCE: Final = 0.01


@dataclass(frozen=True)
class _Held(Generic[_Entry]):
    """The entries of a field that the counts do not speak against; made once for both documents.

    Attributes:
        kept: the entries, best first.
        refuted: the ids of the others.
        words: each entry with what says which tasks it is about: its words, or its tools.
    """

    kept: list[_Entry]
    refuted: frozenset[str]
    words: list[tuple[_Entry, frozenset[str]]]


def lessons_for(known: PromptInputs) -> SectionOffers:
    """Offer lessons that the task's own words name, then those whose tools it probably uses."""
    if known.advice is None:
        return SectionOffers()
    advice, pool = known.advice, known.advice.lessons
    if not known.task:
        return SectionOffers(advice.once("lesson offers", _living), pool=pool)
    # Imported with the first task: it takes an agent's memory.
    from .lesson_words import lessons_named

    named = lessons_named(advice, known.task)
    likely: list[Offer] = []
    by_tool = advice.once("lessons by tool", _by_tool)
    usual = advice.once("usual tools of lessons", _usual_tools)
    for tool in _perhaps_used(known, by_tool, usual):
        lessons = by_tool[tool]
        relevance = known.expectation.probability_of((tool,), lessons[0].usual)
        if relevance > _PROBABLE:
            likely += [
                Offer(lesson, relevance, relevance * lesson.score, "tools")
                for lesson in lessons
                if not (lesson.needs_naming or lesson.id in named)
                and relevance * lesson.score >= _LEAST_WORTH
            ]
    by_id = advice.once("lessons by id", _by_id)
    found = [
        Offer(lesson, 1.0, named[lesson.id] + lesson.score, "words")
        for lesson in (by_id[name] for name in named if name in by_id)
        if lesson.score >= _LEAST_WORTH
    ]
    likely = best_first(likely)
    if not known.can_tell:
        # Where nothing at all tells, a few about what most of the project's runs use stand in.
        likely = [] if found else likely[:FEW]
    return SectionOffers(best_first([*found, *likely]), pool=pool)


def _perhaps_used(
    known: PromptInputs, by_tool: Mapping[str, Sequence[LessonEntry]], usual: Iterable[str]
) -> Iterable[str]:
    """Return the tools of lessons that the task may probably use: of hundreds it does not.

    They are used by most of the similar tasks, or by most of the project's runs.
    """
    used = known.expectation.tools.items()
    likely = (tool for tool, share in used if share > _PROBABLE and tool in by_tool)
    return dict.fromkeys(chain(usual, likely))


def _usual_tools(advice: AdviceDocument) -> dict[str, None]:
    by_tool = _by_tool(advice).items()
    return dict.fromkeys(tool for tool, lessons in by_tool if lessons[0].usual > _PROBABLE)


def _living(advice: AdviceDocument) -> list[Offer]:
    standing = [each for each in _by_id(advice).values() if not each.needs_naming]
    return best_first(offers_of(standing))


def _by_id(advice: AdviceDocument) -> dict[str, LessonEntry]:
    return {each.id: each for each in advice.lessons if each.state != "faded"}


def _by_tool(advice: AdviceDocument) -> dict[str, list[LessonEntry]]:
    found: dict[str, list[LessonEntry]] = {}
    for each in _by_id(advice).values():
        found.setdefault(each.tools[0], []).append(each)
    return found


def failing_for(known: PromptInputs) -> SectionOffers:
    """Offer procedures that never succeeded, by how probable their tools are for the task."""
    pool = known.document.failing
    if known.advice is None:
        return SectionOffers(offers_of(pool), pool=pool)
    held: _Held[RankedFailure] = known.once_for_both("failing", _held_failures)
    refuted, kept = held.refuted, held.kept
    if not known.task:
        return SectionOffers(offers_of(kept), pool=pool, refuted=refuted)
    found = []
    tools = known.expectation.tools
    for each, its_tools in held.words:
        relevance = min((tools.get(tool, 0.0) for tool in its_tools), default=0.0)
        if relevance >= LEAST_PROBABLE:
            found.append(Offer(each, relevance, relevance * each.score, "tools"))
    return SectionOffers(best_first(found), _general(known, kept), pool, refuted)


def _held_failures(known: PromptInputs) -> "_Held[RankedFailure]":
    pool = known.document.failing
    refuted = frozenset(each.id for each in pool if _may_be_chance(known, each))
    kept = [(each, frozenset(tools_of(each.id))) for each in pool if each.id not in refuted]
    return _Held([each for each, _ in kept], refuted, kept)


def _may_be_chance(known: PromptInputs, failure: RankedFailure) -> bool:
    """Return whether such tasks fail so often that so many failures in a row mean little."""
    assert known.advice is not None  # noqa: S101 - for type checkers
    entry = known.procedures.get(failure.id)
    if entry is None:
        usual, tasks = known.advice.expected.mean, failure.failure_count
    else:
        usual, tasks = entry.expected.usual, entry.expected.tasks
    return float((1.0 - usual) ** tasks) > _CHANCE


def procedures_for(known: PromptInputs) -> SectionOffers:
    """Offer the procedures that similar successes used."""
    if known.advice is None:
        return SectionOffers()
    # What is said only of runs is imported only where there are any: it takes an agent's memory.
    from .recommended import recommended_procedures

    named = recommended_procedures(known)
    return SectionOffers([Offer(each, each.score, each.score, "votes") for each in named])


def competences_for(known: PromptInputs) -> SectionOffers:
    """Offer records by how well their triggers fit the task."""
    pool = known.document.competences
    held: _Held[RankedCompetence] = known.once_for_both(
        "competences", _held_competences, kind=known.kind
    )
    refuted, kept = held.refuted, held.kept
    offers = _competences_by_words(known, held) if known.task else offers_of(kept)
    if known.task and known.meaning is not None:
        offers = best_first([*_by_meaning(kept, known.meaning), *offers])
    fits = known.fits_of(offer.entry for offer in offers)
    draw = known.draws.get("competences")
    if draw is not None:
        offers = best_first(
            msgspec.structs.replace(each, value=each.relevance * _drawn_score(each.entry, draw))
            for each in offers
        )
    outranked = known.once_for_both("outranked records", _outranked)
    return SectionOffers(ranked_below(offers, outranked), pool=pool, refuted=refuted, fits=fits)


def _outranked(known: PromptInputs) -> frozenset[str]:
    procedures = known.procedures
    return frozenset(
        each.id
        for each in known.document.competences
        if (entry := procedures.get(each.signature)) is not None and entry.is_outranked
    )


def _drawn_score(record: RankedCompetence, draw: Draw) -> float:
    """Return a record's score with its drawn rate, which is a third of the score."""
    expected = record.expected_success
    return record.score + (draw.rate(record.id, expected) - expected) / 3


def _competences_by_words(known: PromptInputs, held: "_Held[RankedCompetence]") -> list[Offer]:
    """Offer records whose words fit the task, if they cannot be compared by meaning."""
    meaning = known.meaning
    comparable = held.words
    if meaning is not None:
        comparable = [each for each in held.words if each[0].id not in meaning.compared]
    fitting = fitting_competences(sharing_words(comparable, known.task), known.task)
    return [Offer(each, fit, each.score, "text") for each, fit in fitting if fit >= LEAST_RELEVANCE]


def _by_meaning(records: Sequence[RankedCompetence], meaning: Meaning) -> list[Offer]:
    near = [
        (each, cosine)
        for each in records
        if (cosine := meaning.cosines.get(each.id, 0.0)) >= meaning.least
    ]
    return [
        Offer(each, min(1.0, cosine), each.score, "meaning")
        for each, cosine in competences_by_meaning(near)
    ]


def _held_competences(known: PromptInputs) -> "_Held[RankedCompetence]":
    pool = known.document.competences
    kept = [each for each in pool if known.advice is None or _holds(known, each)]
    ids = {each.id for each in kept}
    refuted = frozenset(each.id for each in pool if each.id not in ids)
    return _Held(kept, refuted, [(each, words_of_competence(each)) for each in kept])


def _holds(known: PromptInputs, record: RankedCompetence) -> bool:
    """Return whether a record says when it applies, and not only that its tasks were easy."""
    if record.status == _CONTESTED:  # that somebody says so is worth knowing, whatever the counts
        return True
    if all(signal == record.signature for signal in record.triggers):
        return False
    entry = known.procedures.get(record.signature)
    if entry is None:
        return True
    expected = entry.expected_at(known.kind)
    # Where something else was tried at such tasks, more than chance must speak for it.
    is_better = (
        expected.is_worth_recommending if expected.effect is None else expected.is_surely_better
    )
    return entry.is_recipe and is_better


def memories_for(known: PromptInputs) -> SectionOffers:
    """Offer memories that share words with the task."""
    pool = known.document.memories
    if not known.task:
        unconfirmed = known.document.unconfirmed
        told = (each for each in pool if each.id not in unconfirmed)
        return SectionOffers(offers_of(told), pool=pool)
    found = fitting_memories(pool, known.task)
    return SectionOffers([Offer(each, fit, each.score, "text") for each, fit in found], pool=pool)


def _general(known: PromptInputs, entries: Sequence[Any]) -> list[Offer]:
    """Return the best entries, unless similar tasks say that the task does not use their tools."""
    return [] if known.can_tell else offers_of(entries[:FEW])
