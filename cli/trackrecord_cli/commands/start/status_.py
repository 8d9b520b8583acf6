"""`trackrecord status`: is the loop alive?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...access import open_redis, read_store
from ...arguments.options import json_option, project_option
from ...output.screen import on_terminal, print_json, print_lines, print_table

if TYPE_CHECKING:
    from trackrecord.resources.operation.status import StatusAnswer

_NO = 1


@click.command("status")
@project_option
@json_option
def command(project: str | None, *, as_json: bool) -> int:
    """Show whether outcomes are being learnt, and how much is known.

    With --project the counts are those of the project, otherwise those of all projects. The last
    line says in one sentence how things are, and what to do if something is wrong. Exit status 1
    means that nothing can be learnt because no worker is running, 3 that a server cannot be
    reached.
    """
    status = _read(project)
    if as_json:
        print_json(status.to_document())
    else:
        _print(status)
    return 0 if status.is_learning else _NO


def _read(project: str | None) -> StatusAnswer:
    from trackrecord.resources.operation.status import read_status
    from trackrecord_producers.spool.files import spool_size

    with read_store(None) as (connection, settings, _), open_redis(settings) as client:
        spooled = spool_size(settings).outcomes
        return read_status(client, connection, settings, project=project, spooled=spooled)


def _cost(status: StatusAnswer) -> str:
    from pathlib import Path

    from trackrecord_worker.up.cost import running_cost

    return str((status.home and running_cost(Path(status.home))) or "does not run here")


def _print(status: StatusAnswer) -> None:
    from ...output.status_lines import flow, learnt, places

    cost = _cost(status)
    if on_terminal():
        print_lines([*places(status, cost), *flow(status), *learnt(status)])
    else:
        fields = status.to_document() | {
            "rebuild_due": ", ".join(status.rebuild_due) or "no",
            "bytes": ", ".join(f"{kind} {size}" for kind, size in (status.bytes or {}).items()),
        }
        del fields["verdict"]
        fields["up"] = cost
        print_table(("field", "value"), fields.items())
    click.echo(status.verdict)
