"""`trackrecord errors`: what went wrong in attempts at a task in flight."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, get_args

import click

from trackrecord.errors import UnknownProject
from trackrecord.inflight.errors import ErrorType
from trackrecord.queries.sorting import ERRORS
from trackrecord.resources.paging import Order

from ..access import check_project, open_redis, settings_for
from ..completing import complete
from ..group import CommandGroup
from ..options import OneOf, at_option, json_option, lang_option, list_options, project_option
from ..screen import on_terminal, print_json, print_table, say_more, shown_ids

if TYPE_CHECKING:
    from redis import Redis

    from trackrecord.daemon_settings import DaemonSettings
    from trackrecord.inflight.errors import TaskInFlight
    from trackrecord.inflight.store import InFlightStore
    from trackrecord.learning.text.language import Language


@click.group("errors", cls=CommandGroup)
def command() -> None:
    """Record and show the errors of tasks in flight."""


@contextmanager
def _open(project: str | None) -> Iterator[tuple[Redis, InFlightStore, DaemonSettings, str]]:
    from trackrecord.inflight.store import InFlightStore

    settings, name = settings_for(project)
    with open_redis(settings) as client:
        yield client, InFlightStore(client, settings.keys, name, settings.errors), settings, name


def _read(
    project: str | None, task_id: str, at: float | None
) -> tuple[TaskInFlight, DaemonSettings, dict[str, str | None]]:
    """Read a task in flight; with it come the settings, and the nearest task if it is unknown.

    A project without any record is normal here: its first task has not ended yet. So is a task
    that nothing went wrong with. So what is unknown is named on standard error, and the answer is
    empty.
    """
    with _open(project) as (client, store, settings, name):
        task = store.read(task_id, at=at)
        if task.is_known:
            return task, settings, {}
        nearest = _name_unknown(client, store, settings, name, task_id)
    return task, settings, {"nearest": nearest}


def _name_unknown(
    client: Redis,
    store: InFlightStore,
    settings: DaemonSettings,
    project: str,
    task_id: str | None = None,
) -> str | None:
    """Print which project, or else which task, is unknown; return the nearest task."""
    from trackrecord.queries.in_flight import has_tasks_in_flight, unknown_task_in_flight

    if not has_tasks_in_flight(client, settings.keys, project):
        try:
            check_project(settings, project)
        except UnknownProject as error:
            click.echo(f"trackrecord: {error}", err=True)
            return None
    if task_id is None:
        return None
    unknown = unknown_task_in_flight(store, project, task_id)
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
    type=OneOf(get_args(ErrorType)),
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
    from trackrecord.inflight.classification import classify_text
    from trackrecord.inflight.reports import error_report

    report = error_report(
        task_id,
        kind or classify_text(message),
        message,
        stack_trace=stack_trace,
        tool_name=tool_name,
        context=context,
    )
    with _open(project) as (_, store, _, _):
        store.write(report)
    if as_json:
        print_json({"id": report.id, "task_id": report.task_id, "type": report.type})
    else:
        click.echo(report.id)


@command.command("list")
@list_options(ERRORS)
@click.option("--task", "task_id", metavar="TASK_ID", help="List only the errors of this task.")
@click.option("--unresolved", is_flag=True, help="List only errors that nobody has dealt with.")
@click.option(
    "--category",
    "--type",
    "category",
    type=OneOf(get_args(ErrorType)),
    help="List only errors of this type.",
)
def list_errors(
    project: str | None,
    at: float | None,
    limit: int | None,
    order: Order | None,
    task_id: str | None,
    category: ErrorType | None,
    *,
    unresolved: bool,
    as_json: bool,
) -> None:
    """List the errors of tasks in flight that are kept, those that happened last first."""
    from trackrecord.inflight.listing import ErrorFilter
    from trackrecord.inflight.retry_record import error_document
    from trackrecord.queries.in_flight import error_ids
    from trackrecord.times import iso

    wanted = ErrorFilter(task_id, category, unresolved)
    with _open(project) as (client, store, settings, name):
        found = store.find(wanted, at=at)
        known = list(error_ids(client, settings.keys, name)) if on_terminal() else ()
        is_unknown = task_id is not None and not store.read(task_id).is_known
        _name_unknown(client, store, settings, name, task_id if is_unknown else None)
    shown = ERRORS.sorted(found, order)[:limit]
    if as_json:
        print_json([error_document(error) for error in shown])
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
        )
        say_more(len(found) - len(shown), "errors")


@command.command("resolve")
@click.argument("error_id", metavar="ID", shell_complete=complete("error"))
@project_option
@json_option
def resolve_error(error_id: str, project: str | None, *, as_json: bool) -> None:
    """Mark an error as dealt with."""
    from trackrecord.queries.in_flight import whole_error_id

    with _open(project) as (client, store, settings, name):
        error_id = whole_error_id(client, settings.keys, name, error_id)
        store.resolve(error_id)
    if as_json:
        print_json({"id": error_id, "resolved": True})
    else:
        click.echo("resolved")


@command.command("stats")
@click.argument("task_id", metavar="TASK_ID")
@project_option
@at_option
@json_option
def show_stats(task_id: str, project: str | None, at: float | None, *, as_json: bool) -> None:
    """Count the errors of a task by type, and those that nobody has dealt with."""
    import msgspec

    task, _, unknown = _read(project, task_id, at)
    stats = task.stats
    if as_json:
        document: dict[str, Any] = msgspec.to_builtins(stats)
        # What kept an agent from an answer; here that is an error.
        document.pop("problem", None)
        print_json(document | unknown)
        return
    rows = [("total", stats.total), ("unresolved", stats.unresolved), *stats.by_type.items()]
    print_table(("errors", "count"), [(name, str(count)) for name, count in rows])


@command.command("context")
@click.argument("task_id", metavar="TASK_ID")
@project_option
@at_option
@json_option
@click.option(
    "--include-resolved", is_flag=True, help="Include the errors that have been dealt with."
)
@lang_option
def show_context(
    task_id: str,
    project: str | None,
    at: float | None,
    lang: Language,
    *,
    as_json: bool,
    include_resolved: bool,
) -> None:
    """Print the text for the prompt of a retry; nothing when there is nothing to say."""
    from trackrecord.inflight.retry_record import error_document
    from trackrecord.inflight.retry_text import retry_text

    task, settings, unknown = _read(project, task_id, at)
    text = retry_text(task, settings.errors, include_resolved=include_resolved, language=lang)
    if as_json:
        errors = task.errors if include_resolved else task.unresolved
        print_json(
            {
                "task_id": task_id,
                "context": text,
                "strikes": task.strikes,
                "errors": [error_document(error) for error in errors],
                **unknown,
            }
        )
    elif text:
        click.echo(text)
