"""`trackrecord competences`: which tool procedures have worked."""

from __future__ import annotations

import click

from trackrecord.queries.sorting import COMPETENCES, RECORD_CHANGES
from trackrecord.resources.paging import Order

from ..access import read_store
from ..completing import complete
from ..drawing import bar
from ..group import CommandGroup
from ..options import (
    at_option,
    json_option,
    limit_option,
    list_options,
    project_option,
    sort_option,
)
from ..revising import COMMANDS
from ..screen import on_terminal, print_details, print_json, print_table, say_more, shown_ids
from ..selecting import select_competences as select_command


@click.group("competences", cls=CommandGroup)
def command() -> None:
    """Show which tool procedures have worked, and revise them."""


for each_command in (select_command, *COMMANDS):
    command.add_command(each_command)


@command.command("list")
@list_options(COMPETENCES)
def list_competences(
    project: str | None,
    at: float | None,
    limit: int | None,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """List the competence records, best first. `show` also names a record's episodes."""
    from trackrecord.learning.advice.estimates.wording import sentence
    from trackrecord.queries import competences

    with read_store(project) as (connection, settings, name):
        found = competences.list_competences(connection, settings, name, at=at)
    found = COMPETENCES.sorted(found, order)
    shown = found[:limit]
    if as_json:
        print_json([each.to_document() for each in shown])
        return
    if not shown:
        click.echo(f"no competence records in project {name!r}")
        return
    ids = shown_ids([each.id for each in shown], [each.id for each in found])
    print_table(
        ("id", "status", "worked", "rate", "salience", "recipe", "estimate"),
        (
            (
                ids[each.id],
                each.record.status.value,
                each.worked,
                _rate(each.record.performance.success_rate),
                each.salience_now,
                each.tools,
                None if each.estimate is None else sentence(each.estimate),
            )
            for each in shown
        ),
    )
    say_more(len(found) - len(shown), "records")


def _rate(rate: float) -> object:
    return f"{bar(rate)} {rate:.2f}" if on_terminal() else rate


@command.command("show")
@click.argument("competence_id", metavar="ID", shell_complete=complete("record"))
@project_option
@at_option
@json_option
def show_competence(
    competence_id: str, project: str | None, at: float | None, *, as_json: bool
) -> None:
    """Show one record: its recipe, performance, estimate, provenance and history."""
    from trackrecord.queries import competences

    with read_store(project) as (connection, settings, name):
        details = competences.show_competence(connection, settings, name, competence_id, at=at)
    (print_json if as_json else print_details)(details.to_document())


@command.command("history")
@click.argument("competence_id", metavar="ID", shell_complete=complete("record"))
@project_option
@at_option
@limit_option("changes")
@sort_option(RECORD_CHANGES)
@json_option
def show_history(
    competence_id: str,
    project: str | None,
    at: float | None,
    limit: int | None,
    order: Order | None,
    *,
    as_json: bool,
) -> None:
    """Show every change of a record with who, when and why, also when the record is gone."""
    from trackrecord.queries import competences

    with read_store(project) as (connection, _, name):
        changes = competences.record_history(connection, name, competence_id, at=at)
    shown = RECORD_CHANGES.sorted(changes, order)[:limit]
    documents = [change.to_document() for change in shown]
    if as_json:
        print_json(documents)
        return
    columns = ("at", "action", "actor", "rationale", "version", "status", "salience")
    print_table(columns, ([each[name] for name in columns] for each in documents))
    say_more(len(changes) - len(documents), "changes")
