"""Memories: all of a project in pages, one with its history, and what can be done with them."""

from trackrecord.changes import memories as changes
from trackrecord.errors import InvalidRequest
from trackrecord.queries.browse_memories import Causes, causes_of_changes, memory_page
from trackrecord.queries.explain import explain
from trackrecord.queries.memories import KnownMemory, memory_filter, show_memory
from trackrecord.queries.rates_over_time import memory_confidence_over_time
from trackrecord.queries.sorting import MEMORIES
from trackrecord.store.memories.read import MemoryChange

from ..answering import Deed, Shown
from ..asked import PageRequest
from ..forms import Form
from ..listing import ROWS, page_of, start_of
from .entries import Happening, RunBehind, points, why

_PATH = "/memories"
_PITFALL = "known pitfall"
_TYPES = [("memory", "memory"), ("anti-pattern", _PITFALL)]
_MOST_CHANGES = 200


def shown(asked: PageRequest) -> Shown:
    """Show the memories of a project."""
    sort = asked.text("sort")
    wanted = memory_filter(
        type=asked.text("type"),
        source=asked.text("source"),
        min_confidence=_share(asked.text("min_confidence")),
    )
    with asked.reading() as connection:
        found = memory_page(
            connection,
            asked.floor.settings,
            asked.project,
            wanted=wanted,
            content=asked.text("q"),
            order=None if sort is None else MEMORIES.order(sort),
            first=start_of(asked),
            limit=ROWS,
            at=asked.at,
        )
    values = {
        "listing": page_of(asked, found.memories, found.total),
        "types": _TYPES,
        "state_of": state_of,
    }
    return Shown("memories.html", "Memories", values)


def _share(given: str | None) -> float | None:
    if given is None:
        return None
    try:
        return float(given)
    except ValueError:
        message = f"min_confidence must be a number from 0 to 1, not {given!r:.80}"
        raise InvalidRequest(message) from None


def entry(asked: PageRequest) -> Shown:
    """Show one memory."""
    settings, project, at = asked.floor.settings, asked.project, asked.at
    with asked.reading() as connection:
        details = show_memory(connection, settings, project, asked.named["memory"], at=at)
        known = details.known
        explained = explain(connection, settings, project, known.id, kind="memory", at=at)
        rates = memory_confidence_over_time(connection, settings, project, known.memory, at=at)
        changed = details.changes[-_MOST_CHANGES:]
        causes = causes_of_changes(connection, project, changed, at=at)
    values = {
        "known": known,
        "memory": known.memory,
        "state": state_of(known),
        "why": why(explained),
        "rates": points(rates),
        "history": [happening(change, causes) for change in reversed(changed)],
        "runs": runs_behind(changed, causes),
    }
    return Shown("memory.html", known.text, values)


def state_of(known: KnownMemory) -> str:
    """Return what a memory is in a few words."""
    memory = known.memory
    if memory.superseded_by is not None:
        return "superseded"
    return _PITFALL if memory.state.type.value == "anti-pattern" else "memory"


def happening(change: MemoryChange, causes: Causes) -> Happening:
    """Return a change of a memory in words, with what brought it about."""
    cause = change.because_of or ""
    what = f"{change.action}, confidence {change.confidence:g}"
    if cause in causes.runs:
        return Happening(change.at, what, run=cause)
    if cause in causes.tasks:
        return Happening(change.at, what, task=causes.tasks[cause])
    return Happening(change.at, f"{what}, because of {cause}" if cause else what)


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


def add(asked: PageRequest, form: Form) -> Deed:
    """Store a memory."""
    settings = asked.floor.settings
    text = form.text("text", most=settings.memories.max_text_chars)
    source, force = form.optional("source", most=256), form.optional("force") is not None

    def do(_by: str, _reason: str | None) -> str:
        added = changes.add_memory(
            asked.floor.engine, settings, asked.project, text, source=source, force=force
        )
        if not added.is_new:
            return f"{added.id}: known already"
        older = added.known.memory.supersedes
        return added.id + "".join(f"; supersedes {each}" for each in older)

    question = (
        f"Remember this in project {asked.project!r}? Agents are handed it with tasks that it "
        f"fits: {text}"
    )
    return Deed(question, "Remember it", do, asked.link(_PATH), reason="none")


def confirm(asked: PageRequest, form: Form) -> Deed:
    """Note that a memory was right."""
    memory_id = form.text("id")

    def do(_by: str, _reason: str | None) -> str:
        known = changes.confirm_memory(
            asked.floor.engine, asked.floor.settings, asked.project, memory_id
        )
        return _said(known)

    question = "Confirm this memory? Its confidence rises."
    return Deed(question, "Confirm it", do, asked.link_to(_PATH, memory_id), reason="none")


def reject(asked: PageRequest, form: Form) -> Deed:
    """Note that a memory was wrong."""
    memory_id = form.text("id")

    def do(_by: str, _reason: str | None) -> str:
        known = changes.reject_memory(
            asked.floor.engine, asked.floor.settings, asked.project, memory_id
        )
        return _said(known)

    question = (
        "Reject this memory? Its confidence falls; one that is rejected often becomes a known "
        "pitfall."
    )
    return Deed(question, "Reject it", do, asked.link_to(_PATH, memory_id), reason="none")


def forget(asked: PageRequest, form: Form) -> Deed:
    """Erase a memory."""
    memory_id = form.text("id")

    def do(_by: str, _reason: str | None) -> str:
        whole = changes.forget_memory(asked.floor.engine, asked.project, memory_id)
        return f"{whole}: forgotten"

    return Deed(
        f"Erase the memory {memory_id} and its history? This cannot be undone.",
        "Forget it",
        do,
        asked.link_to(_PATH, memory_id),
        then=asked.link(_PATH),
        reason="none",
        dangerous=True,
    )


def _said(known: KnownMemory) -> str:
    state = known.memory.state
    return f"{known.id}: {state.type.value}, {state.confidence:g}"
