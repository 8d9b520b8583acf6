"""`trackrecord errors`: what went wrong in attempts at a task in flight."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from trackrecord.inflight.classification import classify_text
from trackrecord.inflight.errors import ERROR_TYPES, ErrorType, TaskError
from trackrecord.inflight.reports import error_report
from trackrecord.inflight.retry_text import retry_text
from trackrecord.inflight.store import InFlightStore
from trackrecord.learning.text.language import Language
from trackrecord.settings import Settings
from trackrecord.times import iso

from ..access import open_redis, settings_for
from ..options import at_option, json_option, lang_option, project_option
from ..screen import print_json, print_table


@click.group("errors")
def command() -> None:
    """Errors of tasks in flight, for whoever tries next."""


@contextmanager
def _open(project: str | None) -> Iterator[tuple[InFlightStore, Settings]]:
    settings, project = settings_for(project)
    with open_redis(settings) as client:
        yield InFlightStore(client, settings.keys, project, settings.errors), settings


@command.command("record")
@click.argument("task_id", metavar="TASK_ID")
@click.argument("message", metavar="MESSAGE")
@project_option
@json_option
@click.option(
    "--type",
    "kind",
    type=click.Choice(ERROR_TYPES),
    help="What kind of error it is.  [default: what the message says]",
)
@click.option("--stack-trace", metavar="TEXT", help="Where it happened.")
@click.option("--tool", "tool_name", metavar="NAME", help="The tool that was used.")
@click.option("--context", metavar="TEXT", help="What was being done.")
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
    """Record an error; prints its id."""
    report = error_report(
        task_id,
        kind or classify_text(message),
        message,
        stack_trace=stack_trace,
        tool_name=tool_name,
        context=context,
    )
    with _open(project) as (store, _):
        store.write(report)
    if as_json:
        print_json({"id": report.id, "task_id": report.task_id, "type": report.type})
    else:
        click.echo(report.id)


@command.command("resolve")
@click.argument("error_id", metavar="ID")
@project_option
@json_option
def resolve_error(error_id: str, project: str | None, *, as_json: bool) -> None:
    """Mark an error as dealt with."""
    with _open(project) as (store, _):
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
    """How many errors there were, of which types, and how many nobody has dealt with."""
    with _open(project) as (store, _):
        stats = store.read(task_id, at=at).stats
    if as_json:
        print_json(msgspec.to_builtins(stats))
        return
    rows = [("total", stats.total), ("unresolved", stats.unresolved), *stats.by_type.items()]
    print_table(("errors", "count"), [(name, str(count)) for name, count in rows])


@command.command("context")
@click.argument("task_id", metavar="TASK_ID")
@project_option
@at_option
@json_option
@click.option("--include-resolved", is_flag=True, help="Also those that have been dealt with.")
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
    """The text for the prompt of a retry; nothing when there is nothing to say."""
    with _open(project) as (store, settings):
        task = store.read(task_id, at=at)
    text = retry_text(task, settings.errors, include_resolved=include_resolved, language=lang)
    if as_json:
        errors = task.errors if include_resolved else task.unresolved
        print_json(
            {
                "task_id": task_id,
                "context": text,
                "strikes": task.strikes,
                "errors": [_as_document(error) for error in errors],
            }
        )
    elif text:
        click.echo(text)


def _as_document(error: TaskError) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(error)
    return document | {"at": iso(error.at)}
