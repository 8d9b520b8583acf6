"""The two stores of a move: whether one can be moved to the other, and how far that has come."""

from dataclasses import dataclass
from enum import Enum

from sqlalchemy import Connection, Engine, inspect, select

from trackrecord.errors import TransferRefused
from trackrecord.store.database.engine import dialect_of, reading
from trackrecord.store.database.moves import FROM, TO, StoreMove, moves_of, store_moves
from trackrecord.store.intake.every_table import metadata

from .subjects import NOT_MOVED


class Stage(Enum):
    """The stages of a move.

    Attributes:
        NEW: it has not begun.
        BEGUN: it was interrupted.
        COPIED: the target is complete, and the source does not know it.
        DONE: it is complete.
    """

    NEW = "new"
    BEGUN = "begun"
    COPIED = "copied"
    DONE = "done"


@dataclass(frozen=True)
class StorePlace:
    """A store and its name.

    Attributes:
        engine: the database.
        name: its URL without the password.
    """

    engine: Engine
    name: str


@dataclass(frozen=True)
class MoveStanding:
    """The state of a move.

    Attributes:
        stage: how far it has come.
        token: what both stores know it by; None while it has not begun.
    """

    stage: Stage
    token: str | None = None


def standing_of(source: StorePlace, target: StorePlace) -> MoveStanding:
    """Return the state of the move from one store to another.

    Raises:
        TransferRefused: the one cannot be moved to the other; the message says why.
        StoreUnavailable: a database cannot be reached.
    """
    with reading(source.engine) as of_source, reading(target.engine) as of_target:
        _refuse_same(of_source, of_target)
        own = next((move for move in moves_of(of_source) if move.direction == TO), None)
        there = [move for move in _known_moves(of_target) if move.direction == FROM]
        if own is None:
            _refuse_unfinished(there, target)
            _refuse_used(of_target, target)
            return MoveStanding(Stage.NEW)
        known = next((move for move in there if move.token == own.token), None)
        if known is None:
            _refuse_another(own, target)
            _refuse_used(of_target, target)
            return MoveStanding(Stage.BEGUN, own.token)
        if known.finished_at is None:
            return MoveStanding(Stage.BEGUN, own.token)
        return MoveStanding(Stage.COPIED if own.finished_at is None else Stage.DONE, own.token)


def _refuse_same(of_source: Connection, of_target: Connection) -> None:
    dialect = dialect_of(of_source)
    if dialect is dialect_of(of_target) and dialect.is_same_database(of_source, of_target):
        message = "that is the database that the store is in already; name another one with --to"
        raise TransferRefused(message)


def _known_moves(connection: Connection) -> list[StoreMove]:
    return moves_of(connection) if inspect(connection).has_table(store_moves.name) else []


def _refuse_unfinished(moves: list[StoreMove], target: StorePlace) -> None:
    unfinished = next((move for move in moves if move.finished_at is None), None)
    if unfinished is not None:
        message = (
            f"{target.name} holds a part of another store, of a move from {unfinished.other} that "
            "is not complete: finish that one, or name an empty database"
        )
        raise TransferRefused(message)


def _refuse_another(own: StoreMove, target: StorePlace) -> None:
    """Refuse a second target: the first one has the data, and may have changed since."""
    if own.finished_at is not None:
        message = (
            f"this store was moved to {own.other}: set TRACKRECORD_DATABASE_URL to that database "
            "to use it or to move it further; `trackrecord move --cancel` opens this one again, as "
            "it was when it was moved"
        )
        raise TransferRefused(message)
    if own.other != target.name:
        message = (
            f"this store is being moved to {own.other}: name that database to go on, or run "
            "`trackrecord move --cancel` first"
        )
        raise TransferRefused(message)


def _refuse_used(connection: Connection, target: StorePlace) -> None:
    inspector = inspect(connection)
    there = {*inspector.get_table_names(), *inspector.get_view_names()}
    for table in metadata.sorted_tables:
        if table.name not in there or table in NOT_MOVED:
            continue
        # Whatever the columns are: the table may be of another version, or of another program.
        any_row = select(1).select_from(table).limit(1)
        if connection.execute(any_row).first() is not None:
            message = (
                f"{target.name} holds data already (in its table {table.name}): "
                "name an empty database"
            )
            raise TransferRefused(message)
