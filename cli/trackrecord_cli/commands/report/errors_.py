"""`trackrecord errors`: what went wrong in attempts at a task in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trackrecord.errors import UnknownProject
from trackrecord.inflight.errors import ERROR_TYPES, ErrorType
from trackrecord.resources.declaration.paging import Order
from trackrecord.resources.reports import errors_in_flight
from trackrecord.resources.reports.errors_in_flight import ERRORS, TASK_ERRORS

from ...access import check_project, settings_for
from ...arguments.options import (
    OneOf,
    json_option,
    lang_option,
    list_options,
    project_option,
)
from ...output.screen import on_terminal, print_json, print_table, say_more, shown_ids
from ...resource_commands import group_of

if TYPE_CHECKING:
    from trackrecord.learning.text.language import Language

command = group_of(ERRORS)


def _name_unknown(project: str, task_id: str | None = None) -> str | None:
    """Print which project, or else which task, is unknown; return the nearest task.

    A project without any record is normal here: its first task has not ended yet. So is a task
    that nothing went wrong with.
    """
    if not errors_in_flight.has_tasks_in_flight(project):
        try:
            check_project(settings_for(project)[0], project)
        except UnknownProject as error:
            click.echo(f"trackrecord: {error}", err=True)
            return None
    if task_id is None:
        return None
    unknown = errors_in_flight.nearest_task_in_flight(project, task_id)
    click.echo(f"trackrecord: {unknown}", err=True)
    return unknown.nearest


@command.command("record")
@click.argument("task_id", metavar="TASK_ID")
@click.argument("message", metavar="MESSAGE")
@project_option
@json_option
@click.option(
    "--type",
    "kind",
    type=OneOf(ERROR_TYPES),
    help="Set the type of the error.  [default: derived from the message]",
)
@click.option("--stack-trace", metavar="TEXT", help="Add the stack trace of the error.")
@click.option("--tool", "tool_name", metavar="NAME", help="Name the tool that was used.")
@click.option("--context", metavar="TEXT", help="Describe what was being done.")
def record_error(
    task_id: str,
    message: str,
    project: str | None,
    kind: ErrorType | None,
    stack_trace: str | None,
    tool_name: str | None,
    context: str | None,
    *,
    as_json: bool,
) -> None:
    """Record an error and print its id."""
    recorded = errors_in_flight.record_error(
        task_id=task_id,
        message=message,
        type=kind,
        stack_trace=stack_trace,
        tool_name=tool_name,
        context=context,
        project=settings_for(project)[1],
    )
    if as_json:
        print_json(recorded.to_document())
    else:
        click.echo(recorded.id)


@command.command("list")
@list_options(TASK_ERRORS)
@click.option("--task", "task_id", metavar="TASK_ID", help="List only the errors of this task.")
@click.option("--unresolved", is_flag=True, help="List only errors that nobody has dealt with.")
@click.option(
    "--category",
    "--type",
    "category",
    type=OneOf(ERROR_TYPES),
    help="List only errors of this type.",
)
def list_errors(
    project: str | None,
    limit: int | None,
    order: Order | None,
    task_id: str | None,
    category: ErrorType | None,
    *,
    unresolved: bool,
    as_json: bool,
) -> None:
    """List the errors of tasks in flight that are kept, those that happened last first."""
    from trackrecord.learning.text.times import iso

    _, name = settings_for(project)
    found = errors_in_flight.list_errors(
        task_id=task_id, unresolved=unresolved, category=category, project=name
    )
    known = errors_in_flight.ids_of_errors(name) if on_terminal() else ()
    is_unknown = (
        task_id is not None
        and not errors_in_flight.error_stats(task_id=task_id, project=name).is_known
    )
    _name_unknown(name, task_id if is_unknown else None)
    shown = TASK_ERRORS.sorted(found, order)[:limit]
    if as_json:
        print_json([error.to_document() for error in shown])
    elif not shown:
        click.echo(f"no such errors are kept in project {name!r}")
    else:
        short = shown_ids([error.id for error in shown], known)
        print_table(
            ("id", "task", "type", "message", "at", "resolved"),
            (
                (
                    short[error.id],
                    error.task_id,
                    error.type,
                    error.message,
                    iso(error.at),
                    "yes" if error.resolved else "no",
                )
                for error in shown
            ),
            about="message",
            secondary=("resolved", "type", "at", "task"),
        )
        say_more(len(found) - len(shown), "errors")


@command.command("stats")
@click.argument("task_id", metavar="TASK_ID")
@project_option
@json_option
def show_stats(task_id: str, project: str | None, *, as_json: bool) -> None:
    """Count the errors of a task by type, and those that nobody has dealt with."""
    _, name = settings_for(project)
    stats = errors_in_flight.error_stats(task_id=task_id, project=name)
    unknown = {} if stats.is_known else {"nearest": _name_unknown(name, task_id)}
    if as_json:
        print_json(stats.to_document() | unknown)
        return
    rows = [("total", stats.total), ("unresolved", stats.unresolved), *stats.by_type.items()]
    print_table(("errors", "count"), [(name, str(count)) for name, count in rows])


@command.command("context")
@click.argument("task_id", metavar="TASK_ID")
@project_option
@json_option
@click.option(
    "--include-resolved", is_flag=True, help="Include the errors that have been dealt with."
)
@lang_option
def show_context(
    task_id: str,
    project: str | None,
    lang: Language,
    *,
    as_json: bool,
    include_resolved: bool,
) -> None:
    """Print the text for the prompt of a retry; nothing when there is nothing to say."""
    _, name = settings_for(project)
    found = errors_in_flight.error_context(
        task_id=task_id, include_resolved=include_resolved, lang=lang, project=name
    )
    unknown = {} if found.is_known else {"nearest": _name_unknown(name, task_id)}
    if as_json:
        print_json(found.to_document() | unknown)
    elif found.context:
        click.echo(found.context)
