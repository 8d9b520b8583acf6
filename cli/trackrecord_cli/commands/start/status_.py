"""`trackrecord status`: is the loop alive?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...access import open_redis, read_store, say_removed
from ...arguments.options import at_option, json_option, project_option
from ...output.screen import on_terminal, print_json, print_lines, print_table
from ...output.status_lines import StatusLine
from ...output.trends import DAYS, day_trends
from ...output.watching import watch

if TYPE_CHECKING:
    from trackrecord.resources.operation.status import StatusAnswer

_NO = 1
_SHORTEST_S = 0.1
_LONGEST_S = 3600


@click.command("status")
@project_option
@at_option
@json_option
@click.option(
    "--watch",
    "is_watched",
    is_flag=True,
    help="Show the status again and again, with the outcomes per second between two readings, "
    "until Ctrl-C.",
)
@click.option(
    "--interval",
    type=click.FloatRange(_SHORTEST_S, _LONGEST_S),
    metavar="SECONDS",
    default=2.0,
    show_default=True,
    help="Wait this many seconds between two readings of --watch.",
)
def command(
    project: str | None,
    at: float | None,
    interval: float,
    *,
    as_json: bool,
    is_watched: bool,
) -> int:
    """Show whether outcomes are being learnt, and how much is known.

    With --project the counts are those of the project, otherwise those of all projects. The last
    line says in one sentence how things are, and what to do if something is wrong. Exit status 1
    means that nothing can be learnt because no worker is running, 3 that a server cannot be
    reached; --watch waits until it can be, and ends with 0.
    """
    if is_watched:
        if at is not None:
            message = "--watch shows the present: leave --at out"
            raise click.UsageError(message)
        title = "all projects" if project is None else f"project {project!r}"
        return watch(lambda: _read(project), interval_s=interval, title=title, as_json=as_json)
    status = _read(project, at)
    removed: dict[str, str] = {}
    if at is not None:
        with read_store(None) as (connection, _, _name):
            removed = say_removed(connection, project, ("sums",), {"at": at})
    if as_json:
        print_json(status.to_document() | removed)
    else:
        _print(status, _trends(project, at))
    return 0 if status.is_learning else _NO


def _read(project: str | None, at: float | None = None) -> StatusAnswer:
    from trackrecord.resources.operation.status import read_status
    from trackrecord_producers.spool.files import spool_size

    with read_store(None) as (connection, settings, _), open_redis(settings) as client:
        spooled = spool_size(settings).outcomes
        return read_status(client, connection, settings, project=project, spooled=spooled, at=at)


def _trends(project: str | None, at: float | None) -> list[StatusLine]:
    """Return the outcomes and their success by day, drawn."""
    from trackrecord.store.outcomes.projects import project_names

    if not on_terminal():
        return []
    with read_store(None) as (connection, _, _name):
        names = project_names(connection) if project is None else [project]
        outcomes, success = day_trends(connection, names, at)
    days = f"last {DAYS} days"
    lines = [
        StatusLine("outcomes a day", days, outcomes),
        StatusLine("their success", days, success),
    ]
    return lines if outcomes else []


def _cost(status: StatusAnswer) -> str:
    from pathlib import Path

    from trackrecord_worker.up.cost import running_cost

    return str((status.home and running_cost(Path(status.home))) or "does not run here")


def _print(status: StatusAnswer, trends: list[StatusLine]) -> None:
    from ...output.status_lines import flow, learnt, places

    cost = _cost(status)
    if on_terminal():
        print_lines([*places(status, cost), *flow(status), *learnt(status), *trends])
    else:
        fields = status.to_document() | {
            "rebuild_due": ", ".join(status.rebuild_due) or "no",
            "bytes": ", ".join(f"{kind} {size}" for kind, size in (status.bytes or {}).items()),
        }
        del fields["verdict"]
        fields["up"] = cost
        print_table(("field", "value"), fields.items())
    click.echo(status.verdict)
