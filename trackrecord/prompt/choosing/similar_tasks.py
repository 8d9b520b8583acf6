"""Similar past tasks: those whose counts separate their successes from their failures.

How a similar task ended says nothing by itself, nor does what another repository's tasks met.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from trackrecord.learning.advice.texts import Difference, similar_task_line
from trackrecord.learning.text.language import LANGUAGES
from trackrecord.learning.text.masking import masked
from trackrecord.learning.text.search_words import in_common

from ..documents.advice_document import AdviceDocument, DifferenceEntry
from ..documents.rankings_document import RankedTask
from .inputs import PromptInputs

_ID_BYTES: Final = 8
_REPOSITORY: Final = "repository"
# Less similar tasks have little to do with each other.
_LEAST_SIMILAR: Final = 0.3

# The same past tasks are similar to one task after another.
_masked_text = lru_cache(maxsize=2048)(masked)


def past_tasks_for(known: PromptInputs, told: Sequence[str] = ()) -> list[RankedTask]:
    """Return the past tasks that a task is similar to, the most similar first.

    Only those of which it is known what made the difference, by a tool that the agent has got or an
    error, and only of the task's repository: in a project of several, the one that the task's
    conditions or its text name. No two read alike.

    Args:
        known: the documents and the task.
        told: lines of lessons; an error that stands in one is not told again.
    """
    if known.advice is None or not known.advice.past_tasks.differences:
        return []
    by_text = known.once("differences by text", _by_text)
    found: dict[int, tuple[float, DifferenceEntry]] = {}
    for each in known.expectation.similar:
        if each.cosine >= _LEAST_SIMILAR:
            for place, entry in by_text.get(each.position, ()):
                found.setdefault(place, (each.cosine, entry))
    tasks: dict[tuple[str, str, str], RankedTask] = {}
    for cosine, entry in found.values():
        if (
            _is_of_its_repository(known, known.advice, entry)
            and not (entry.error and any(entry.error in line for line in told))
            and not (entry.tool and not known.can_use((entry.tool,)))
        ):
            task = _task_of(known, entry, cosine)
            # Where what told texts apart is not shown, the most similar one speaks for them.
            shown = task.lines["en"].rpartition(" [")[0]
            tasks.setdefault((shown, entry.tool, entry.error), task)
    return list(tasks.values())


def _by_text(advice: AdviceDocument) -> dict[int, list[tuple[int, DifferenceEntry]]]:
    found: dict[int, list[tuple[int, DifferenceEntry]]] = {}
    for place, entry in enumerate(advice.past_tasks.differences):
        for position in entry.texts:
            found.setdefault(position, []).append((place, entry))
    return found


def _is_of_its_repository(
    known: PromptInputs, advice: AdviceDocument, entry: DifferenceEntry
) -> bool:
    if not advice.past_tasks.is_mixed:
        return True
    named = known.conditions.get(_REPOSITORY) if known.conditions else None
    spellings = list(_spellings(entry.repository))
    if named is not None:
        return not named.isdisjoint(spellings)
    text = known.task.casefold()
    return any(
        re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w-])", text) is not None
        for name in spellings
    )


def _spellings(repository: str) -> Iterator[str]:
    """Yield how a repository may be named: as it was reported, and without its owner."""
    name = repository.casefold().strip().rstrip("/").removesuffix(".git")
    if name:
        yield name
        yield re.split(r"[/:\\]", name)[-1]


def _task_of(known: PromptInputs, entry: DifferenceEntry, cosine: float) -> RankedTask:
    text = shown = entry.example
    if known.rules.context.mask_past_tasks:
        text = _masked_text(text)
        # Nothing that somebody else put into a task.
        shown = in_common(text, known.task)
    difference = Difference(
        entry.runs,
        entry.successes,
        entry.with_runs,
        entry.with_successes,
        entry.tool,
        entry.error,
    )
    said = f"{entry.repository}\n{text}"
    return RankedTask(
        id=blake2b(said.encode(errors="replace"), digest_size=_ID_BYTES).hexdigest(),
        task_id="",
        text=text,
        success=2 * entry.successes > entry.runs,
        verdict="",
        ended_at=entry.ended_at,
        score=cosine,
        lines={language: similar_task_line(shown, difference, language) for language in LANGUAGES},
    )
