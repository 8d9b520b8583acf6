"""What each section offers for a task: entries, with how much they have to do with it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from trackrecord.learning.competences.episodes import tools_of

from .advice_document import LessonEntry
from .document import RankedCompetence, RankedFailure, RankedPattern
from .known import LEAST_PROBABLE, LEAST_RELEVANCE, Known
from .recommended import recommended_procedures
from .relevance import fitting_competences, fitting_memories
from .similar_tasks import past_tasks_for

# What says that an entry has to do with a task.
Basis = Literal["project", "tools", "kinds", "text", "votes"]
# A lesson that is hardly sure, or hardly ever of use, is not worth its tokens.
_LEAST_WORTH: Final = 0.02
# A lesson about a whole procedure, and not about its first tool alone.
_ABOUT_PROCEDURES: Final = "never-succeeds"
# Runs of a kind of task that make a pattern half as relevant to it as can be.
_HALF_KNOWN: Final = 2
# That rarely is chance: a procedure that failed always would have succeeded at least once.
_CHANCE: Final = 0.05


class Offer(NamedTuple):
    """An entry that competes.

    Attributes:
        entry: the entry.
        relevance: how much it has to do with the task, 0..1; 1 without a task.
        value: what it is ranked by among all sections.
        basis: what its relevance follows from.
    """

    entry: Any
    relevance: float
    value: float
    basis: Basis


@dataclass(frozen=True)
class Offered:
    """What a section offers.

    Attributes:
        offers: what has to do with the task, or with the project without one; best first.
        general: what holds for the project as a whole and may stand in where nothing is related.
        pool: all entries, best first.
        harmful: what is left out because such tasks go better, or worse, without it.
    """

    offers: Sequence[Offer] = ()
    general: Sequence[Offer] = ()
    pool: Sequence[Any] = ()
    refuted: frozenset[str] = field(default_factory=frozenset)


def lessons_for(known: Known) -> Offered:
    """Offer lessons by how probable it is that the task uses their tools."""
    if known.advice is None:
        return Offered()
    pool = known.once("lessons", _living)["all"]
    if not known.task:
        return Offered(_offers(pool, 1.0), pool=pool)
    found = []
    for tool, probable in known.expectation.tools.items():
        if probable >= LEAST_RELEVANCE:
            for lesson in known.lessons_by_tool.get(tool, ()):
                relevance = _relevance_of(lesson, known)
                if relevance * lesson.score >= _LEAST_WORTH:
                    found.append(Offer(lesson, relevance, relevance * lesson.score, "tools"))
    return Offered(_best_first(found), _general(known, pool), pool)


def _living(advice: Any) -> dict[str, list[LessonEntry]]:  # noqa: ANN401
    living = [each for each in advice.lessons if each.state != "faded"]
    return {"all": sorted(living, key=lambda each: (-each.score, each.id))}


def _relevance_of(lesson: LessonEntry, known: Known) -> float:
    probable = known.expectation.tools
    if lesson.kind != _ABOUT_PROCEDURES:
        return probable[lesson.tools[0]]
    return min(probable.get(tool, 0.0) for tool in lesson.tools)


def warnings_for(known: Known) -> Offered:
    """Offer warnings by the kinds of task that their patterns were seen in."""
    return _patterns_for(known, known.document.anti_patterns)


def patterns_for(known: Known) -> Offered:
    """Offer patterns by the kinds of task that they were seen in."""
    return _patterns_for(known, known.document.patterns)


def _patterns_for(known: Known, entries: Sequence[RankedPattern]) -> Offered:
    refuted = frozenset(each.id for each in entries if known.advice and _is_refuted(known, each))
    kept = [each for each in entries if each.id not in refuted] if refuted else entries
    everything = _best_first(Offer(each, 1.0, _strength(known, each), "project") for each in kept)
    if not known.task or known.advice is None:
        return Offered(everything, pool=entries, refuted=refuted)
    related = []
    if known.expectation.kinds:
        for offer in everything:
            relevance = _by_kind(known, offer.entry)
            if relevance >= LEAST_RELEVANCE:
                related.append(Offer(offer.entry, relevance, relevance * offer.value, "kinds"))
    return Offered(_best_first(related), everything[:_FEW], entries, refuted)


def _slug(pattern: RankedPattern) -> str:
    return pattern.id.removeprefix("anti-") if pattern.is_negative else pattern.id


def _strength(known: Known, pattern: RankedPattern) -> float:
    entry = known.patterns.get(_slug(pattern))
    if entry is None or pattern.is_negative:
        return pattern.score
    return entry.expected.order_key


def _is_refuted(known: Known, pattern: RankedPattern) -> bool:
    """Whether such tasks go better without a pattern, or no worse with what a warning names."""
    entry = known.patterns.get(_slug(pattern))
    if entry is None:
        return False
    expected = entry.expected
    if pattern.is_negative:
        return expected.effect is not None and expected.is_worth_recommending
    return not expected.is_worth_recommending


def _by_kind(known: Known, pattern: RankedPattern) -> float:
    entry = known.patterns.get(_slug(pattern))
    if entry is None:
        return 0.0
    return sum(
        probable * runs / (runs + _HALF_KNOWN)
        for kind, probable in known.expectation.kinds.items()
        if (runs := entry.kinds.get(kind, 0))
    )


def failing_for(known: Known) -> Offered:
    """Offer procedures that never succeeded, by how probable their tools are for the task."""
    pool = known.document.failing
    if known.advice is None:
        return Offered(_offers(pool, 1.0), pool=pool)
    refuted = frozenset(each.id for each in pool if _may_be_chance(known, each))
    told = _told_by_lessons(known)
    kept = [
        each for each in pool if each.id not in refuted and frozenset(tools_of(each.id)) not in told
    ]
    if not known.task:
        return Offered(_offers(kept, 1.0), pool=pool, refuted=refuted)
    found = []
    for each in kept:
        tools = known.expectation.tools
        relevance = min((tools.get(tool, 0.0) for tool in tools_of(each.id)), default=0.0)
        if relevance >= LEAST_PROBABLE:
            found.append(Offer(each, relevance, relevance * each.score, "tools"))
    return Offered(_best_first(found), _general(known, kept), pool, refuted)


def _may_be_chance(known: Known, failure: RankedFailure) -> bool:
    """Whether such tasks fail so often that this many failures in a row mean little."""
    assert known.advice is not None  # noqa: S101 - for type checkers
    expected = known.procedures.get(failure.id)
    if expected is None:
        usual, tasks = known.advice.expected.mean, failure.failure_count
    else:
        usual, tasks = expected.usual, expected.tasks
    return float((1.0 - usual) ** tasks) > _CHANCE


def _told_by_lessons(known: Known) -> frozenset[frozenset[str]]:
    assert known.advice is not None  # noqa: S101 - for type checkers
    return frozenset(
        frozenset(each.tools) for each in known.advice.lessons if each.kind == _ABOUT_PROCEDURES
    )


def procedures_for(known: Known) -> Offered:
    """Offer the procedures that similar successes used."""
    return Offered(
        [
            Offer(each, relevance, each.score, basis)
            for each, relevance, basis in recommended_procedures(known)
        ]
    )


def competences_for(known: Known) -> Offered:
    """Offer records by how well their triggers fit the task."""
    pool = known.document.competences
    if known.advice is not None:
        refuted = frozenset(each.id for each in pool if not _holds(known, each))
        kept = [each for each in pool if each.id not in refuted]
    else:
        refuted, kept = frozenset(), list(pool)
    if not known.task:
        return Offered(_offers(kept, 1.0), pool=pool, refuted=refuted)
    fitting = fitting_competences(kept, known.task)
    offers = [
        Offer(each, fit, each.score, "text") for each, fit in fitting if fit >= LEAST_RELEVANCE
    ]
    return Offered(offers, pool=pool, refuted=refuted)


def _holds(known: Known, record: RankedCompetence) -> bool:
    """Whether a record says when it applies, and not only that its tasks were easy."""
    signature = record.skill_name.removeprefix("skill:")
    if all(signal == signature for signal in record.triggers):
        return False
    expected = known.procedures.get(signature)
    return expected is None or expected.is_worth_recommending


def memories_for(known: Known) -> Offered:
    """Offer memories that share words with the task."""
    pool = known.document.memories
    if not known.task:
        return Offered(_offers(pool, 1.0), pool=pool)
    found = fitting_memories(pool, known.task, known.memory_rules)
    return Offered([Offer(each, fit, each.score, "text") for each, fit in found], pool=pool)


def similar_tasks_for(known: Known) -> Offered:
    """Offer similar past tasks of which it is known what made the difference."""
    if not known.task:
        return Offered()
    told = [offer.entry.lines.get("en", "") for offer in lessons_for(known).offers]
    found = past_tasks_for(known, told)
    return Offered([Offer(each, each.score, each.score, "text") for each in found])


_FEW: Final = 3


def _general(known: Known, entries: Sequence[Any]) -> list[Offer]:
    """Return the best entries, unless similar tasks say that the task does not use their tools."""
    return [] if known.can_tell else _offers(entries[:_FEW], 1.0)


OffersOf = Callable[[Known], Offered]


def _offers(entries: Iterable[Any], relevance: float) -> list[Offer]:
    return [Offer(each, relevance, relevance * each.score, "project") for each in entries]


def _best_first(offers: Iterable[Offer]) -> list[Offer]:
    return sorted(offers, key=lambda each: (-each.value, each.entry.id))
