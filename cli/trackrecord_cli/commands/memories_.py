"""`trackrecord memories`: short facts that agents store and recall."""

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from sqlalchemy import Connection

from trackrecord.learning.memories.explanation import explain_memory
from trackrecord.learning.memories.rules import MemoryRules, MemoryType
from trackrecord.learning.text.explanation import Explanation
from trackrecord.settings import Settings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.past_tasks import index_past_tasks, similar_tasks
from trackrecord.store.memories.read import Memory, changes_of, find_memory
from trackrecord.store.memories.recall import DEFAULT_LIMIT, recall, reset_clocks
from trackrecord.store.memories.similar import mark_waiting
from trackrecord.store.memories.write import (
    MemoryFilter,
    confirm,
    forget,
    list_memories,
    reject,
    remember,
)
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.times import iso
from trackrecord_producers.ids import new_id

from ..access import open_store, project_on_record, settings_for
from ..memory_documents import memory_document, recalled_document, task_document
from ..options import Read, at_option, json_option, name_of, project_option
from ..screen import print_json, print_table

_NOWHERE = -1
_MAX_SOURCE = 256


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


@click.group("memories")
def command() -> None:
    """Memories: what worked, what to know, what to beware of."""


@command.command("add")
@click.argument("text", metavar="TEXT|-")
@project_option
@json_option
@click.option("--source", type=_SOURCE, help="Which agent says so.")
@click.option("--force", is_flag=True, help="Store it whatever it is similar to.")
def add_memory(
    text: str, project: str | None, source: str | None, *, force: bool, as_json: bool
) -> None:
    """Store a memory, unless the project has it already; - reads it from standard input.

    A text that contradicts an older memory supersedes it.
    """
    settings, project = settings_for(project)
    if text == "-":
        text = sys.stdin.read()
    now = time.time()
    with open_store(settings) as engine, writing(engine) as connection:
        project_id = ensure_projects(connection, [project])[project]
        stored = remember(
            connection,
            project_id,
            text,
            memory_id=new_id(),
            rules=settings.memories,
            now=now,
            source=source,
            force=force,
        )
    if as_json:
        document = memory_document(settings.memories, stored.memory, now)
        print_json(document | {"is_new": stored.is_new, "similarity": stored.similarity})
    elif not stored.is_new:
        click.echo(f"{stored.memory.id}: known already")
    else:
        click.echo(stored.memory.id)
        for older in stored.memory.supersedes:
            click.echo(f"supersedes {older}")


@command.command("recall")
@click.argument("text", metavar="TEXT")
@project_option
@at_option
@json_option
@click.option("--limit", type=click.IntRange(1, 1000), default=DEFAULT_LIMIT, show_default=True)
@click.option(
    "--min-confidence", type=_CONFIDENCE, default=0.0, help="What it must count now at least."
)
@click.option("--no-reset", is_flag=True, help="Do not let what is recalled count in full again.")
def recall_memories(
    text: str,
    project: str | None,
    at: float | None,
    limit: int,
    min_confidence: float,
    *,
    no_reset: bool,
    as_json: bool,
) -> None:
    """The memories that fit a text, the best first.

    What is recalled counts in full again, unless --no-reset, or --at asks about the past.
    """
    settings, project = settings_for(project)
    now = time.time()
    with open_store(settings) as engine:
        mark_waiting(engine, settings.memories)
        with reading(engine) as connection:
            found = recall(
                connection,
                _row_of(connection, project),
                text,
                rules=settings.memories,
                now=now,
                limit=limit,
                min_confidence=min_confidence,
                at=at,
            )
        if found and not no_reset and at is None:
            with writing(engine) as connection:
                rows = [each.memory.row for each in found]
                reset_clocks(connection, rows, rules=settings.memories, now=now)
    moment = now if at is None else at
    documents = [recalled_document(settings.memories, each, moment) for each in found]
    if as_json:
        print_json(documents)
    elif not documents:
        click.echo("nothing that is on record fits")
    else:
        _print(documents, "score", "relevance")


@command.command("confirm")
@click.argument("memory_id", metavar="ID")
@project_option
@json_option
def confirm_memory(memory_id: str, project: str | None, *, as_json: bool) -> None:
    """Note that a memory was right."""
    with _changing(project) as (connection, settings, project_id):
        memory = confirm(
            connection, project_id, memory_id, rules=settings.memories, now=time.time()
        )
    _say(settings.memories, memory, as_json=as_json)


@command.command("reject")
@click.argument("memory_id", metavar="ID")
@project_option
@json_option
def reject_memory(memory_id: str, project: str | None, *, as_json: bool) -> None:
    """Note that a memory was wrong; what is rejected often becomes a known pitfall."""
    with _changing(project) as (connection, settings, project_id):
        memory = reject(connection, project_id, memory_id, rules=settings.memories, now=time.time())
    _say(settings.memories, memory, as_json=as_json)


@command.command("forget")
@click.argument("memory_id", metavar="ID")
@project_option
@json_option
def forget_memory(memory_id: str, project: str | None, *, as_json: bool) -> None:
    """Erase a memory and its history."""
    with _changing(project) as (connection, _, project_id):
        forget(connection, project_id, memory_id, now=time.time())
    if as_json:
        print_json({"id": memory_id, "forgotten": True})
    else:
        click.echo("forgotten")


@command.command("list")
@project_option
@at_option
@json_option
@click.option("--type", "kind", type=click.Choice([each.value for each in MemoryType]))
@click.option("--source", type=_SOURCE, help="Only what that agent stored.")
@click.option("--min-confidence", type=_CONFIDENCE, help="Only with that stored confidence.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
def show_memories(
    project: str | None,
    at: float | None,
    kind: str | None,
    source: str | None,
    min_confidence: float | None,
    limit: int | None,
    *,
    as_json: bool,
) -> None:
    """All memories, newest first."""
    settings, project = settings_for(project)
    wanted = MemoryFilter(MemoryType(kind) if kind else None, source, min_confidence)
    with open_store(settings) as engine, reading(engine) as connection:
        project_id = _row_of(connection, project)
        found = list_memories(connection, project_id, wanted, at=at, limit=limit)
    moment = time.time() if at is None else at
    documents = [memory_document(settings.memories, each, moment) for each in found]
    if as_json:
        print_json(documents)
    elif not documents:
        click.echo(f"no such memories for project {project!r}")
    else:
        _print(documents, "created_at")


@command.command("similar")
@click.argument("text", metavar="TEXT")
@project_option
@at_option
@json_option
@click.option("--limit", type=click.IntRange(1, 1000), default=DEFAULT_LIMIT, show_default=True)
def show_similar(
    text: str, project: str | None, at: float | None, limit: int, *, as_json: bool
) -> None:
    """Past tasks whose instruction fits a text, the best first, and how they ended."""
    settings, project = settings_for(project)
    with open_store(settings) as engine:
        index_past_tasks(engine)
        with reading(engine) as connection:
            found = similar_tasks(
                connection,
                _row_of(connection, project),
                text,
                most=settings.memories.max_candidates,
                limit=limit,
                at=at,
            )
    if as_json:
        print_json([task_document(each) for each in found])
    elif not found:
        click.echo("no past task on record fits")
    else:
        print_table(
            ("task", "ended", "verdict", "relevance", "instruction"),
            (
                (each.task_id, _end(each.success), each.verdict, each.relevance, each.instruction)
                for each in found
            ),
        )


def _end(success: bool) -> str:
    return "success" if success else "failure"


def explain_stored(
    connection: Connection, settings: Settings, project: str, memory_id: str, at: float | None
) -> tuple[dict[str, object], Explanation]:
    """Why a memory stands where it stands.

    Raises:
        UnknownId: the project has no such memory.
    """
    now = time.time() if at is None else at
    memory = find_memory(connection, _row_of(connection, project), memory_id, at=at)
    numbers = memory_document(settings.memories, memory, now) | {
        "history": [
            {**vars(each), "at": iso(each.at)} for each in changes_of(connection, memory.row, at=at)
        ]
    }
    return numbers, explain_memory(settings.memories, memory.state, now=now)


@contextmanager
def _changing(project: str | None) -> Iterator[tuple[Connection, Settings, int]]:
    settings, project = settings_for(project)
    with open_store(settings) as engine, writing(engine) as connection:
        yield connection, settings, project_on_record(connection, project)


def _row_of(connection: Connection, project: str) -> int:
    project_id = project_id_of(connection, project)
    return _NOWHERE if project_id is None else project_id


def _say(rules: MemoryRules, memory: Memory, *, as_json: bool) -> None:
    if as_json:
        print_json(memory_document(rules, memory, time.time()))
    else:
        click.echo(f"{memory.id}: {memory.state.type.value}, {memory.state.confidence:g}")


def _print(documents: list[dict[str, Any]], *first: str) -> None:
    columns = (*first, "id", "type", "confidence", "effective_confidence", "source", "text")
    print_table(columns, ([each[name] for name in columns] for each in documents))
