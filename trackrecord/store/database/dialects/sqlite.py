"""SQLite: one file, one writer at a time, full text by FTS5."""

import math
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    Table,
    and_,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool, StaticPool

from trackrecord.errors import StoreBusy, StoreUnavailable, TransferRefused
from trackrecord.process.folders import make_private_folder
from trackrecord.process.sqlite_files import connect, distrust_schema, use_write_ahead_log

from .base import Dialect, Extra

# Of a few sizes, which the driver keeps compiled: compiling takes as long as running. SQLite builds
# allow 32,766 parameters in a statement, or more.
_ROWS_AT_ONCE = (512, 64, 8, 1)
# Four times the size from which on SQLite copies the log's pages (1,000 of them).
LARGEST_LOG = 64 * 1024 * 1024
# Counting looks at every page: some 0.4 s for a gigabyte.
_COUNTED_AT_ONCE = 512 * 1024 * 1024
# Much more than a file system's clock needs for its next time.
_ONE_TIME_NS = 1_000_000_000
# While others hold the database that is to be replaced.
_BACKUP_PAUSE_S = 0.05


# What a pattern of GLOB had better not begin with: what it reads otherwise, and the letters of
# texts, the commonest first. All others are rarer.
_COMMON = "*?[ etaoinsrhldcumfpgwybvk"
_SPECIAL, _AS_IT_IS = re.compile(r"[*?[]"), r"[\g<0>]"


# Words alone, without the texts: what is removed is named again.
_FTS_COLUMNS = "words, content='', tokenize='ascii'"


def _full_text_index(name: str) -> Extra:
    """An index without the texts, and a view of how many rows hold a word."""
    return Extra(
        (name,),
        (
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5({_FTS_COLUMNS})",
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name}_count USING fts5vocab({name}, 'row')",
        ),
    )


class SQLite(Dialect):
    """SQLite, from the driver of the standard library."""

    name = "sqlite"
    code_points = "BINARY"
    ddl_extras: ClassVar[tuple[Extra, ...]] = (
        _full_text_index("memory_words"),
        _full_text_index("task_words"),
    )

    def engine(self, url: URL, timeout_s: float, *, keeps_connections: bool = True) -> Engine:
        """Return an engine of a file, or of memory that this process alone has."""
        if not url.database or url.database == ":memory:":
            engine = _in_memory(url)
        else:
            _make_private(Path(url.database))
            engine = create_engine(
                url,
                connect_args={"timeout": timeout_s},
                poolclass=QueuePool if keeps_connections else NullPool,
            )
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
        event.listen(engine, "handle_error", _drop_read_only)
        return engine

    def last_write(self, engine: Engine) -> object:
        """Return when the file and its log were changed, and which files these are."""
        if isinstance(engine.pool, StaticPool):  # in memory, there is none
            return None
        found = []
        for each in ("", "-wal"):
            with suppress(OSError):
                found.append(Path(f"{engine.url.database}{each}").stat())
        # The log is made when the first one connects, and removed with the last one.
        found = [each for each in found if each.st_size]
        if not found:
            return None
        # Two commits may have one time.
        if abs(time.time_ns() - max(each.st_mtime_ns for each in found)) < _ONE_TIME_NS:
            return None
        return tuple((each.st_ino, each.st_mtime_ns, each.st_size) for each in found)

    def insert(self, table: Table) -> sqlite.Insert:
        """Return SQLite's INSERT."""
        return sqlite.insert(table)

    def bulk_insert(
        self,
        connection: Connection,
        table: Table,
        columns: Sequence[Column[Any]],
        rows: Sequence[tuple[Any, ...]],
        *,
        conflict: str,
        returning: Sequence[Column[Any]],
    ) -> Sequence[Row[Any]]:
        """Run one statement for all rows; one for some of them at a time where they are answered.

        Handed to the driver as they are: SQLAlchemy's own way takes twice as long for each row.
        """
        head = f"INSERT INTO {table.name} ({', '.join(column.name for column in columns)}) VALUES"
        marks = "(" + ", ".join("?" * len(columns)) + ")"
        if not returning:
            connection.exec_driver_sql(f"{head} {marks} {conflict}", list(rows))
            return []
        tail = f"{conflict} RETURNING {', '.join(column.name for column in returning)}"
        found: list[Row[Any]] = []
        start = 0
        for count in _ROWS_AT_ONCE:
            if start + count > len(rows):
                continue
            statement = f"{head} {', '.join([marks] * count)} {tail}"
            while start + count <= len(rows):
                part = chain.from_iterable(rows[start : start + count])
                found += connection.exec_driver_sql(statement, tuple(part)).all()
                start += count
        return found

    def load(
        self,
        connection: Connection,
        table: Table,
        columns: Sequence[Column[Any]],
        rows: Sequence[tuple[Any, ...]],
    ) -> None:
        """Run one statement again and again, as the driver does it.

        Raises:
            TransferRefused: one of the rows is there, or refers to a row that is not.
        """
        try:
            self.bulk_insert(connection, table, columns, rows, conflict="", returning=())
        except IntegrityError as error:
            message = f"the database does not take rows of {table.name} ({error.orig})"
            raise TransferRefused(message.splitlines()[0]) from error

    def new_ids(self, connection: Connection, table: Table, count: int) -> Sequence[int]:
        """Return the numbers after the largest one: no other transaction writes."""
        largest = connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
        return range(largest + 1, largest + 1 + count)

    def shorten_log(self, engine: Engine) -> None:
        """Copy all pages of the log, and cut it; others who read or write it are not waited for."""
        if isinstance(engine.pool, StaticPool):  # in memory, there is none
            return
        with suppress(sqlite3.Error):
            # Not for the pool again: this one waits for nobody.
            connection = engine.raw_connection()
            try:
                connection.detach()
                cursor = connection.cursor()
                cursor.execute("PRAGMA busy_timeout=0")
                # Most pages are copied while others write; what is left takes a moment.
                cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

    def bound_log(self, engine: Engine) -> None:
        """Shorten it where no commit follows that would: after a long reader."""
        log = Path(f"{engine.url.database}-wal")
        with suppress(OSError):
            if log.stat().st_size > LARGEST_LOG:
                self.shorten_log(engine)

    def bytes_of(self, connection: Connection) -> dict[str, int]:
        """Return the pages of each; one sum where SQLite cannot count them, or not in a moment."""
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        total = pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one()
        if total <= _COUNTED_AT_ONCE:
            with suppress(OperationalError):  # built without the table
                rows = connection.exec_driver_sql(
                    "SELECT name, pgsize FROM dbstat WHERE aggregate=TRUE"
                )
                found = {str(row[0]): int(row[1]) for row in rows}
                return {**found, "": max(total - sum(found.values()), 0)}
        return {"": int(total)}

    def copy_to(self, engine: Engine, file: Path) -> None:
        """Write the state of one moment, without the remains of deleted rows; no writer waits.

        Raises:
            StoreUnavailable: the database cannot be read, or the file not be written.
        """
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("VACUUM INTO ?", (str(file),))
        except sqlite3.Error as error:
            message = f"the database cannot be copied to {file} ({error})"
            raise StoreUnavailable(message) from error
        finally:
            connection.close()

    def replace_by(
        self, engine: Engine, file: Path, *, patience_s: float, begin: Callable[[], None]
    ) -> None:
        """Write all pages of the copy in one transaction; others see the old database or the new.

        Raises:
            StoreUnavailable: the file is damaged, or others write all the time (StoreBusy).
        """
        until = time.monotonic() + patience_s

        def give_up(status: int, _remaining: int, _total: int) -> None:
            if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and time.monotonic() > until:
                message = "another process is writing to the database"
                raise StoreBusy(message)

        connection = engine.raw_connection()
        try:
            with closing(connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as copy:
                (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
                if found != "ok":
                    message = f"{file} is damaged ({found})"
                    raise StoreUnavailable(message)
                begin()
                target: sqlite3.Connection = connection.driver_connection  # type: ignore[assignment] # the driver's own
                copy.backup(target, progress=give_up, sleep=_BACKUP_PAUSE_S)
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            message = f"{file} cannot be restored ({error})"
            raise StoreUnavailable(message) from error
        finally:
            connection.close()

    def erase_remains(self, engine: Engine) -> None:
        """Rewrite the file without deleted content, and empty the write-ahead log.

        The words of deleted rows leave the full-text indexes when these are merged.

        Raises:
            StoreUnavailable: another process is at the file (StoreBusy), or the disk has no room
                for a copy.
        """
        connection = engine.raw_connection()
        try:
            # No transaction: the driver begins none of its own, see `_set_up`.
            cursor = connection.cursor()
            for index in ("memory_words", "task_words"):
                cursor.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")  # noqa: S608 - our own names
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            checkpoint = cursor.fetchone()
        except sqlite3.Error as error:
            message = f"the database's file cannot be written anew ({error})"
            refused = StoreBusy if "locked" in str(error) else StoreUnavailable
            raise refused(message) from error
        finally:
            connection.close()
        if checkpoint is None or checkpoint[0]:
            message = "another process reads the database's write-ahead log"
            raise StoreBusy(message)

    def is_among(self, column: Column[int], wanted: Iterable[int]) -> ColumnElement[bool]:
        """Return IN with a parameter for each value."""
        return column.in_(wanted)

    def holds_bytes(self, column: Column[bytes], wanted: bytes) -> ColumnElement[bool]:
        """Look for them as SQLite does in a blob."""
        return func.instr(column, wanted) > 0

    def contains(self, column: Column[str], wanted: str) -> ColumnElement[bool]:
        """Look for its end first, from a rare letter on: wherever that is, SQLite compares all."""
        rarest = max(range(len(wanted)), key=lambda at: _COMMON.find(wanted[at]) % len(_COMMON))
        patterns = (
            f"*{_SPECIAL.sub(_AS_IT_IS, wanted[at:])}*" for at in sorted({rarest, 0}, reverse=True)
        )
        return and_(*(column.op("GLOB")(each) for each in patterns))

    def fetch_blobs(self, connection: Connection, query: Select[Any]) -> Sequence[tuple[Any, ...]]:
        """Return the rows in the usual way."""
        return connection.execute(query).all()

    def full_text_add(
        self, connection: Connection, index: str, rows: Sequence[tuple[int, list[str]]]
    ) -> None:
        """Add rows, each with its lexemes as one text."""
        statement = f"INSERT INTO {index} (rowid, words) VALUES (?, ?)"  # noqa: S608 - our own name
        connection.exec_driver_sql(statement, [(row, " ".join(found)) for row, found in rows])

    def full_text_remove(
        self, connection: Connection, index: str, row: int, lexemes: list[str]
    ) -> None:
        """Remove a row, given with its lexemes: the index keeps no texts."""
        connection.exec_driver_sql(
            f"INSERT INTO {index} ({index}, rowid, words) VALUES ('delete', ?, ?)",  # noqa: S608 - as above
            (row, " ".join(lexemes)),
        )

    def full_text_planning(self, connection: Connection) -> nullcontext[None]:  # noqa: ARG002 - PostgreSQL's needs it
        """Return a context that does nothing."""
        return nullcontext()

    def full_text_count(
        self,
        connection: Connection,
        index: str,
        lexemes: Collection[str],
        most: int,  # noqa: ARG002 - FTS5 knows the numbers without counting
    ) -> dict[str, int]:
        """Return the numbers that FTS5 keeps."""
        marks = ", ".join("?" * len(lexemes))
        rows = connection.exec_driver_sql(
            f"SELECT term, doc FROM {index}_count WHERE term IN ({marks})",  # noqa: S608 - as above
            tuple(lexemes),
        )
        return {row.term: row.doc for row in rows}

    def full_text_search(
        self, connection: Connection, index: str, counts: Mapping[str, int], most: int
    ) -> list[tuple[int, float]]:
        """Return rows scored by BM25."""
        wanted = " OR ".join(counts)
        where = f"FROM {index} WHERE {index} MATCH ?"
        if next(iter(counts.values())) > most:
            newest = f"SELECT rowid {where} ORDER BY rowid DESC LIMIT ?"
            return [(row, 1.0) for (row,) in connection.exec_driver_sql(newest, (wanted, most))]
        scored = f"SELECT rowid, -bm25({index}) {where}"
        return [(row, score) for row, score in connection.exec_driver_sql(scored, (wanted,))]


def _make_private(database: Path) -> None:
    """Make the folder, and an empty file that SQLite's other files get their mode from."""
    try:
        make_private_folder(database.parent)
    except OSError as error:
        message = (
            f"the folder of the database cannot be made ({error.strerror}: {database.parent}); "
            "set TRACKRECORD_HOME to a folder that can be written"
        )
        raise StoreUnavailable(message) from error
    if not database.exists():
        with suppress(OSError):  # SQLite will say what is wrong
            database.touch(mode=0o600)


def _in_memory(url: URL) -> Engine:
    """A store of this process alone, for tests: one connection that all share, gone at dispose.

    One transaction at a time: a second one, in another thread too, would be inside the first.
    """
    return create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})


def _set_up(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own BEGIN comes too late (before the first write, not the first read).
    connection.isolation_level = None
    distrust_schema(connection)
    cursor = connection.cursor()
    # Of a new file only. Outcomes have some hundred bytes: in pages of four times the usual size
    # a batch touches fewer of them, and is on record in four fifths of the time.
    cursor.execute("PRAGMA page_size=16384")
    use_write_ahead_log(connection)
    cursor.execute("PRAGMA synchronous=FULL")
    # The log has as much as its largest transaction needed, or as readers kept from being copied;
    # when it begins anew, its file is cut.
    cursor.execute(f"PRAGMA journal_size_limit={LARGEST_LOG}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA cache_size=-16384")
    cursor.execute("PRAGMA temp_store=MEMORY")
    try:
        cursor.execute("SELECT power(2.0, -1.0)")
    except sqlite3.OperationalError:  # built without its mathematical functions
        connection.create_function("power", 2, pow, deterministic=True)
        connection.create_function("floor", 1, math.floor, deterministic=True)
    cursor.close()


def _drop_read_only(context: ExceptionContext) -> None:
    # A file that could not be written when it was opened stays read-only for that connection, and,
    # by what all of a process share, for each that is opened beside it: it has to be closed. With
    # an open cursor it would go on, with its transaction, until the cursor is collected.
    if "readonly database" in str(context.original_exception):
        if context.execution_context is not None:
            context.execution_context.cursor.close()
        context.is_disconnect = True


def _begin(connection: Connection) -> None:
    # A transaction that will write takes the write lock first: a reader that turns into a writer
    # is refused at once, whatever the timeout.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
