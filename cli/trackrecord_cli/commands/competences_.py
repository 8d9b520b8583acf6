"""`trackrecord competences`: which tool procedures have worked."""

from __future__ import annotations

from collections.abc import Sequence

import click

from trackrecord.queries.sorting import RECORD_CHANGES
from trackrecord.resources.competences import COMPETENCES, CompetenceRecord, history_of
from trackrecord.resources.paging import Order
from trackrecord.resources.project_store import read_project

from ..access import own_store
from ..arguments.completing import complete
from ..arguments.options import at_option, json_option, limit_option, project_option, sort_option
from ..output.drawing import bar
from ..output.screen import print_json, print_table, say_more
from ..resource_commands import group_of
from ..subcommands.revising import COMMANDS
from ..subcommands.selecting import select_competences as select_command


def _bars(records: Sequence[CompetenceRecord], _project: str, _at: float | None) -> list[str]:
    rates = [each.record.performance.success_rate for each in records]
    return [f"{bar(rate)} {rate:.2f}" for rate in rates]


command = group_of(COMPETENCES, drawn={"rate": _bars})
for each_command in (select_command, *COMMANDS):
    command.add_command(each_command)


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
    with own_store(project) as name, read_project(name, at) as it:
        changes = history_of(it, competence_id)
    shown = RECORD_CHANGES.sorted(changes, order)[:limit]
    documents = [change.to_document() for change in shown]
    if as_json:
        print_json(documents)
        return
    columns = ("at", "action", "actor", "rationale", "version", "status", "salience")
    print_table(columns, ([each[name] for name in columns] for each in documents))
    say_more(len(changes) - len(documents), "changes")
