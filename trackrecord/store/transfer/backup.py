"""Back a whole store up into one file while it is written to, and restore it from there."""

import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, func, select, update

from trackrecord.errors import SchemaTooNew, StoreUnavailable, TransferRefused
from trackrecord.store.database.engine import dialect_of, reading, writing_anyway
from trackrecord.store.database.migrate import known_revisions, migrate
from trackrecord.store.outcomes.projects import clock_of, next_revision
from trackrecord.store.outcomes.tables import projects

# How long the writers of a batch are waited for.
_PATIENCE_S: Final = 60.0


@dataclass(frozen=True)
class Backup:
    """The contents of a backup.

    Attributes:
        projects: how many projects it has.
        outcomes: how many outcomes are on record in it.
        size: its bytes.
    """

    projects: int
    outcomes: int
    size: int


def write_backup(engine: Engine, file: Path) -> Backup:
    """Write the store to a new file, which only the user may read; it is there whole or not at all.

    Args:
        engine: the store.
        file: where to.

    Raises:
        TransferRefused: the file is there already, or the database has a program of its own.
        StoreUnavailable: the database cannot be used, or the file not be written.
    """
    if file.exists():
        message = f"{file} is there already: name another file, or delete it first"
        raise TransferRefused(message)
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        # SQLite writes into an empty file that is there, and leaves its mode alone.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        dialect_of(engine).copy_to(engine, part)
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        found = _contents(part)
        part.replace(file)
        _sync_folder(file.absolute().parent)
    except OSError as error:
        message = f"{file} cannot be written ({error.strerror})"
        raise StoreUnavailable(message) from error
    finally:
        with suppress(OSError):
            part.unlink()
    return found


def restore_backup(
    engine: Engine, file: Path, *, now: float, begin: Callable[[], None] = lambda: None
) -> Backup:
    """Replace the whole store by a backup, in one step.

    Rankings that were cached from what was there before are older than the restored store then.

    Args:
        engine: the store, which need not have tables yet.
        file: what `write_backup` wrote.
        now: seconds since the epoch.
        begin: called once the file is found to be sound, before anything is replaced.

    Raises:
        TransferRefused: the file is no backup, or the database has a program of its own.
        SchemaTooNew: the backup is of a newer version.
        StoreUnavailable: the database or the file cannot be used.
    """
    found = _contents(file) if engine.dialect.name == "sqlite" else None
    dialect_of(engine).replace_by(engine, file, patience_s=_PATIENCE_S, begin=begin)
    assert found is not None  # noqa: S101 - no other database takes a file
    engine.dispose()
    migrate(engine)
    with writing_anyway(engine) as connection:
        connection.execute(update(projects).values(revision=next_revision(clock_of(now))))
    return found


def count_store(engine: Engine) -> int:
    """Return how many outcomes would be lost if the store were replaced."""
    with reading(engine) as connection:
        query = select(func.coalesce(func.sum(projects.c.outcomes), 0))
        return int(connection.execute(query).scalar_one())


def _contents(file: Path) -> Backup:
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as copy:
            (version,) = copy.execute("SELECT version_num FROM alembic_version").fetchone()
            counts = copy.execute("SELECT count(*), coalesce(sum(outcomes), 0) FROM projects")
            names, total = counts.fetchone()
        size = file.stat().st_size
    except (sqlite3.Error, OSError, TypeError) as error:
        message = f"{file} is not a backup of trackrecord ({error})"
        raise TransferRefused(message) from error
    if version not in known_revisions():
        message = f"{file} is of a newer trackrecord (revision {version}): install that version"
        raise SchemaTooNew(message)
    return Backup(names, total, size)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system can
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
