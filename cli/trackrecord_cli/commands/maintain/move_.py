"""`trackrecord move`: the whole store to another database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ...access import open_store, settings_for
from ...arguments.options import Read, json_option
from ...output.screen import print_json, print_table, progress_bar, telling_what_was_done

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from sqlalchemy import Engine

    from trackrecord.settings.daemon_settings import DaemonSettings
    from trackrecord.store.transfer.move import Moved
    from trackrecord.store.transfer.places import StorePlace


_LEFT = (
    "the move is not complete, and this store takes nothing in: run the same command again to go "
    "on, or `trackrecord move --cancel` to stay here"
)


def _url(text: str) -> str:
    from trackrecord.settings.server_urls import checked_database_url, database_url_of

    return database_url_of(checked_database_url(text) or "")


@click.command("move")
@click.option(
    "--to",
    "url",
    type=Read("url", _url),
    help="Move the store to the database of this URL, `postgresql://…` or `sqlite:///…`.",
)
@click.option("--dry-run", is_flag=True, help="Count what would be moved, and change nothing.")
@click.option(
    "--cancel",
    is_flag=True,
    help="Give up a move that was begun or made: this store takes outcomes in again.",
)
@json_option
def command(url: str | None, *, dry_run: bool, cancel: bool, as_json: bool) -> None:
    """Move the whole store to another database.

    Every row of every project is copied from the database that is set to the one of --to, which
    must be without data; afterwards every list answers the same. From the beginning on this store
    takes nothing in: workers leave new outcomes in the stream and learn them into the new store
    when they are started with it. A move that was interrupted goes on when it is run again.
    """
    if (cancel and (url or dry_run)) or not (cancel or url):
        message = "one of --to URL and --cancel is needed, and --dry-run fits with --to only"
        raise click.UsageError(message)
    settings, _ = settings_for(None)
    if url is None:
        _cancel(settings, as_json=as_json)
    elif dry_run:
        _count(settings, url, as_json=as_json)
    else:
        _move(settings, url, as_json=as_json)


def _cancel(settings: DaemonSettings, *, as_json: bool) -> None:
    from trackrecord.store.transfer.move import cancel_move

    with _source(settings) as source:
        other = cancel_move(source)
    if as_json:
        print_json({"cancelled": other})
    elif other is None:
        click.echo("this store is not being moved, and was not moved: nothing to cancel")
    else:
        click.echo(
            f"this store takes outcomes in again; nothing was deleted from {other}, "
            "which must be emptied before it can be moved to"
        )


def _count(settings: DaemonSettings, url: str, *, as_json: bool) -> None:
    from trackrecord.store.database.engine import reading
    from trackrecord.store.transfer.move import count_rows
    from trackrecord.store.transfer.places import standing_of

    with _source(settings) as source:
        if not _is_no_file(url):
            with _target(settings, url) as target:
                standing_of(source, target)
        with reading(source.engine) as connection:
            rows = count_rows(connection)
    total = sum(rows.values())
    if as_json:
        print_json({"rows": total, "tables": rows})
        return
    print_table(("table", "rows"), [row for row in rows.items() if row[1]])
    click.echo(f"{total} rows would be moved; nothing was changed")


def _move(settings: DaemonSettings, url: str, *, as_json: bool) -> None:
    from trackrecord.store.transfer.move import move_store

    started = time.perf_counter()
    with (
        _source(settings) as source,
        _target(settings, url) as target,
        telling_what_was_done(lambda: _LEFT),
        progress_bar() as progress,
    ):
        shown = progress.add_task("moving", total=None)

        def report(table: str, copied: int, total: int) -> None:
            _show(progress, shown, table, copied, total)

        moved = move_store(source, target, now=time.time(), report=report)
    document = {
        "source": source.name,
        "target": target.name,
        "rows": moved.total,
        "tables": moved.rows,
        "went_on": moved.was_begun,
        "duration_ms": round((time.perf_counter() - started) * 1000),
    }
    if as_json:
        print_json(document)
    else:
        click.echo(_summary(moved, document))


def _show(progress: Progress, shown: TaskID, table: str, copied: int, total: int) -> None:
    name = table.replace("_", " ")
    progress.update(shown, description=f"moving {name}", completed=copied, total=total)


def _summary(moved: Moved, document: dict[str, Any]) -> str:
    done = (
        f"the store was moved to {document['target']} before"
        if moved.was_done
        else f"{moved.total} rows moved to {document['target']} in {document['duration_ms']} ms"
    )
    return (
        f"{done}: set TRACKRECORD_DATABASE_URL to that database, and start the workers again; "
        "what waits in the stream is learnt there"
    )


@contextmanager
def _source(settings: DaemonSettings) -> Iterator[StorePlace]:
    from trackrecord.settings.server_urls import without_password
    from trackrecord.store.transfer.places import StorePlace

    with open_store(settings) as engine:
        yield StorePlace(engine, without_password(settings.effective_database_url))


@contextmanager
def _target(settings: DaemonSettings, url: str) -> Iterator[StorePlace]:
    from trackrecord.settings.server_urls import without_password
    from trackrecord.store.database.migrate import store_at
    from trackrecord.store.transfer.places import StorePlace

    with store_at(url, timeout_s=settings.database_timeout_s, migrates=False) as engine:
        _check_answers(engine)
        yield StorePlace(engine, without_password(url))


def _check_answers(engine: Engine) -> None:
    """Check that the target can be reached; problems there are not problems of the settings."""
    from trackrecord.errors import StoreUnavailable
    from trackrecord.store.database.engine import reading

    try:
        with reading(engine):
            pass
    except StoreUnavailable as error:
        message = str(error).replace("check TRACKRECORD_DATABASE_URL", "check the URL of --to")
        raise type(error)(message) from None


def _is_no_file(url: str) -> bool:
    """Return whether the URL names a SQLite database that would have to be made."""
    from pathlib import Path

    path = url.removeprefix("sqlite:///")
    return path != url and not Path(path).exists()
