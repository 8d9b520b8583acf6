"""The interface of a database's own SQL, where SQLAlchemy has no common spelling.

The docstring of the package says where else a database is named.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Column, ColumnElement, Connection, Engine, Row, Select, Table
from sqlalchemy.engine import URL

if TYPE_CHECKING:
    # Each process uses one of the two, and PostgreSQL's takes 50 ms to import.
    from sqlalchemy.dialects.postgresql import Insert as PostgreSQLInsert
    from sqlalchemy.dialects.sqlite import Insert as SQLiteInsert

    # Both have the same methods; SQLAlchemy gives them no common name.
    Insert = SQLiteInsert | PostgreSQLInsert


@dataclass(frozen=True)
class Extra:
    """A part of the schema that only one database has, in addition to the metadata's tables.

    Attributes:
        names: the tables and indexes that it consists of.
        statements: what makes it; each does nothing where it is made already.
    """

    names: tuple[str, ...]
    statements: tuple[str, ...]


class Dialect(ABC):
    """One kind of database.

    Attributes:
        name: as SQLAlchemy names the backend.
        ddl_extras: what its schema has beside the tables of the metadata: full-text indexes, and
            indexes or settings of columns that the other database does not know. They are made
            when a migration runs: a new one needs a revision in `store/migrations/versions`, even
            an empty one.
        vectors: the table of vectors, which is made when it is first needed; None where the
            database cannot have one.
        code_points: the collation that compares texts by code point, as Python does.
    """

    name: ClassVar[str]
    ddl_extras: ClassVar[tuple[Extra, ...]]
    vectors: ClassVar[Extra | None] = None
    code_points: ClassVar[str]

    @abstractmethod
    def engine(self, url: URL, timeout_s: float, *, keeps_connections: bool = True) -> Engine:
        """Return an engine that connects when it is first used.

        Args:
            url: the database.
            timeout_s: how long a statement waits for a lock.
            keeps_connections: whether a connection is kept for the next transaction.

        Raises:
            StoreUnavailable: the database's folder cannot be made.
            StoreUnfit: its driver is not installed.
        """

    def make_extras(self, connection: Connection) -> None:
        """Create the missing parts of `ddl_extras`."""
        for extra in self.ddl_extras:
            for statement in extra.statements:
                connection.exec_driver_sql(statement)

    def last_write(self, _engine: Engine) -> object:
        """Return what changes with every commit, found without a question to the database.

        Returns:
            None where that cannot be told, or the last commit may not have been the last one.
        """
        return None

    @abstractmethod
    def insert(self, table: Table) -> "Insert":
        """Return an INSERT that supports ON CONFLICT."""

    @abstractmethod
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
        """Insert rows in the form that the database takes fastest.

        Args:
            connection: within a writing transaction.
            table: where to.
            columns: the columns that each row gives, in its order.
            rows: the values, at least one row of them.
            conflict: the ON CONFLICT clause, without parameters.
            returning: columns to answer with; empty for none.

        Returns:
            A row for each that was inserted or updated, with values as the driver gives them.
        """

    def repeatable_read(self, connection: Connection) -> None:  # noqa: B027 - as it says
        """Let a transaction that has read nothing yet see one state of the store to its end.

        Nothing where every transaction does.
        """

    def advisory_lock(self, connection: Connection, key: int) -> None:  # noqa: B027 - as it says
        """Serialise with other writing transactions that lock the key, until this one ends.

        Nothing where a writing transaction is alone.
        """

    def by_code_point(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Return what orders rows by a text's code points, as both databases can."""
        return column

    def shared_locks(self, connection: Connection, keys: Sequence[int]) -> None:  # noqa: B027 - as it says
        """Serialise with who takes the advisory lock of a key, but not with who shares it.

        Nothing where a writing transaction is alone.
        """

    @abstractmethod
    def load(
        self,
        connection: Connection,
        table: Table,
        columns: Sequence[Column[Any]],
        rows: Sequence[tuple[Any, ...]],
    ) -> None:
        """Insert rows that are not there yet, many at once, in the fastest form of all.

        Raises:
            TransferRefused: one of them is there, or refers to a row that is not.
            StoreUnavailable: the database failed.
        """

    @abstractmethod
    def new_ids(self, connection: Connection, table: Table, count: int) -> Sequence[int]:
        """Return fresh ids for new rows of a table, the smallest first.

        Args:
            connection: within a writing transaction that inserts rows with them at once.
            table: a table that numbers its rows.
            count: how many rows there are.
        """

    def continue_numbering(self, connection: Connection, table: Table) -> None:  # noqa: B027 - as it says
        """Let the next row of a table, whose ids were given, get the id after the largest one.

        Nothing where it is one more than the largest anyway.
        """

    @abstractmethod
    def contains(self, column: Column[str], wanted: str) -> ColumnElement[bool]:
        """Return the condition that a text contains another one."""

    @abstractmethod
    def holds_bytes(self, column: Column[bytes], wanted: bytes) -> ColumnElement[bool]:
        """Return the condition that a value holds these bytes."""

    @abstractmethod
    def is_among(self, column: Column[int], wanted: Iterable[int]) -> ColumnElement[bool]:
        """Return the condition that a column's value is one of many."""

    @abstractmethod
    def fetch_blobs(self, connection: Connection, query: Select[Any]) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query that reads megabytes of bytes."""

    @abstractmethod
    def full_text_add(
        self, connection: Connection, index: str, rows: Sequence[tuple[int, list[str]]]
    ) -> None:
        """Add rows with their lexemes to an index that holds none of them."""

    @abstractmethod
    def full_text_remove(
        self, connection: Connection, index: str, row: int, lexemes: list[str]
    ) -> None:
        """Remove a row, whose lexemes are those it was added with, from an index."""

    def shorten_log(self, engine: Engine) -> None:  # noqa: B027 - as it says
        """Checkpoint a write-ahead log into the database, unless others are reading it.

        Nothing where a server sees to its own log.
        """

    def bound_log(self, engine: Engine) -> None:  # noqa: B027 - as it says
        """Shorten a write-ahead log that became long while others were reading it.

        Nothing where a server sees to its own log.
        """

    @abstractmethod
    def bytes_of(self, connection: Connection) -> dict[str, int]:
        """Return the bytes of each table and of each index by name; "" for what has no name.

        Counting must not take long: of a very large database there may be one sum, without a name.
        """

    @abstractmethod
    def copy_to(self, engine: Engine, file: Path) -> None:
        """Write one state of the whole database to a file, while others go on writing.

        Raises:
            TransferRefused: the database has a program of its own for that.
            StoreUnavailable: the database or the file cannot be used.
        """

    @abstractmethod
    def replace_by(
        self, engine: Engine, file: Path, *, patience_s: float, begin: Callable[[], None]
    ) -> None:
        """Replace the whole database by a copy, in one step: killed anywhere, it is one of the two.

        Args:
            engine: the database.
            file: what `copy_to` wrote.
            patience_s: how long others who write are waited for.
            begin: called once the file is found to be sound, before anything is replaced.

        Raises:
            TransferRefused: the database has a program of its own for that.
            StoreUnavailable: the file cannot be read, or others write all the time (StoreBusy).
        """

    @abstractmethod
    def erase_remains(self, engine: Engine) -> None:
        """Let nothing of deleted rows linger where the database has a way to do so."""

    @abstractmethod
    def full_text_planning(self, connection: Connection) -> AbstractContextManager[None]:
        """Return the context in which an index is counted in and searched."""

    @abstractmethod
    def full_text_count(
        self, connection: Connection, index: str, lexemes: Collection[str], most: int
    ) -> dict[str, int]:
        """Return the number of rows that hold each lexeme; beyond `most` it may be too low."""

    @abstractmethod
    def full_text_search(
        self, connection: Connection, index: str, counts: Mapping[str, int], most: int
    ) -> list[tuple[int, float]]:
        """Return rows that hold any of the lexemes, each with its score; the newest, or all.

        Args:
            connection: a transaction.
            index: the index.
            counts: the number of rows that hold each lexeme, the rarest first. When that is more
                than `most`, the newest rows are answered, and their scores are all the same.
            most: how many rows at most.
        """
