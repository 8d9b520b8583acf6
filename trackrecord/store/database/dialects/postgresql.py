"""PostgreSQL: many writers, full text by text search vectors, vectors by pgvector.

An index of PostgreSQL alone is one of the `ddl_extras`, and needs a revision in
`store/migrations/versions`, even an empty one: `Dialect` in `base` says why.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Double,
    Engine,
    Integer,
    LargeBinary,
    Row,
    Select,
    Table,
    any_,
    collate,
    create_engine,
    event,
    func,
    literal,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from trackrecord.errors import StoreUnavailable, StoreUnfit, TransferRefused

from .base import Dialect, Extra

if TYPE_CHECKING:
    import psycopg  # of the extra `postgres`
    from sqlalchemy.dialects.postgresql import Insert

# How much longer texts weigh less, as in BM25 with its usual constants; texts are short.
_USUAL_LENGTH = 15.0


# How many times as long as others wait for its locks a writing transaction may leave the server
# without a statement; then the server ends its session.
_IDLE_LOCK_TIMEOUTS = 12
_MOST_AT_ONCE = 200
_POOL: dict[str, Any] = {"pool_pre_ping": True, "pool_size": 2}
_GIN = "USING gin (words) WITH (fastupdate = off)"
_VECTOR_COLUMNS = (
    "model text, digest bytea, embedding vector NOT NULL, used_at double precision NOT NULL, "
    "PRIMARY KEY (model, digest)"
)


def _full_text_index(name: str) -> Extra:
    return Extra(
        (name, f"ix_{name}"),
        (
            f"CREATE TABLE IF NOT EXISTS {name} (id bigint PRIMARY KEY, words tsvector NOT NULL)",
            f"CREATE INDEX IF NOT EXISTS ix_{name} ON {name} {_GIN}",
        ),
    )


# In the pool's notes on a connection: whether a pooler is between it and the server.
_IS_POOLED = "trackrecord_is_pooled"


def _run_for_each(
    cursor: "psycopg.Cursor", statement: str, rows: Sequence[Any], _context: object
) -> bool:
    """Run a statement for many rows, several in one message; psycopg's own way is left out.

    That is a pipeline, which ends in a Flush, and there the server stops to watch for an idle
    transaction: a host that was frozen just then kept its locks from the others for good.
    """
    from psycopg import ClientCursor

    bind = ClientCursor(cursor.connection).mogrify
    for start in range(0, len(rows), _MOST_AT_ONCE):
        some = rows[start : start + _MOST_AT_ONCE]
        cursor.execute("; ".join([bind(statement, row) for row in some]).encode())
    return True


def _is_pooled(connection: "psycopg.Connection") -> bool:
    """Return whether a pooler, such as pgbouncer, is between this process and the server.

    A pooler answers a new connection itself, before there is a session for it, and cannot know the
    process that will serve it.
    """
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return row is not None and row[0] != connection.info.backend_pid


class PostgreSQL(Dialect):
    """PostgreSQL, by psycopg."""

    name = "postgresql"
    code_points = "C"
    ddl_extras: ClassVar[tuple[Extra, ...]] = (
        _full_text_index("memory_words"),
        _full_text_index("task_words"),
        # Bits that are read and written whole: to compress them costs more than it saves.
        Extra((), ("ALTER TABLE memory_blocks ALTER COLUMN planes SET STORAGE EXTERNAL",)),
    )
    vectors = Extra(
        ("text_vectors",),
        (
            "CREATE EXTENSION IF NOT EXISTS vector",
            f"CREATE TABLE IF NOT EXISTS text_vectors ({_VECTOR_COLUMNS})",
        ),
    )

    def engine(self, url: URL, timeout_s: float, *, keeps_connections: bool = True) -> Engine:
        """Return an engine with a pool of two connections, or without any pool.

        Raises:
            StoreUnfit: the driver is not installed.
        """
        try:
            engine = create_engine(
                url,
                **(_POOL if keeps_connections else {"poolclass": NullPool}),
                connect_args={
                    "connect_timeout": max(2, int(timeout_s)),
                    # A network that falls silent is noticed after a minute, not after two hours.
                    "keepalives_idle": 30,
                    "keepalives_interval": 10,
                    "keepalives_count": 3,
                    "tcp_user_timeout": 60_000,
                },
            )
        except ModuleNotFoundError as error:
            message = (
                f"PostgreSQL needs a driver that is not installed ({error.name}): "
                "pip install 'trackrecord[worker,postgres]'"
            )
            raise StoreUnfit(message) from None
        lock_timeout_ms = int(timeout_s * 1000)

        def set_up(connection: "psycopg.Connection", entry: ConnectionPoolEntry) -> None:
            entry.info[_IS_POOLED] = _is_pooled(connection)
            if entry.info[_IS_POOLED]:
                # The next transaction may have another session, which knows no statement of this.
                connection.prepare_threshold = None
            else:
                # Not as a startup parameter: poolers refuse those.
                connection.execute(f"SET lock_timeout = {lock_timeout_ms}")
            connection.commit()

        def begin(connection: Connection) -> None:
            driver: Any = connection.connection.driver_connection
            if driver.autocommit:
                return
            settings = []
            if connection.info[_IS_POOLED]:
                settings.append(f"SET LOCAL lock_timeout = {lock_timeout_ms}")
            if connection.get_execution_options().get("writes", False):
                # A host that is frozen must not keep its locks from the others for good.
                idle_ms = _IDLE_LOCK_TIMEOUTS * lock_timeout_ms
                settings.append(f"SET LOCAL idle_in_transaction_session_timeout = {idle_ms}")
            if settings:
                connection.exec_driver_sql("; ".join(settings))

        event.listen(engine, "connect", set_up)
        event.listen(engine, "begin", begin)
        event.listen(engine, "do_executemany", _run_for_each)
        return engine

    def insert(self, table: Table) -> "Insert":
        """Return PostgreSQL's INSERT."""
        # Only a process that uses this database pays for the import.
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)

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
        """Run one statement for all rows: the columns travel as binary arrays."""
        chosen, once, given, arrays, names = [], [], [], [], []
        for index, column in enumerate(columns):
            kind = _type_of(column)
            values = [row[index] for row in rows]
            # The same in every row, as a project or a moment often is: sent once. The last column
            # stays what it is, for there must be something to go through.
            if index < len(columns) - 1 and values.count(values[0]) == len(values):
                chosen.append(f"%b::{kind}")
                once.append(values[0])
            else:
                chosen.append(f"given.{column.name}")
                names.append(column.name)
                arrays.append(f"%b::{kind}[]")
                given.append(values)
        named = ", ".join(column.name for column in columns)
        statement = (
            f"INSERT INTO {table.name} ({named}) SELECT {', '.join(chosen)}"  # noqa: S608 - our own names only
            f" FROM unnest({', '.join(arrays)}) AS given({', '.join(names)}) {conflict}"
        )
        if returning:
            statement += (
                f" RETURNING {', '.join(f'{table.name}.{each.name}' for each in returning)}"
            )
        answer = connection.exec_driver_sql(statement, (*once, *given))
        return answer.all() if returning else []

    def repeatable_read(self, connection: Connection) -> None:
        """Raise the isolation level of the transaction."""
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))

    def advisory_lock(self, connection: Connection, key: int) -> None:
        """Take a lock of the transaction."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})

    def by_code_point(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """Name the collation: the database's own may be that of a language."""
        return collate(column, "C")

    def shared_locks(self, connection: Connection, keys: Sequence[int]) -> None:
        """Take shared locks of the transaction, all in one statement."""
        statement = "SELECT pg_advisory_xact_lock_shared(key) FROM unnest(%b::bigint[]) AS key"
        connection.exec_driver_sql(statement, (list(keys),))

    def load(
        self,
        connection: Connection,
        table: Table,
        columns: Sequence[Column[Any]],
        rows: Sequence[tuple[Any, ...]],
    ) -> None:
        """Copy the rows in binary.

        Raises:
            TransferRefused: one of the rows is there, or refers to a row that is not.
            StoreUnavailable: the database failed; SQLAlchemy, which would say so, is passed by.
        """
        driver: Any = connection.connection.driver_connection
        dbapi: Any = connection.dialect.loaded_dbapi
        named = ", ".join(column.name for column in columns)
        statement = f"COPY {table.name} ({named}) FROM STDIN (FORMAT BINARY)"
        try:
            with driver.cursor() as cursor, cursor.copy(statement) as copy:
                copy.set_types([_copied_as(column) for column in columns])
                for row in rows:
                    copy.write_row(row)
        except (dbapi.IntegrityError, dbapi.DataError) as error:
            reason = str(error).strip().splitlines()[0]
            message = f"the database does not take rows of {table.name} ({reason})"
            raise TransferRefused(message) from error
        except dbapi.Error as error:
            message = f"the database cannot be used ({type(error).__name__}: {error})"
            raise StoreUnavailable(message.splitlines()[0]) from error

    def new_ids(self, connection: Connection, table: Table, count: int) -> Sequence[int]:
        """Draw numbers from the sequence of the column."""
        query = text(
            "SELECT nextval(pg_get_serial_sequence(:table, 'id')) FROM generate_series(1, :count)"
        )
        values = {"table": table.name, "count": count}
        return sorted(connection.execute(query, values).scalars())

    def continue_numbering(self, connection: Connection, table: Table) -> None:
        """Set the sequence of the column to the largest id."""
        connection.execute(
            text(
                "SELECT setval(pg_get_serial_sequence(:table, 'id'), max(id))"  # noqa: S608 - our own name
                f" FROM {table.name} HAVING max(id) IS NOT NULL"
            ),
            {"table": table.name},
        )

    def bytes_of(self, connection: Connection) -> dict[str, int]:
        """Return the sizes that the server knows, with what is stored beside a table's rows."""
        rows = connection.execute(
            text(
                "SELECT relname, CASE relkind WHEN 'r' THEN pg_table_size(oid)"
                " ELSE pg_relation_size(oid) END FROM pg_class"
                " WHERE relkind IN ('r', 'i') AND relnamespace = current_schema()::regnamespace"
            )
        )
        return {row[0]: int(row[1]) for row in rows}

    def copy_to(self, engine: Engine, file: Path) -> None:  # noqa: ARG002 - as above
        """Refuse: the server has its own program.

        Raises:
            TransferRefused: always.
        """
        message = (
            "a PostgreSQL database is backed up by its own program: "
            'pg_dump --format custom --file FILE "$TRACKRECORD_DATABASE_URL"'
        )
        raise TransferRefused(message)

    def replace_by(
        self,
        engine: Engine,  # noqa: ARG002 - as above
        file: Path,  # noqa: ARG002 - as above
        *,
        patience_s: float,  # noqa: ARG002 - as above
        begin: Callable[[], None],  # noqa: ARG002 - as above
    ) -> None:
        """Refuse: the server has its own program.

        Raises:
            TransferRefused: always.
        """
        message = (
            "a PostgreSQL database is restored by its own program, with no worker running: "
            'pg_restore --clean --if-exists --dbname "$TRACKRECORD_DATABASE_URL" FILE'
        )
        raise TransferRefused(message)

    def erase_remains(self, engine: Engine) -> None:
        """Delete vectors of texts that are gone; vacuum the tables.

        The room of deleted rows is used again then.
        """
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if connection.execute(text("SELECT to_regclass('text_vectors')")).scalar():
                connection.execute(
                    text(
                        "DELETE FROM text_vectors v WHERE NOT EXISTS (SELECT 1"
                        " FROM competence_numbers n WHERE n.text_digest = v.digest)"
                    )
                )
            connection.execute(text("VACUUM"))

    def is_among(self, column: Column[int], wanted: Iterable[int]) -> ColumnElement[bool]:
        """Return ANY of one array."""
        return column == any_(literal(list(wanted), ARRAY(BigInteger)))

    def holds_bytes(self, column: Column[bytes], wanted: bytes) -> ColumnElement[bool]:
        """Ask for their position, which is 0 where they are not."""
        return func.position(literal(wanted, LargeBinary).op("IN")(column)) > 0

    def contains(self, column: Column[str], wanted: str) -> ColumnElement[bool]:
        """Look for it as a whole: LIKE takes four times as long."""
        return func.strpos(column, wanted) > 0

    def fetch_blobs(self, connection: Connection, query: Select[Any]) -> Sequence[tuple[Any, ...]]:
        """Return the rows in binary; as text, the driver's usual way, they would be twice as long.

        Raises:
            StoreUnavailable: the database failed; SQLAlchemy, which would say so, is passed by.
        """
        compiled = query.compile(dialect=connection.dialect)
        driver: Any = connection.connection.driver_connection
        dbapi: Any = connection.dialect.loaded_dbapi
        try:
            with driver.cursor(binary=True) as cursor:
                rows: list[tuple[Any, ...]] = cursor.execute(
                    compiled.string, compiled.params
                ).fetchall()
        except dbapi.Error as error:
            message = f"the database cannot be used ({type(error).__name__}: {error})"
            raise StoreUnavailable(message.splitlines()[0]) from error
        return rows

    def full_text_add(
        self, connection: Connection, index: str, rows: Sequence[tuple[int, list[str]]]
    ) -> None:
        """Add rows, each with its lexemes as a text search vector."""
        connection.exec_driver_sql(
            f"INSERT INTO {index} (id, words) VALUES (%s, array_to_tsvector(%s::text[]))",  # noqa: S608 - our own name
            list(rows),
        )

    def full_text_remove(
        self,
        connection: Connection,
        index: str,
        row: int,
        lexemes: list[str],  # noqa: ARG002 - SQLite's needs them
    ) -> None:
        """Delete the row."""
        connection.exec_driver_sql(f"DELETE FROM {index} WHERE id = %s", (row,))  # noqa: S608 - as above

    @contextmanager
    def full_text_planning(self, connection: Connection) -> Iterator[None]:
        """Plan by the index: for the planner a new table is small and best read whole."""
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        yield
        connection.execute(text("SET LOCAL enable_seqscan = on"))

    def full_text_count(
        self, connection: Connection, index: str, lexemes: Collection[str], most: int
    ) -> dict[str, int]:
        """Count rows up to one more than `most`; nearly always there are few."""
        counts = connection.exec_driver_sql(
            "SELECT word, (SELECT count(*) FROM"  # noqa: S608 - as above
            f" (SELECT 1 FROM {index} WHERE words @@ word::tsquery LIMIT %s) found)"
            " FROM unnest(%s::text[]) word",
            (most + 1, list(lexemes)),
        )
        return {word: count for word, count in counts if count}

    def full_text_search(
        self, connection: Connection, index: str, counts: Mapping[str, int], most: int
    ) -> list[tuple[int, float]]:
        """Return rows scored by a sum over their lexemes; ts_rank cannot weigh single words."""
        if next(iter(counts.values())) > most:
            # Materialised: else the planner may look through all rows, newest first.
            newest = connection.exec_driver_sql(
                f"WITH found AS MATERIALIZED (SELECT id FROM {index}"  # noqa: S608 - as above
                " WHERE words @@ %s::tsquery) SELECT id FROM found ORDER BY id DESC LIMIT %s",
                (next(iter(counts)), most),
            )
            return [(row, 1.0) for (row,) in newest]
        weights = {word: log(1 + 2 * most / (count + 0.5)) for word, count in counts.items()}
        score = " + ".join(
            "CASE WHEN words @@ %s::tsquery THEN %s::float8 ELSE 0 END" for _ in weights
        )
        # Materialised for the same reason.
        rows = connection.exec_driver_sql(
            f"WITH found AS MATERIALIZED (SELECT id, words FROM {index}"  # noqa: S608 - as above
            f" WHERE words @@ %s::tsquery) SELECT id, ({score})"
            f" / (1.3 + 0.9 * length(words) / {_USUAL_LENGTH})"
            " FROM found ORDER BY id DESC LIMIT %s",
            (
                " | ".join(weights),
                *(value for pair in weights.items() for value in pair),
                most,
            ),
        )
        return [(row, score) for row, score in rows]


# The first that a type is; an integer of 64 bits is an integer for SQLAlchemy, too.
_COPIED = (
    (BigInteger, "int8"),
    (Integer, "int4"),
    (Double, "float8"),
    (Boolean, "bool"),
    (LargeBinary, "bytea"),
)


def _copied_as(column: Column[Any]) -> str:
    return next((name for kind, name in _COPIED if isinstance(column.type, kind)), "text")


# Far more than all tables have columns.
@lru_cache(maxsize=4_096)
def _type_of(column: Column[Any]) -> str:
    """Return the column's type; an array's cannot name a collation, and a value has none."""
    # Only a process that uses this database pays for the import.
    from sqlalchemy.dialects.postgresql import psycopg

    dialect = psycopg.dialect()  # type: ignore[no-untyped-call] # SQLAlchemy gives it no types
    return column.type.compile(dialect).partition(" COLLATE ")[0]
