"""`trackrecord memories`: short facts that agents store and recall."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from trackrecord.queries.sorting import MEMORIES, PAST_TASKS, RECALLED, Order

from ..access import open_store, settings_for
from ..completing import complete
from ..group import CommandGroup
from ..options import (
    OneOf,
    Read,
    at_option,
    json_option,
    limit_option,
    list_options,
    name_of,
    project_option,
    sort_option,
)
from ..screen import for_people, on_terminal, print_json, print_table, say_more, shown_ids
from ..text_input import text_or_input
from ..trends import memory_trends

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from trackrecord.daemon_settings import DaemonSettings
    from trackrecord.queries.memories import KnownMemory, RecalledMemory

_MAX_SOURCE = 256
_FEW = 5
_MOST = 1000
_TYPES = ("memory", "anti-pattern")


def _confidence(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:  # NaN fails as well
        message = "a number from 0 to 1 is wanted"
        raise ValueError(message)
    return number


_CONFIDENCE = Read("number", _confidence)
_SOURCE = Read("name", name_of("source's name", _MAX_SOURCE))


@click.group("memories", cls=CommandGroup)
def command() -> None:
    """Store, recall and judge short facts that agents share."""


@command.command("add")
@click.argument("text", metavar="TEXT|-")
@project_option
@json_option
@click.option("--source", type=_SOURCE, help="Name the agent that the memory comes from.")
@click.option("--force", is_flag=True, help="Store the memory even if a similar one exists.")
def add_memory(
    text: str, project: str | None, source: str | None, *, force: bool, as_json: bool
) -> None:
    """Store a memory, unless the project has it already; - reads it from standard input.

    A text that contradicts an older memory supersedes it.
    """
    from trackrecord.changes import memories
    from trackrecord_producers.delivery.ids import new_id

    settings, project = settings_for(project)
    text = text_or_input(text, "memory")
    with open_store(settings) as engine:
        stored = memories.add_memory(
            engine, settings, project, text, memory_id=new_id(), source=source, force=force
        )
    if as_json:
        print_json(stored.to_document())
    elif not stored.is_new:
        click.echo(f"{stored.id}: known already")
    else:
        click.echo(stored.id)
        for older in stored.known.memory.supersedes:
            click.echo(f"supersedes {older}")


@command.command("recall")
@click.argument("text", metavar="TEXT")
@project_option
@at_option
@limit_option("memories", default=_FEW, most=_MOST)
@sort_option(RECALLED)
@json_option
@click.option(
    "--min-confidence",
    type=_CONFIDENCE,
    default=0.0,
    help="Set the minimum effective (decayed) confidence, from 0 to 1.",
)
@click.option(
    "--no-reset", is_flag=True, help="Do not reset the decay clock of the memories returned."
)
def recall_memories(
    text: str,
    project: str | None,
    at: float | None,
    limit: int,
    order: Order | None,
    min_confidence: float,
    *,
    no_reset: bool,
    as_json: bool,
) -> None:
    """Recall the memories that fit a text, best first.

    Each memory returned counts in full again, unless --no-reset is given, or --at asks about the
    past.
    """
    from trackrecord.changes.memories import recall_and_reset

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        found = recall_and_reset(
            engine,
            settings,
            project,
            text,
            limit=limit,
            min_confidence=min_confidence,
            at=at,
            reset=not no_reset,
        )
        known = _known(engine, project, found)
    documents = [recalled.to_document() for recalled in RECALLED.sorted(found, order)]
    if as_json:
        print_json(documents)
    elif not documents:
        click.echo(f"no memory of project {project!r} fits this text")
    else:
        _print(documents, known, "score", "relevance")


@command.command("confirm")
@click.argument("memory_id", metavar="ID", shell_complete=complete("memory"))
@project_option
@json_option
def confirm_memory(memory_id: str, project: str | None, *, as_json: bool) -> None:
    """Note that a memory was right."""
    from trackrecord.changes import memories

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        known = memories.confirm_memory(engine, settings, project, memory_id)
    _say(known, as_json=as_json)


@command.command("reject")
@click.argument("memory_id", metavar="ID", shell_complete=complete("memory"))
@project_option
@json_option
def reject_memory(memory_id: str, project: str | None, *, as_json: bool) -> None:
    """Note that a memory was wrong; one that is rejected often becomes a known pitfall."""
    from trackrecord.changes import memories

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        known = memories.reject_memory(engine, settings, project, memory_id)
    _say(known, as_json=as_json)


@command.command("forget")
@click.argument("memory_id", metavar="ID", shell_complete=complete("memory"))
@project_option
@json_option
def forget_memory(memory_id: str, project: str | None, *, as_json: bool) -> None:
    """Erase a memory and its history."""
    from trackrecord.changes import memories

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        whole = memories.forget_memory(engine, project, memory_id)
    if as_json:
        print_json({"id": whole, "forgotten": True})
    else:
        click.echo("forgotten")


@command.command("list")
@list_options(MEMORIES)
@click.option("--type", "kind", type=OneOf(_TYPES), help="Show only memories of this type.")
@click.option("--source", type=_SOURCE, help="Show only memories that this agent stored.")
@click.option(
    "--min-confidence",
    type=_CONFIDENCE,
    help="Show only memories with at least this stored confidence.",
)
def show_memories(
    project: str | None,
    at: float | None,
    kind: str | None,
    source: str | None,
    min_confidence: float | None,
    limit: int | None,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """List the memories, newest first."""
    from trackrecord.queries import memories

    wanted = memories.memory_filter(type=kind, source=source, min_confidence=min_confidence)
    settings, project = settings_for(project)
    with open_store(settings) as engine:
        found = memories.list_memories(
            engine, settings, project, wanted=wanted, at=at, limit=limit, order=order
        )
        total = memories.count_listed_memories(engine, project, wanted=wanted, at=at)
        known = _known(engine, project, found)
        trends = {} if as_json else _trends(engine, settings, project, found, at)
    documents = [memory.to_document() | _drawn(trends, memory.id) for memory in found]
    if as_json:
        print_json(documents)
    elif not documents:
        click.echo(f"no such memories in project {project!r}")
    else:
        _print(documents, known, "created_at", *for_people("trend"))
        say_more(total - len(documents), "memories")


@command.command("similar")
@click.argument("text", metavar="TEXT")
@project_option
@at_option
@limit_option("tasks", default=_FEW, most=_MOST)
@sort_option(PAST_TASKS)
@json_option
def show_similar(
    text: str,
    project: str | None,
    at: float | None,
    limit: int,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """Find past tasks whose instruction fits a text, best first, and how they ended."""
    from trackrecord.changes.memories import find_similar_tasks
    from trackrecord.queries import memories

    settings, project = settings_for(project)
    with open_store(settings) as engine:
        found = find_similar_tasks(engine, settings, project, text, limit=limit, at=at)
    found = PAST_TASKS.sorted(found, order)
    if as_json:
        print_json([memories.task_document(task) for task in found])
    elif not found:
        click.echo(f"no past task of project {project!r} fits this text")
    else:
        print_table(
            ("task", "ended", "verdict", "relevance", "instruction"),
            (
                (
                    task.task_id,
                    "success" if task.success else "failure",
                    task.verdict,
                    task.relevance,
                    task.instruction,
                )
                for task in found
            ),
        )


def _trends(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    shown: Sequence[KnownMemory],
    at: float | None,
) -> Mapping[str, str]:
    from trackrecord.store.database.engine import reading

    with reading(engine) as connection:
        ids = [memory.id for memory in shown]
        return memory_trends(connection, settings, project, ids, at)


def _drawn(trends: Mapping[str, str], memory_id: str) -> dict[str, str]:
    return {"trend": trends.get(memory_id, "")} if trends else {}


def _known(
    engine: Engine, project: str, shown: Sequence[KnownMemory | RecalledMemory]
) -> Sequence[str]:
    """Return the ids that short ids of those shown must not stand for."""
    from trackrecord.queries.memories import ids_for_tables

    ids = [memory.id for memory in shown]
    return ids_for_tables(engine, project, ids) if on_terminal() else ()


def _say(known: KnownMemory, *, as_json: bool) -> None:
    if as_json:
        print_json(known.to_document())
    else:
        memory = known.memory
        click.echo(f"{memory.id}: {memory.state.type.value}, {memory.state.confidence:g}")


def _print(documents: Sequence[dict[str, Any]], known: Sequence[str], *first: str) -> None:
    ids = shown_ids([each["id"] for each in documents], known)
    columns = (*first, "id", "type", "confidence", "effective_confidence", "source", "text")
    shown = (each | {"id": ids[each["id"]], "type": _type(each)} for each in documents)
    print_table(columns, ([each.get(name, "") for name in columns] for each in shown))


def _type(memory: dict[str, Any]) -> str:
    superseded = ", superseded" if memory["superseded_by"] else ""
    return f"{memory['type']}{superseded}"
