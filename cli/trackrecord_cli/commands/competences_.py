"""`trackrecord competences`: which tool procedures have worked."""

import time
from typing import Any

import click
from sqlalchemy import Connection

from trackrecord.learning.competence import salience_now
from trackrecord.learning.explanation import Explanation, explain_competence
from trackrecord.learning.fallbacks import fallbacks_among
from trackrecord.learning.record_document import Reading, document_of
from trackrecord.learning.records import Competence
from trackrecord.moments import iso
from trackrecord.rankings.presenting import present_competence
from trackrecord.settings import Settings
from trackrecord.store.competences import (
    read_competence,
    read_competences,
    read_history,
)
from trackrecord.store.engine import reading
from trackrecord.store.projects import project_id_of
from trackrecord.store.provenance import read_provenance

from ..access import open_store, settings_for
from ..options import at_option, json_option, project_option
from ..screen import console, print_json, print_table

_NOWHERE = -1


@click.group("competences")
def command() -> None:
    """Competence records: which tools, in which order, how often they worked."""


@command.command("list")
@project_option
@at_option
@json_option
def list_competences(project: str | None, at: float | None, *, as_json: bool) -> None:
    """All records, best first."""
    settings, project = settings_for(project)
    now = time.time() if at is None else at
    with open_store(settings) as engine, reading(engine) as connection:
        records = _records(connection, project, at)
    ranked = sorted(records, key=lambda each: (-present_competence(each, now=now).score, each.id))
    if as_json:
        print_json([as_document(each, Reading(now)) for each in ranked])
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


def as_document(record: Competence, reading: Reading) -> dict[str, Any]:
    """A record as JSON shows it; its times as ISO 8601."""
    document = document_of(record, reading)
    for part, name in (
        (document, "created_at"),
        (document, "updated_at"),
        (document["lifecycle"], "last_reinforced_at"),
        (document["performance"], "last_used_at"),
    ):
        part[name] = iso(part[name])
    return document


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
    return document | {
        "history": [
            {
                "action": each.action,
                "actor": each.actor,
                "at": iso(each.at),
                "rationale": each.rationale,
            }
            for each in read_history(connection, project_id, competence_id, at=at)
        ],
    }


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
