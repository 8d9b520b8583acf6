"""Memories: all of a project in pages, one with its history, and what can be done with them."""

from typing import Final

from trackrecord.learning.memories.rules import MAX_TEXT_CHARS
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.declaration.checks import Argument, Share
from trackrecord.resources.experience.browse_memories import Causes, causes_of_changes, memory_page
from trackrecord.resources.experience.memories import (
    MEMORIES,
    Memory,
    MemoryChange,
    add_memory,
    confirm_memory,
    details_of,
    forget_memory,
    reject_memory,
)
from trackrecord.resources.figures.explain import explained

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import ROWS, page_of, start_of
from ..requests.page_request import PageRequest
from .entries import HistoryEvent, RunBehind, decision, why

_PATH = "/memories"
_PITFALL = "known pitfall"
_MOST_CHANGES = 200


def shown(asked: PageRequest) -> PageView:
    """Show the memories of a project."""
    sort, least = asked.text("sort"), asked.text("min_confidence")
    with read_project(asked.project) as it:
        found = memory_page(
            it,
            type=asked.text("type"),
            source=asked.text("source"),
            min_confidence=None if least is None else Argument.of(Share).from_text(least),
            content=asked.text("q"),
            order=None if sort is None else MEMORIES.sorting("list").order(sort),
            first=start_of(asked),
            limit=ROWS,
        )
    values = {
        "listing": page_of(asked, found.memories, found.total),
        "types": [("memory", "memory"), ("anti-pattern", _PITFALL)],
        "state_of": state_of,
        "max_text_chars": MAX_TEXT_CHARS,
    }
    return PageView("lists/memories.html", "Memories", values)


def entry(asked: PageRequest) -> PageView:
    """Show one memory."""
    with read_project(asked.project) as it:
        memory = details_of(it, asked.named["memory"])
        explanation = explained(it, memory.id, kind="memory")
        changed = memory.history[-_MOST_CHANGES:]
        causes = causes_of_changes(it.connection, it.project, changed)
    values = {
        "memory": memory,
        "state": state_of(memory),
        "why": why(explanation),
        "history": [happening(change, causes) for change in reversed(changed)],
        "runs": runs_behind(changed, causes),
    }
    return PageView("details/memory.html", memory.text, values)


def state_of(memory: Memory) -> str:
    """Return the state of a memory in a few words."""
    if memory.superseded_by is not None:
        return "superseded"
    return _PITFALL if memory.type.value == "anti-pattern" else "memory"


def happening(change: MemoryChange, causes: Causes) -> HistoryEvent:
    """Return a change of a memory in words, with its cause."""
    cause = change.because_of or ""
    what = f"{change.action}, confidence {change.confidence:g}"
    if cause in causes.runs:
        return HistoryEvent(change.at, what, run=cause)
    if cause in causes.tasks:
        return HistoryEvent(change.at, what, task=causes.tasks[cause])
    return HistoryEvent(change.at, f"{what}, because of {cause}" if cause else what)


def runs_behind(changed: tuple[MemoryChange, ...], causes: Causes) -> list[RunBehind]:
    """Return the runs that judged a memory, the last one first."""
    judged = (
        (change.action, causes.runs.get(change.because_of or "")) for change in reversed(changed)
    )
    return [
        RunBehind(run.outcome_id, run.task_id, run.ended_at, action, run.success)
        for action, run in judged
        if run is not None
    ]


def add(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Store a memory."""
    text = form.text("text", most=MAX_TEXT_CHARS)
    source, force = form.optional("source", most=256), form.optional("force") is not None

    def do(_by: str, _reason: str | None) -> str:
        added = add_memory(text, source=source, force=force, project=asked.project)
        if not added.is_new:
            return f"{added.id}: known already"
        return added.id + "".join(f"; supersedes {each}" for each in added.supersedes)

    question = (
        f"Remember this in project {asked.project!r}? Agents are handed it with tasks that it "
        f"fits: {text}"
    )
    return ConfirmedAction(question, "Remember it", do, asked.link(_PATH), reason="none")


def _said(memory: Memory) -> str:
    return f"{memory.id}: {memory.type.value}, {memory.confidence:g}"


confirm: Final = decision(
    _PATH, confirm_memory, "Confirm this memory? Its confidence rises.", "Confirm it", _said,
    reason="none",
)  # fmt: skip
reject: Final = decision(
    _PATH, reject_memory,
    "Reject this memory? Its confidence falls; one that is rejected often becomes a known pitfall.",
    "Reject it", _said, reason="none",
)  # fmt: skip
forget: Final = decision(
    _PATH, forget_memory, "Erase the memory {} and its history? This cannot be undone.",
    "Forget it", lambda whole: f"{whole}: forgotten", reason="none", erases=True,
)  # fmt: skip
