"""`trackrecord backup`: the whole store in one file."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.text.numerals import counted
from trackrecord.resources.operation.flow import read_flow
from trackrecord.store.transfer.backup import write_backup

from ...access import open_redis, open_store, settings_for
from ...arguments.options import json_option
from ...output.screen import print_json, working

if TYPE_CHECKING:
    from trackrecord.settings.daemon_settings import DaemonSettings


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def command(file: Path, *, as_json: bool) -> None:
    """Write the whole store to one file, while it is in use.

    FILE must not be there yet. It has the state of one moment, with everything that had been
    learnt; `trackrecord restore FILE` brings it back. Outcomes go on being learnt meanwhile. A
    PostgreSQL database is backed up by pg_dump.
    """
    settings, _ = settings_for(None)
    with open_store(settings) as engine, working("copying the database"):
        waiting = _waiting(settings)
        done = write_backup(engine, file)
    if as_json:
        print_json({"file": str(file), **asdict(done), "waiting": waiting})
        return
    click.echo(
        f"{file}: {counted(done.outcomes, 'outcome')} of {counted(done.projects, 'project')}, "
        f"{done.size / 1e6:.1f} MB"
    )
    if waiting is None:
        click.echo(
            "Redis does not answer: it is not known how many outcomes wait there to be learnt; "
            "they are not in this file"
        )
    elif waiting:
        click.echo(
            f"{counted(waiting, 'outcome')} waited to be learnt when it was begun: they are in "
            "Redis, and may not be in this file"
        )


def _waiting(settings: DaemonSettings) -> int | None:
    """Return how many entries wait in the stream; None where Redis does not answer."""
    with suppress(ServerUnavailable), open_redis(settings) as client:
        flow = read_flow(client, settings.keys)
        return flow.waiting + flow.pending
    return None
