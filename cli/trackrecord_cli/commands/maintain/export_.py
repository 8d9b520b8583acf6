"""`trackrecord export`: a project with everything that is known of it."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from trackrecord.learning.text.numerals import counted
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.access.removed import removed_notes
from trackrecord.store.database.leases import repeatable_read
from trackrecord.store.transfer.export import export_project

from ...access import read_store
from ...arguments.options import project_option
from ...output.screen import progress_bar, telling_what_was_done


@click.command("export")
@click.argument("file", metavar="[FILE|-]", required=False, default="-")
@project_option
def command(file: str, project: str | None) -> None:
    """Export a project with everything that is known of it.

    Writes JSON Lines to FILE, or to standard output: outcomes as they came, statistics, records,
    memories, decisions by hand and their whole history. `trackrecord import jsonl FILE` makes the
    same project of it in another store, or another project in this one. Artifacts, which are files,
    and errors of tasks in flight are not part of it.
    """
    where = "standard output holds a part only" if file == "-" else f"{file} was not written"
    with (
        telling_what_was_done(lambda: f"the export is not complete: {where}"),
        read_store(project) as (connection, _, name),
        progress_bar() as progress,
    ):
        repeatable_read(connection)
        shown = progress.add_task("exporting", total=None)

        def report(table: str, done: int, total: int) -> None:
            told = f"exporting {table.replace('_', ' ')}"
            progress.update(shown, description=told, completed=done, total=total)

        project_id = project_row(connection, name)
        for note in removed_notes(connection, project_id):
            click.echo(note, err=True)
        with _opened(file) as out:
            written = export_project(
                connection, project_id, name, out, now=time.time(), report=report
            )
    click.echo(
        f"project {name!r}: {counted(written['outcomes'], 'outcome')} exported, "
        f"{sum(written.values())} rows in all",
        err=True,
    )


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """Open a file that appears as a whole or not at all; only the user may read it."""
    if file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            yield out
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
