"""The parts of a project that retention has removed, in words."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import Connection, or_, select

from trackrecord.learning.text.times import iso
from trackrecord.resources.declaration.checks import moment_of
from trackrecord.resources.declaration.resource import RestsOn
from trackrecord.store.outcomes.projects import (
    RemovedUntil,
    first_received,
    first_removed,
    project_id_of,
    removed_until,
)
from trackrecord.store.outcomes.tables import projects

# The projects whose removed outcomes one answer names.
_MOST_NAMED: Final = 5


def removed_notes(connection: Connection, project_id: int) -> tuple[str, ...]:
    """Return what retention has removed of a project, in one sentence for each kind."""
    until = removed_until(connection, project_id)
    return tuple(note for note in (_outcomes_note(until), _texts_note(until)) if note)


def outcomes_removed(connection: Connection, project_id: int) -> str:
    """Return which outcomes of a project retention has removed; "" for none."""
    return _outcomes_note(removed_until(connection, project_id))


def texts_removed(connection: Connection, project_id: int) -> str:
    """Return of which outcomes retention has removed the texts; "" for none."""
    return _texts_note(removed_until(connection, project_id))


def removed_from_answer(
    connection: Connection,
    project: str | None,
    needed: Collection[RestsOn],
    asked: Mapping[str, Any],
) -> str:
    """Return what an answer lacks because retention has removed it; "" if it lacks nothing.

    Args:
        connection: a reading transaction.
        project: whose answer; None for all projects.
        needed: what it may lack, see `may_lack`.
        asked: the arguments of the call, of which `at` and `since` matter.
    """
    at, since = moment_of(asked.get("at")), moment_of(asked.get("since"))
    if project is not None:
        project_id = project_id_of(connection, project)
        return "" if project_id is None else _lacks(connection, project_id, needed, at, since)
    is_removed = or_(projects.c.outcomes_until.is_not(None), projects.c.bodies_until.is_not(None))
    query = select(projects.c.id, projects.c.name).where(is_removed)
    notes = [
        f"project {name!r}: {note}"
        for project_id, name in connection.execute(query.order_by(projects.c.name)).all()
        if (note := _lacks(connection, project_id, needed, at, since))
    ]
    rest = [f"and {len(notes) - _MOST_NAMED} more projects"] if len(notes) > _MOST_NAMED else []
    return "; ".join(notes[:_MOST_NAMED] + rest)


def _lacks(
    connection: Connection,
    project_id: int,
    needed: Collection[RestsOn],
    at: float | None,
    since: float | None,
) -> str:
    until, first = removed_until(connection, project_id), first_removed(connection, project_id)
    notes = []
    if first is not None and until.outcomes is not None:
        reaches_back = (at is None or at >= first) and (since is None or since < until.outcomes)
        if "outcomes" in needed and reaches_back:
            before = f"outcomes received before {_day(until.outcomes)} are removed"
            notes.append(f"{before}: only those that are left are counted or listed")
    if (
        "texts" in needed
        and until.bodies is not None
        and _is_since_first(connection, project_id, at)
    ):
        before = f"the texts of outcomes received before {_day(until.bodies)} are removed"
        notes.append(f"{before}: no search finds them")
    return "; ".join(notes)


def _is_since_first(connection: Connection, project_id: int, at: float | None) -> bool:
    first = first_received(connection, project_id)
    return at is None or (first is not None and at >= first)


def _outcomes_note(until: RemovedUntil) -> str:
    if until.outcomes is None:
        return ""
    return (
        f"outcomes received before {_day(until.outcomes)} are removed: they still count, summed "
        "up by the day"
    )


def _texts_note(until: RemovedUntil) -> str:
    if until.bodies is None:
        return ""
    return (
        f"the texts of outcomes received before {_day(until.bodies)} are removed: their prompts, "
        "and the arguments and results of their calls; the beginnings of command lines, names of "
        "files and lines of errors, from which lessons and commands are counted, stay"
    )


def _day(moment: float) -> str:
    return str(iso(moment))[:10]
