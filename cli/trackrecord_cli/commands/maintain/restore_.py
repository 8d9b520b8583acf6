"""`trackrecord restore`: the whole store from a backup."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trackrecord.errors import AlreadyRunning, ServerUnavailable
from trackrecord.learning.text.numerals import counted
from trackrecord.redis.signs_of_life import LIFETIME_S
from trackrecord.resources.operation.flow import read_flow
from trackrecord.store.database.migrate import store_at
from trackrecord.store.transfer.backup import count_store, restore_backup
from trackrecord_capture.history.state import forget_positions
from trackrecord_worker.up.home_lock import take_home

from ...access import open_redis, settings_for
from ...arguments.options import json_option
from ...output.screen import print_json, telling_what_was_done, working

if TYPE_CHECKING:
    from trackrecord.settings.daemon_settings import DaemonSettings

_LEFT = "the store is as it was, or as in the backup: run the same command again"


@click.command("restore")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask before outcomes on record are replaced.")
@json_option
def command(file: Path, *, yes: bool, as_json: bool) -> None:
    """Replace the whole store by a backup.

    FILE is what `trackrecord backup` wrote. Everything that was learnt after it is gone, unless it
    is published or read again: the next `trackrecord import` reads all logs anew. Stop `trackrecord
    up` and all workers first. A PostgreSQL database is restored by pg_restore.
    """
    settings, _ = settings_for(None)
    _check_no_worker(settings)
    url = settings.effective_database_url
    with take_home(settings.home), store_at(url, timeout_s=settings.database_timeout_s) as engine:
        present = count_store(engine)
        if present and not yes:
            _confirm(counted(present, "outcome"))
        with telling_what_was_done(lambda: _LEFT), working("restoring"):
            done = restore_backup(
                engine,
                file,
                now=time.time(),
                # Before: killed between the two, logs are read once too often, not once too few.
                begin=lambda: forget_positions(settings.home),
            )
    if as_json:
        print_json({"file": str(file), **asdict(done), "replaced": present})
        return
    click.echo(
        f"{counted(done.outcomes, 'outcome')} of {counted(done.projects, 'project')} restored from "
        f"{file}; {counted(present, 'outcome')} replaced"
    )


def _check_no_worker(settings: DaemonSettings) -> None:
    """Check that no worker is running, of another home or machine either."""
    with suppress(ServerUnavailable), open_redis(settings) as client:
        if read_flow(client, settings.keys).workers:
            message = (
                "a worker is running: stop `trackrecord up` and all workers first (one that was "
                f"killed counts for {LIFETIME_S} seconds)"
            )
            raise AlreadyRunning(message)


def _confirm(outcomes: str) -> None:
    if not sys.stdin.isatty():
        message = (
            f"{outcomes} on record would be replaced: confirm it with --yes, or run the command on "
            "a terminal"
        )
        raise click.UsageError(message)
    if not click.confirm(f"Replace {outcomes} on record? This cannot be undone.", err=True):
        raise click.Abort
