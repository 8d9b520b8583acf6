"""Moves of a whole store to another database: their records, and the lock on the old store.

From its beginning on, a move closes the store that is moved, and the one it is moved to until it is
complete: whoever wants to write there is told so, and workers leave outcomes in the stream. Every
writing transaction looks here first.
"""

from dataclasses import dataclass

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    String,
    Table,
    Text,
    or_,
    select,
)

from trackrecord.errors import StoreMoved

from .metadata import metadata

TO = "to"
FROM = "from"

# Any number that no one else uses for an advisory lock in the same database. Who writes holds it
# together with others, who closes the store holds it alone.
GATE_KEY = 0x7472_6163_6B74

store_moves = Table(
    "store_moves",
    metadata,
    # The same in both stores.
    Column("token", String(32), primary_key=True),
    # "to": this store is moved; "from": this store is what another one is moved to.
    Column("direction", String(4), nullable=False),
    # The URL of the other one, without its password.
    Column("other", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("finished_at", Double),
)

# How far an unfinished move to this store has come: one row for each table.
move_steps = Table(
    "move_steps",
    metadata,
    Column("name", String(64), primary_key=True),
    # The key of the last row that was copied, as JSON.
    Column("last_key", Text),
    Column("copied", BigInteger, nullable=False),
    Column("is_done", Boolean, nullable=False),
)


@dataclass(frozen=True)
class StoreMove:
    """A move, as one of its two stores has it on record.

    Attributes:
        token: the same in both stores.
        direction: TO where this store is moved, FROM where another one is moved to it.
        other: the other one's URL without its password.
        finished_at: when the move was complete; None: it is not.
    """

    token: str
    direction: str
    other: str
    finished_at: float | None


_COLUMNS = (
    store_moves.c.token,
    store_moves.c.direction,
    store_moves.c.other,
    store_moves.c.finished_at,
)
_CLOSING = select(*_COLUMNS).where(
    or_(store_moves.c.direction == TO, store_moves.c.finished_at.is_(None))
)


def moves_of(connection: Connection) -> list[StoreMove]:
    """Return all moves that a store has on record."""
    return [StoreMove(*row) for row in connection.execute(select(*_COLUMNS))]


def check_writable(connection: Connection) -> None:
    """Check that no move closes the store.

    Raises:
        StoreMoved: the store was moved, is being moved, or is not there as a whole yet.
    """
    row = connection.execute(_CLOSING).first()
    if row is not None:
        raise StoreMoved(_explanation(StoreMove(*row)))


def check_whole(connection: Connection) -> None:
    """Check that the store is not one that another store is still being moved to.

    Raises:
        StoreMoved: it is; what can be read there is a part of it.
    """
    row = connection.execute(_CLOSING.where(store_moves.c.direction == FROM)).first()
    if row is not None:
        raise StoreMoved(_explanation(StoreMove(*row)))


def _explanation(move: StoreMove) -> str:
    if move.direction == FROM:
        return (
            f"this store is not complete: the move from {move.other} was interrupted; "
            "run `trackrecord move` there again"
        )
    if move.finished_at is None:
        return (
            f"this store is being moved to {move.other}; if that was interrupted, run "
            "`trackrecord move` again, or `trackrecord move --cancel` to stay here"
        )
    return (
        f"this store was moved to {move.other}: set TRACKRECORD_DATABASE_URL to that database "
        "and start the workers again"
    )
