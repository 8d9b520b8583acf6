"""Similar past tasks, each with what told its successes from its failures."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Final

import msgspec

from trackrecord.learning.advice.lessons.wording import error_text
from trackrecord.learning.advice.task_finding import LONGEST_TOLD
from trackrecord.learning.advice.texts import (
    Difference,
    Went,
    found_task_line,
    similar_task_line,
)
from trackrecord.learning.text.masking import masked
from trackrecord.learning.text.search_words import in_common

from .advice_document import NO_PROCEDURE, AdviceDocument
from .document import RankedTask
from .expectation import SimilarText
from .known import KnownDocuments
from .relevance import similar_past_tasks
from .task_record import FoundTask

_LANGUAGES: Final = ("en", "zh")
_ID_BYTES: Final = 8
# So many of the closest texts are told apart.
_MOST_COMPARED: Final = 4
# And so many past tasks are shown, out of so many texts that are masked, which takes time.
_MOST_SHOWN: Final = 3
_MOST_MASKED: Final = 4

# The same past tasks are similar to one task after another.
_masked_text = lru_cache(maxsize=2048)(masked)
# What a single run did differently may be chance.
_LEAST_RUNS: Final = 2
# Nor does a tool make the difference that most of the project's runs use.
_USUAL: Final = 0.5


def past_tasks_for(known: KnownDocuments, told: Sequence[str] = ()) -> list[RankedTask]:
    """Return the past tasks that a task is similar to, the most similar first.

    Of those that advice was counted from, only those of which it is known what made the difference;
    of all others, those that are similar enough. Equal texts are one.

    Args:
        known: the documents and the task.
        told: lines of lessons; an error that stands in one is not told again.
    """
    if known.advice is None:
        if known.hints.past_tasks is not None:
            return _found(known, ())
        found = similar_past_tasks(known.document.past_tasks, known.task)
        return _merged(known, found)
    telling = sorted(_of_advice(known, known.advice, told), key=_best_first)
    # Of equally similar ones those first that tell what made the difference.
    return sorted((*telling, *_found(known, telling)), key=_best_first)


def _best_first(task: RankedTask) -> float:
    return -task.score


def _found(known: KnownDocuments, telling: Sequence[RankedTask]) -> list[RankedTask]:
    """Return the past tasks that were found among all, those with equal texts as one.

    Args:
        known: the documents and the task.
        telling: those of the advice, best first: what would come after them is left out.
    """
    least = telling[_MOST_SHOWN - 1].score if len(telling) >= _MOST_SHOWN else 0.0
    equal: dict[str, list[FoundTask]] = {}
    for each in known.hints.past_tasks or ():
        if each.similarity > least:
            equal.setdefault(each.record.text, []).append(each)
    told = {_shown(known, each.text) for each in telling}
    alike: dict[str, list[FoundTask]] = {}
    for text, same in islice(equal.items(), _MOST_MASKED):
        shown = _shown(known, _text(known, text))
        if shown not in told:
            alike.setdefault(shown, []).extend(same)
    return [_told(known, shown, same) for shown, same in islice(alike.items(), _MOST_SHOWN)]


def _told(known: KnownDocuments, shown: str, same: Sequence[FoundTask]) -> RankedTask:
    """Return past tasks that are shown alike as one, the last of which stands for all."""
    newest_first = sorted((each.record for each in same), key=lambda each: -each.ended_at)
    last = newest_first[0]
    won = [each for each in newest_first if each.success]
    lost = [each for each in newest_first if not each.success]
    steps = next((each.steps for each in won if each.steps), ())
    ending = next((error_text(each.ending) for each in lost if each.ending), "")
    went = Went(len(won), len(lost), steps, ending)
    return RankedTask(
        id=last.id,
        task_id=last.task_id,
        text=_text(known, last.text),
        success=last.success,
        verdict=last.verdict,
        ended_at=last.ended_at,
        score=same[0].similarity,
        lines={language: found_task_line(shown, went, language) for language in _LANGUAGES},
    )


def _of_advice(
    known: KnownDocuments, advice: AdviceDocument, told: Sequence[str]
) -> list[RankedTask]:
    first_alike = array("I", advice.past_tasks.alike)
    best: dict[int, SimilarText] = {}
    for each in _telling(known, advice):
        best.setdefault(first_alike[each.position], each)
    tasks = (_task_of(known, advice, each, alike, told) for alike, each in best.items())
    return [each for each in tasks if each is not None]


def _telling(known: KnownDocuments, advice: AdviceDocument) -> list[SimilarText]:
    """Return the closest texts of which it may be known what made the difference."""
    telling = (
        each
        for each in known.expectation.similar
        if advice.past_tasks.endings[each.position]
        or len(advice.past_tasks.runs[each.position]) > 1
    )
    return list(islice(telling, _MOST_COMPARED))


def _text_of(advice: AdviceDocument, position: int) -> str:
    ends = array("I", advice.past_tasks.ends)
    start = ends[position - 1] if position else 0
    return advice.past_tasks.texts[start : ends[position]].decode(errors="replace")


def _task_of(
    known: KnownDocuments,
    advice: AdviceDocument,
    similar: SimilarText,
    alike: int,
    told: Sequence[str],
) -> RankedTask | None:
    difference, ended_at = _difference_of(known, advice, alike)
    if any(difference.ending in line for line in told):
        difference = difference._replace(ending="")
    if not (difference.with_success or difference.with_failure or difference.ending):
        return None
    text = _text(known, _text_of(advice, similar.position)[:LONGEST_TOLD])
    shown = _shown(known, text)
    return RankedTask(
        id=blake2b(text.encode(), digest_size=_ID_BYTES).hexdigest(),
        task_id="",
        text=text,
        success=difference.successes > difference.failures,
        verdict="",
        ended_at=ended_at,
        score=similar.cosine,
        lines={language: similar_task_line(shown, difference, language) for language in _LANGUAGES},
    )


def _difference_of(
    known: KnownDocuments, advice: AdviceDocument, alike: int
) -> tuple[Difference, float]:
    """Return what made the difference among all texts that are alike: found once for each."""
    found: dict[int, tuple[Difference, float]] = known.once("differences", lambda _: {})
    if alike not in found:
        members = known.once("alike", _members)[alike]
        found[alike] = _difference(known, advice, members)
    return found[alike]


def _members(advice: AdviceDocument) -> dict[int, list[int]]:
    """Return the positions of the texts that are alike, by that of the first one."""
    members: dict[int, list[int]] = {}
    for position, first in enumerate(array("I", advice.past_tasks.alike)):
        members.setdefault(first, []).append(position)
    return members


def _difference(
    known: KnownDocuments, advice: AdviceDocument, positions: Iterable[int]
) -> tuple[Difference, float]:
    """Return what told the successes of texts from their failures, and when the last run ended."""
    won: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    endings: Counter[str] = Counter()
    last = 0.0
    for position in positions:
        ending = advice.past_tasks.endings[position]
        for procedure, successes, failures, ended_at, _ in advice.past_tasks.runs[position]:
            won[procedure] += successes
            lost[procedure] += failures
            endings[ending] += failures
            last = max(last, ended_at)
    successes, failures = won.total(), lost.total()
    with_success, with_failure = (
        tuple(tool for tool in tools if known.usual_tools.get(tool, 0.0) < _USUAL)
        for tools in _apart(advice, +won, +lost)
    )
    del endings[""]
    ending = min(endings, key=lambda said: (-endings[said], said), default="") if failures else ""
    said = error_text(ending) if ending else ""
    return Difference(successes, failures, with_success, with_failure, said), last


def _apart(
    advice: AdviceDocument, won: Counter[int], lost: Counter[int]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tools that all successes used and no failure did, and the reverse."""
    if min(won.total(), lost.total()) < _LEAST_RUNS or NO_PROCEDURE in won | lost:
        return (), ()
    return _only(advice, won, lost), _only(advice, lost, won)


def _only(advice: AdviceDocument, these: Iterable[int], those: Iterable[int]) -> tuple[str, ...]:
    used = [advice.procedures[position].order for position in these]
    others = {tool for position in those for tool in advice.procedures[position].order}
    return tuple(
        tool for tool in used[0] if tool not in others and all(tool in order for order in used[1:])
    )


def _merged(known: KnownDocuments, entries: Iterable[RankedTask]) -> list[RankedTask]:
    """Return the first of each group of entries with equal lines, with the count in its lines."""
    alike: dict[tuple[str, ...], list[RankedTask]] = {}
    for each in entries:
        text = _text(known, each.text)
        shown, went = _shown(known, text), Went(int(each.success), int(not each.success))
        lines = {language: found_task_line(shown, went, language) for language in _LANGUAGES}
        entry = msgspec.structs.replace(each, text=text, lines=lines)
        alike.setdefault(tuple(lines.values()), []).append(entry)
    return [_counted(same[0], len(same)) for same in alike.values()]


def _text(known: KnownDocuments, text: str) -> str:
    return _masked_text(text) if known.masks else text


def _shown(known: KnownDocuments, text: str) -> str:
    """Return what an agent reads of a text: nothing that somebody else put into a task."""
    return in_common(text, known.task) if known.masks else text


def _counted(entry: RankedTask, count: int) -> RankedTask:
    if count == 1:
        return entry
    lines = {language: f"{line} ×{count}" for language, line in entry.lines.items()}
    return msgspec.structs.replace(entry, lines=lines)
