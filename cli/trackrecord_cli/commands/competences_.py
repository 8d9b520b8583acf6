"""`trackrecord competences`: which tool procedures have worked."""

import time
from typing import Any

import click
from sqlalchemy import Connection

from trackrecord.learning.competences.document import Reading
from trackrecord.learning.competences.explanation import explain_competence
from trackrecord.learning.competences.fallbacks import fallbacks_among
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import salience_now
from trackrecord.learning.text.explanation import Explanation
from trackrecord.prompt.presentation import present_competence
from trackrecord.settings import Settings
from trackrecord.store.competences.provenance import read_provenance
from trackrecord.store.competences.read import (
    read_competence,
    read_competences,
    read_history,
)
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.times import iso

from ..access import open_store, settings_for
from ..options import at_option, json_option, project_option
from ..screen import console, print_json, print_table
from .competence_documents import as_document
from .revising import COMMANDS
from .selecting import select_competences as select_command

_NOWHERE = -1


@click.group("competences")
def command() -> None:
    """Competence records: which tools, in which order, how often they worked."""


for each_command in (select_command, *COMMANDS):
    command.add_command(each_command)


@command.command("list")
@project_option
@at_option
@json_option
def list_competences(project: str | None, at: float | None, *, as_json: bool) -> None:
    """All records, best first. `show` also says which episodes one comes from."""
    settings, project = settings_for(project)
    now = time.time() if at is None else at
    with open_store(settings) as engine, reading(engine) as connection:
        records = _records(connection, project, at)
    ranked = sorted(records, key=lambda each: (-present_competence(each, now=now).score, each.id))
    if as_json:
        fallbacks = fallbacks_among(records, settings.competence.max_fallbacks)
        print_json([as_document(each, Reading(now, fallbacks[each.id])) for each in ranked])
        return
    if not ranked:
        click.echo(f"no competence records for project {project!r}")
        return
    print_table(
        ("id", "status", "worked", "rate", "salience", "recipe"),
        (
            (
                each.id,
                each.status.value,
                f"{each.performance.success_count}/{_episodes(each)}",
                each.performance.success_rate,
                salience_now(each.salience, each.lifecycle, now),
                " > ".join(step.tool for step in each.recipe),
            )
            for each in ranked
        ),
    )


@command.command("show")
@click.argument("competence_id", metavar="ID")
@project_option
@at_option
@json_option
def show_competence(
    competence_id: str, project: str | None, at: float | None, *, as_json: bool
) -> None:
    """One record: recipe, performance, provenance, history."""
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        document = competence_document(connection, settings, project, competence_id, at)
    if as_json:
        print_json(document)
        return
    history = document.pop("history")
    recipe = document.pop("recipe")
    print_table(("field", "value"), document.items())
    out = console()
    out.print("recipe")
    print_table(
        ("step", "tool", "arguments", "validated by"),
        (
            (
                step["step"],
                step["tool"],
                ", ".join(f"{name}: {kind}" for name, kind in step["args_schema"].items()),
                ", ".join(step["validation"]),
            )
            for step in recipe
        ),
    )
    out.print("history")
    print_table(
        ("at", "action", "actor", "rationale"),
        ((each["at"], each["action"], each["actor"], each["rationale"]) for each in history),
    )


@command.command("history")
@click.argument("competence_id", metavar="ID")
@project_option
@at_option
@json_option
def show_history(
    competence_id: str, project: str | None, at: float | None, *, as_json: bool
) -> None:
    """Every change of a record with who, when and why, also when the record is gone."""
    settings, project = settings_for(project)
    with open_store(settings) as engine, reading(engine) as connection:
        entries = _history(connection, _row_of(connection, project), competence_id, at)
    if as_json:
        print_json(entries)
        return
    columns = ("at", "action", "actor", "rationale", "version", "status", "salience")
    print_table(columns, ([each[name] for name in columns] for each in entries))


def _history(
    connection: Connection, project_id: int, competence_id: str, at: float | None
) -> list[dict[str, Any]]:
    """The changes of a record; what it was then is unknown where it was removed by the change."""
    return [
        {
            "action": each.action,
            "actor": each.actor,
            "at": iso(each.at),
            "rationale": each.rationale,
            "version": each.record.version if each.record else None,
            "status": each.record.status.value if each.record else None,
            "salience": each.record.salience if each.record else None,
        }
        for each in read_history(connection, project_id, competence_id, at=at)
    ]


def competence_document(
    connection: Connection,
    settings: Settings,
    project: str,
    competence_id: str,
    at: float | None,
) -> dict[str, Any]:
    """A record with what is found when it is read: fallbacks, provenance, history.

    Raises:
        UnknownId: the project has no such record.
    """
    project_id = _row_of(connection, project)
    record = read_competence(connection, project_id, competence_id, at=at)
    others = read_competences(connection, project_id, at=at)
    provenance = read_provenance(connection, project_id, record, at=at)
    document = as_document(
        record,
        Reading(
            now=time.time() if at is None else at,
            fallbacks=fallbacks_among(others, settings.competence.max_fallbacks)[record.id],
            episodes=provenance.count,
            outcome_ids=provenance.outcome_ids,
        ),
    )
    return document | {"history": _history(connection, project_id, competence_id, at)}


def explain_record(
    connection: Connection,
    settings: Settings,
    project: str,
    competence_id: str,
    at: float | None,
) -> tuple[dict[str, Any], Explanation]:
    """Why a competence record stands where it stands.

    Raises:
        UnknownId: the project has no such record.
    """
    now = time.time() if at is None else at
    record = read_competence(connection, _row_of(connection, project), competence_id, at=at)
    return as_document(record, Reading(now)), explain_competence(
        settings.competence, record, now=now
    )


def _records(connection: Connection, project: str, at: float | None) -> list[Competence]:
    return read_competences(connection, _row_of(connection, project), at=at)


def _row_of(connection: Connection, project: str) -> int:
    project_id = project_id_of(connection, project)
    return _NOWHERE if project_id is None else project_id


def _episodes(record: Competence) -> int:
    return record.performance.success_count + record.performance.failure_count
