"""The marks that lists of runs are filtered by: marks of six characters each, and the task's text.

A list looks for them in rows that are much shorter than the reports. Two things may have the same
mark: only its report says whether a run is really one of those asked for.
"""

from binascii import b2a_base64
from functools import lru_cache
from typing import Final, Literal
from zlib import crc32

from .outcome import Outcome

# A failed call is marked twice: with the name of its tool, and with "" for any tool.
MarkKind = Literal["source", "success", "ground", "task", "tool", "failed"]

# Longer names cannot be asked for.
_LONGEST: Final = 256
# The marks of runs with no more are remembered.
_FEW_CALLS: Final = 50


def mark_of(kind: MarkKind, value: str) -> str:
    """Return the mark of something that a run has."""
    digest = crc32(f"{kind}:{value}".encode())
    return b2a_base64(digest.to_bytes(4, "big"))[:6].decode()


def has_mark(marks: str, mark: str) -> bool:
    """Return whether a mark is among those of a run."""
    return any(marks.startswith(mark, at) for at in range(0, len(marks), len(mark)))


def marks_of(outcome: Outcome) -> str:
    """Return the marks of a run, one behind the other."""
    assert outcome.task_id is not None  # noqa: S101 - narrows what Outcome guarantees
    calls = frozenset(
        {((call.tool or "")[:_LONGEST], call.failed) for call in outcome.tool_graph or ()}
    )
    grounds = tuple([ground.kind for ground in outcome.grounds or ()])
    others_of = _known_marks if len(calls) <= _FEW_CALLS else _marks
    others = others_of(outcome.success, outcome.source or "", grounds, calls)
    return mark_of("task", outcome.task_id) + others


def _marks(
    success: bool | None, source: str, grounds: tuple[str, ...], calls: frozenset[tuple[str, bool]]
) -> str:
    had: set[tuple[MarkKind, str]] = {("success", str(success)), ("source", source)}
    had.update(("ground", kind) for kind in grounds)
    for tool, has_failed in calls:
        had.add(("tool", tool))
        if has_failed:
            had |= {("failed", tool), ("failed", "")}
    return "".join(sorted(mark_of(*each) for each in had))


# Most runs are like others in all of this.
_known_marks = lru_cache(maxsize=1024)(_marks)


def task_text_of(outcome: Outcome) -> str:
    """Return what a task's text is searched in: all of it, without its case; "" if unknown."""
    return (outcome.instruction or "").casefold()
