"""Back a whole store up into one file while it is written to, and restore it from there."""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, func, inspect, select, update
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from trackrecord.errors import StoreUnavailable, TransferRefused
from trackrecord.process.sqlite_files import connect
from trackrecord.store.database.engine import dialect_of, reading, writing
from trackrecord.store.database.migrate import check_known, migrate, store_at, store_versions
from trackrecord.store.outcomes.projects import clock_of, next_revision
from trackrecord.store.outcomes.tables import projects

# Every object of a schema but SQLite's own.
_OBJECTS: Final = (
    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%'"
    " ESCAPE '!'"
)
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
    if found is not None:
        _check_schema(file)
    dialect_of(engine).replace_by(engine, file, patience_s=_PATIENCE_S, begin=begin)
    assert found is not None  # noqa: S101 - no other database takes a file
    engine.dispose()
    migrate(engine)
    with writing(engine) as connection:
        connection.execute(update(projects).values(revision=next_revision(clock_of(now))))
    return found


def count_store(engine: Engine) -> int:
    """Return how many outcomes would be lost if the store were replaced."""
    with reading(engine) as connection:
        query = select(func.coalesce(func.sum(projects.c.outcomes), 0))
        return int(connection.execute(query).scalar_one())


def _check_schema(file: Path) -> None:
    """Check that a backup has the tables of its revision, and nothing that would run by itself.

    Its schema is made in memory, brought to this version, and compared with that of a new store.

    Raises:
        TransferRefused: it has another schema.
    """
    with (
        store_at("sqlite://") as new,
        store_at("sqlite://", migrates=False) as made,
        closing(connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as copy,
    ):
        rows = copy.execute(_OBJECTS).fetchall()
        versions = copy.execute(f"SELECT * FROM {store_versions.name}").fetchall()  # noqa: S608 - our own
        unfit = sorted({name for kind, name, _ in rows if kind not in ("table", "index")})
        try:
            if not unfit:
                with made.begin() as connection:
                    _make(connection, rows, versions)
                migrate(made)
                with reading(new) as ours, reading(made) as theirs:
                    expected, found = dict(_schema(ours)), dict(_schema(theirs))
                names = expected.keys() | found.keys()
                unfit = sorted(each for each in names if expected.get(each) != found.get(each))
        except SQLAlchemyError as error:
            unfit = [str(getattr(error, "orig", error))]
    if unfit:
        message = f"{file} is not a backup of trackrecord: it has another schema ({unfit[0]})"
        raise TransferRefused(message)


def _make(
    connection: Connection, rows: Sequence[tuple[str, str, str]], versions: Sequence[Sequence[str]]
) -> None:
    """Make the tables and indexes of a schema; those of a full-text index make others."""
    for _, name, sql in sorted(rows, key=lambda row: (row[0] == "index", "VIRTUAL" not in row[2])):
        if not inspect(connection).has_table(name):
            connection.exec_driver_sql(sql)
    for row in versions:
        marks = ", ".join("?" * len(row))
        connection.exec_driver_sql(
            f"INSERT INTO {store_versions.name} VALUES ({marks})",  # noqa: S608 - our own name
            tuple(row),
        )


def _schema(connection: Connection) -> Iterator[tuple[str, object]]:
    """Yield each table with its columns and indexes, and each virtual one as it was made."""

    def pragma(name: str, of: str) -> Sequence[tuple[Any, ...]]:
        found = connection.exec_driver_sql(f"SELECT * FROM pragma_{name}(?)", (of,))  # noqa: S608 - ours
        return [tuple(row) for row in found]

    for kind, name, sql in connection.exec_driver_sql(_OBJECTS):
        if kind == "index":
            yield name, " ".join(sql.split())
            continue
        columns = sorted(row[1:] for row in pragma("table_xinfo", name))
        unique = sorted(
            sorted(str(part[2]) for part in pragma("index_info", index))
            for _, index, is_unique, *_ in pragma("index_list", name)
            if is_unique
        )
        yield name, (columns, unique, sql if "VIRTUAL" in sql else "")


def _contents(file: Path) -> Backup:
    if file.exists() and not file.is_file():  # a pipe would be waited for
        message = f"{file} is not a regular file"
        raise TransferRefused(message)
    location = f"{file.absolute().as_uri()}?mode=ro"
    engine = create_engine("sqlite://", creator=lambda: connect(location, uri=True))
    query = select(func.count(), func.coalesce(func.sum(projects.c.outcomes), 0))
    try:
        with engine.connect() as copy:
            check_known(copy, str(file), "restore another backup")
            names, total = copy.execute(query.select_from(projects)).one()
        size = file.stat().st_size
    except (DatabaseError, OSError) as error:
        message = f"{file} is not a backup of trackrecord ({getattr(error, 'orig', error)})"
        raise TransferRefused(message) from error
    finally:
        engine.dispose()
    return Backup(names, total, size)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system can
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
