"""`trackrecord criteria`: how far each criterion can be relied on."""

from __future__ import annotations

import click

from ..access import read_store
from ..group import Group
from ..options import at_option, json_option, list_options, project_option
from ..screen import print_details, print_json, print_table, say_more


@click.group("criteria", cls=Group)
def command() -> None:
    """Show how far single criteria can be relied on."""


@command.command("list")
@list_options("criteria")
def list_criteria(
    project: str | None, at: float | None, limit: int | None, *, as_json: bool
) -> None:
    """List the criteria with their weights, by name."""
    from trackrecord.queries import criteria

    with read_store(project) as (connection, settings, name):
        found = criteria.list_criteria(connection, settings, name, at=at)
    shown = found[:limit]
    if as_json:
        print_json([criterion.to_document() for criterion in shown])
    elif not shown:
        click.echo(f"no criteria in project {name!r}")
    else:
        print_table(
            ("criterion", "weight", "helpful", "neutral", "harmful", "evidence", "note"),
            (
                (
                    criterion.standing.criterion,
                    criterion.standing.weight,
                    criterion.standing.evidence.helpful,
                    criterion.standing.evidence.neutral,
                    criterion.standing.evidence.harmful,
                    criterion.standing.evidence.decayed_total,
                    criterion.note,
                )
                for criterion in shown
            ),
        )
        say_more(len(found) - len(shown), "criteria")


@command.command("show")
@click.argument("criterion", metavar="NAME")
@project_option
@at_option
@json_option
def show_criterion(criterion: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """Show one criterion: its numbers, and its newest feedback."""
    from trackrecord.queries import criteria

    with read_store(project) as (connection, settings, name):
        details = criteria.show_criterion(connection, settings, name, criterion, at=at)
    (print_json if as_json else print_details)(details.to_document())


@command.command("feedback")
@click.argument("task_id", metavar="TASK_ID")
@list_options("entries", default=100)
def show_feedback(
    task_id: str, project: str | None, at: float | None, limit: int, *, as_json: bool
) -> None:
    """Show what the outcomes of one task said about criteria, newest first."""
    from trackrecord.queries import criteria

    with read_store(project) as (connection, settings, name):
        found = criteria.list_feedback(connection, settings, name, task_id, at=at, limit=limit)
    documents = [criteria.feedback_document(feedback) for feedback in found]
    if as_json:
        print_json(documents)
        return
    columns = ("criterion", "verdict", "value", "outcome_id", "ended_at")
    print_table(columns, ([document[column] for column in columns] for document in documents))
