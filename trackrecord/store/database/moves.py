"""Moves of a whole store to another database, as versions before 0.2 left them.

Such a store is not used: what was learnt since is in the other database, or a part is missing here.
"""

from sqlalchemy import Column, Connection, Double, String, Text, or_, select

from trackrecord.errors import StoreMoved

from .metadata import table

_TO = "to"

store_moves = table(
    "store_moves",
    Column("token", String(32), primary_key=True),
    # "to": this store was moved; "from": this store is what another one was moved to.
    Column("direction", String(4), nullable=False),
    # The URL of the other one, without its password.
    Column("other", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("finished_at", Double),
)
_CLOSING = select(store_moves.c.direction, store_moves.c.other, store_moves.c.finished_at).where(
    or_(store_moves.c.direction == _TO, store_moves.c.finished_at.is_(None))
)


def check_whole(connection: Connection) -> None:
    """Check that no older version moved the store, or left a part of a store here.

    Raises:
        StoreMoved: one did; the message says what to do.
    """
    row = connection.execute(_CLOSING).first()
    if row is None:
        return
    if row.direction == _TO and row.finished_at is not None:
        message = (
            f"this store was moved to {row.other}: set TRACKRECORD_DATABASE_URL to that database"
        )
    elif row.direction == _TO:
        message = (
            f"an earlier version began to move this store to {row.other}, and did not end: to stay "
            "here, empty the table `store_moves` of this database"
        )
    else:
        message = (
            f"this store is not complete: an earlier version began to move {row.other} here, and "
            "did not end: set TRACKRECORD_DATABASE_URL to that database"
        )
    raise StoreMoved(message)
