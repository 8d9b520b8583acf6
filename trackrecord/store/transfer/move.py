"""Moving a whole store to another database, row by row, so that every answer stays the same.

Each batch of rows is one transaction, which also notes how far the copy has come: killed at any
moment, the move goes on where it was. The store that is moved takes nothing in from the beginning
on, so that nothing is left behind, see `store/database/moves.py`.
"""

import base64
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, Table, delete, func, insert, select, update

from trackrecord.errors import AlreadyRunning, TransferRefused
from trackrecord.store.database.engine import dialect_of, reading, writing_anyway
from trackrecord.store.database.migrate import migrate
from trackrecord.store.database.moves import (
    FROM,
    GATE_KEY,
    TO,
    check_writable,
    move_steps,
    store_moves,
)
from trackrecord.store.database.row_locks import advisory_lock
from trackrecord.store.intake.every_table import metadata
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.similar import index_marked
from trackrecord.store.memories.tables import past_tasks

from .places import MoveStanding, Stage, StorePlace, standing_of
from .rows import Values, all_rows, in_batches, key_of, streamed
from .subjects import NOT_MOVED

# Told of each batch: the table, the rows of it that are copied, and how many there are.
Report = Callable[[str, int, int], None]

_WORDS: Final = "words of memories"
_INDEXED_AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Moved:
    """The counts of a move.

    Attributes:
        rows: the rows that the store has now, by table.
        was_begun: whether an interrupted move went on.
        was_done: whether it was complete before.
    """

    rows: dict[str, int]
    was_begun: bool = False
    was_done: bool = False

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.rows.values())


def moved_tables() -> list[Table]:
    """Return the tables that are copied, each after those that it refers to."""
    return [table for table in metadata.sorted_tables if table not in NOT_MOVED]


def count_rows(connection: Connection) -> dict[str, int]:
    """Return the number of rows of each table that is copied."""
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in moved_tables()
    }


def move_store(source: StorePlace, target: StorePlace, *, now: float, report: Report) -> Moved:
    """Move a store to another database, or go on with that.

    Args:
        source: the store, migrated.
        target: where to; a database without data.
        now: seconds since the epoch.
        report: told of each batch.

    Raises:
        TransferRefused: the store cannot be moved there; nothing was changed.
        SchemaTooNew: the target is of a newer version.
        StoreUnavailable: a database cannot be reached; the move can go on later.
    """
    standing = standing_of(source, target)
    if standing.stage is Stage.NEW:
        standing = MoveStanding(Stage.NEW, _close(source, target, now))
    token = standing.token or ""
    if standing.stage in (Stage.NEW, Stage.BEGUN):
        _begin_target(source, target, token, now)
        _copy(source, target, report)
        _finish_target(target, token, now)
    if standing.stage is not Stage.DONE:
        _note_finished(source, token, now)
    index_past_tasks(target.engine)
    with reading(source.engine) as connection:
        rows = count_rows(connection)
    return Moved(
        rows,
        was_begun=standing.stage in (Stage.BEGUN, Stage.COPIED),
        was_done=standing.stage is Stage.DONE,
    )


def cancel_move(source: StorePlace) -> str | None:
    """Open a store again that was moved, or is being moved.

    Returns:
        The name of the other one; None where the store was open.
    """
    with writing_anyway(source.engine) as connection:
        gone = connection.execute(
            delete(store_moves).where(store_moves.c.direction == TO).returning(store_moves.c.other)
        )
        return gone.scalar()


def _close(source: StorePlace, target: StorePlace, now: float) -> str:
    """Let the source take nothing in any more, once those who write there are done."""
    token = secrets.token_hex(16)
    with writing_anyway(source.engine) as connection:
        advisory_lock(connection, GATE_KEY)
        check_writable(connection)
        _note_begun(connection, token, TO, target, now)
    return token


def _begin_target(source: StorePlace, target: StorePlace, token: str, now: float) -> None:
    migrate(target.engine, even_a_part=True)
    with writing_anyway(target.engine) as connection:
        known = select(store_moves.c.token).where(store_moves.c.token == token)
        if connection.execute(known).first() is None:
            _note_begun(connection, token, FROM, source, now)


def _note_begun(
    connection: Connection, token: str, direction: str, other: StorePlace, now: float
) -> None:
    connection.execute(
        insert(store_moves).values(
            token=token, direction=direction, other=other.name, started_at=now
        )
    )


def _note_finished(place: StorePlace, token: str, now: float) -> None:
    with writing_anyway(place.engine) as connection:
        _set_finished(connection, token, now)


def _set_finished(connection: Connection, token: str, now: float) -> None:
    connection.execute(
        update(store_moves).where(store_moves.c.token == token).values(finished_at=now)
    )


def _finish_target(target: StorePlace, token: str, now: float) -> None:
    """Open the target; ids of new rows continue after those of its rows."""
    with writing_anyway(target.engine) as connection:
        for table in moved_tables():
            if "id" in table.c and table.c.id.type.python_type is int:
                dialect_of(connection).continue_numbering(connection, table)
        connection.execute(delete(move_steps))
        _set_finished(connection, token, now)


def _copy(source: StorePlace, target: StorePlace, report: Report) -> None:
    with reading(source.engine) as connection:
        totals = count_rows(connection)
        for table in moved_tables():
            _copy_table(connection, target, table, totals[table.name], report)
    _index_memories(target, totals["memories"], report)


def _copy_table(
    connection: Connection, target: StorePlace, table: Table, total: int, report: Report
) -> None:
    step = _step(target, table.name)
    if step is not None and step.is_done:
        return
    copied = step.copied if step is not None else 0
    report(table.name, copied, total)
    after = None if step is None else _read_key(step.last_key)
    columns = tuple(table.c)
    places = [columns.index(column) for column in key_of(table)]
    for batch in in_batches(table, streamed(connection, table, all_rows(table, after))):
        copied += len(batch)
        key = [batch[-1][place] for place in places]
        with writing_anyway(target.engine) as there:
            _hold_step(there, table.name, copied - len(batch))
            dialect_of(there).load(there, table, columns, list(_as_copied(table, batch)))
            _note_step(there, table.name, copied, _write_key(key))
        report(table.name, copied, total)
    _close_step(target, table, copied, total)


def _as_copied(table: Table, batch: list[Values]) -> Iterator[Values]:
    """Yield rows as they are in the target: there no past task is in the full-text index yet."""
    if table is not past_tasks:
        yield from batch
        return
    place = list(table.c).index(past_tasks.c.is_indexed)
    for row in batch:
        yield (*row[:place], False, *row[place + 1 :])


def _close_step(target: StorePlace, table: Table, copied: int, total: int) -> None:
    with writing_anyway(target.engine) as connection:
        _hold_step(connection, table.name, copied)
        there = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if not copied == there == total:
            message = (
                f"{target.name} has {there} rows of {table.name}, and {total} were to be moved: "
                "somebody else wrote there; run `trackrecord move --cancel`, "
                "and begin again with an empty database"
            )
            raise TransferRefused(message)
        _note_step(connection, table.name, copied, None, is_done=True)


def _index_memories(target: StorePlace, total: int, report: Report) -> None:
    step = _step(target, _WORDS)
    if step is not None and step.is_done:
        return
    copied = step.copied if step is not None else 0
    key = _read_key(step.last_key) if step is not None else None
    after = key[0] if key else 0
    while True:
        with writing_anyway(target.engine) as connection:
            _hold_step(connection, _WORDS, copied)
            rows = index_marked(connection, after=after, limit=_INDEXED_AT_ONCE)
            if not rows:
                _note_step(connection, _WORDS, copied, None, is_done=True)
                return
            after, copied = rows[-1], copied + len(rows)
            _note_step(connection, _WORDS, copied, _write_key([after]))
        report(_WORDS, copied, total)


def _step(target: StorePlace, name: str) -> Row[Any] | None:
    with reading(target.engine) as connection:
        query = select(move_steps).where(move_steps.c.name == name)
        return connection.execute(query).one_or_none()


def _hold_step(connection: Connection, name: str, copied: int) -> None:
    """Hold a step until the transaction ends, if it still is where this process left it.

    Raises:
        AlreadyRunning: another process is at it.
    """
    advisory_lock(connection, GATE_KEY)
    unfinished = select(store_moves.c.token).where(
        store_moves.c.direction == FROM, store_moves.c.finished_at.is_(None)
    )
    query = select(move_steps.c.copied).where(move_steps.c.name == name)
    is_open = connection.execute(unfinished).first() is not None
    if not is_open or (connection.execute(query).scalar() or 0) != copied:
        message = "another `trackrecord move` is copying to the same database: let that one finish"
        raise AlreadyRunning(message)


def _note_step(
    connection: Connection, name: str, copied: int, last_key: str | None, *, is_done: bool = False
) -> None:
    values = {"last_key": last_key, "copied": copied, "is_done": is_done}
    statement = dialect_of(connection).insert(move_steps).values(name=name, **values)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[move_steps.c.name], set_=values)
    )


def _write_key(key: list[Any]) -> str:
    """Return a key as JSON; binary values are in a list of their own."""
    values = [
        [base64.b64encode(each).decode()] if isinstance(each, bytes) else each for each in key
    ]
    return msgspec.json.encode(values).decode()


def _read_key(written: str | None) -> list[Any] | None:
    if written is None:
        return None
    values = msgspec.json.decode(written)
    return [base64.b64decode(each[0]) if isinstance(each, list) else each for each in values]
