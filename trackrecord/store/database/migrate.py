"""Bringing a database to the tables of this version, under a lock, when a process starts.

The revisions stand in `store/migrations/versions`; its script.py.mako says what a new one needs.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    inspect,
    select,
    update,
)

from trackrecord.errors import SchemaTooNew, StoreBusy
from trackrecord.process.version import __version__

from .engine import connect_store, reading, writing
from .leases import advisory_lock
from .moves import check_whole

_MIGRATIONS: Final = Path(__file__).parents[1] / "migrations"
_REVISION: Final = re.compile(r"""^(down_)?revision = ["'](\w+)["']$""", re.MULTILINE)
# Any number that no one else uses for an advisory lock in the same database.
LOCK_KEY: Final = 0x7472_6163_6B72
# For how long another process may be at it. SQLite keeps no queue, and refuses at once whoever
# connects to a new file while another turns it to its write-ahead log.
_PATIENCE_S: Final = 60.0
_PAUSE_S: Final = 0.02
# The last states before the first release gave their tables this name, too; they lack one of them.
_FIRST: Final = "first_release"
_OF_FIRST: Final = "removed_days"

# Alembic's own table, with a column of ours; no part of the metadata, so that nothing transfers it.
store_versions = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    # The version of trackrecord that made the tables, or upgraded them last.
    Column("made_by", String(64)),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def migrate(engine: Engine) -> bool:
    """Create or upgrade the tables; answers whether anything had to be done.

    Any number of processes may call this at once: one does the work, the others wait for it.

    Args:
        engine: the database.

    Raises:
        StoreMoved: an older version moved the store, or left a part of one here.
        SchemaTooNew: the database is of a version that this code does not know.
        ServerUnavailable: the database cannot be reached.
    """
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return _migrate(engine)
        except StoreBusy:
            if time.monotonic() >= until:
                raise
            time.sleep(_PAUSE_S)


def _migrate(engine: Engine) -> bool:
    with reading(engine) as connection:
        if _revision(connection) == newest_revision():
            check_whole(connection)
            return False
    with writing(engine) as connection:
        advisory_lock(connection, LOCK_KEY)
        if _revision(connection) == newest_revision():
            return False
        _upgrade(connection)
        check_whole(connection)
    return True


@contextmanager
def store_at(url: str, *, timeout_s: float = 5.0, migrates: bool = True) -> Iterator[Engine]:
    """Open the store for a block, and close it at its end.

    Args:
        url: as for `connect_store`.
        timeout_s: as for `connect_store`.
        migrates: whether the tables are brought to this version; without it, nothing is touched.

    Raises:
        TrackrecordError: as `connect_store` and `migrate` do.
    """
    engine = (
        open_store(url, timeout_s=timeout_s)
        if migrates
        else connect_store(url, timeout_s=timeout_s)
    )
    try:
        yield engine
    finally:
        engine.dispose()


def open_store(url: str, *, timeout_s: float = 5.0, keeps_connections: bool = True) -> Engine:
    """Return an engine for the store, migrated; the caller disposes of it.

    The arguments are those of `connect_store`. For one block of code, `store_at` does it.

    Raises:
        TrackrecordError: as `connect_store` and `migrate` do.
    """
    engine = connect_store(url, timeout_s=timeout_s, keeps_connections=keeps_connections)
    try:
        migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


@cache
def newest_revision() -> str:
    """Return the revision that no other one follows, without Alembic: see `_upgrade`."""
    found = _named_revisions()
    followed = {name for is_down, name in found if is_down}
    (newest,) = {name for is_down, name in found if not is_down} - followed
    return newest


def knows(revision: str) -> bool:
    """Return whether this version can work with tables of a revision, or upgrade them."""
    return (None, revision) in _named_revisions()


def _named_revisions() -> list[tuple[str | None, str]]:
    return [
        (match[1], match[2])
        for path in (_MIGRATIONS / "versions").glob("*.py")
        for match in _REVISION.finditer(path.read_text(encoding="utf-8"))
    ]


def check_known(connection: Connection, what: str, instead: str) -> None:
    """Check that this version knows the revision of a store, and that its tables are there.

    Args:
        connection: a transaction.
        what: the store, as a message names it.
        instead: what else than another version the user can take.

    Raises:
        SchemaTooNew: the store is of a newer version, or of one from before the first release.
    """
    revision = _revision(connection)
    tables = inspect(connection)
    is_whole = revision != _FIRST or tables.has_table(_OF_FIRST)
    if revision is None or (knows(revision) and is_whole):
        return
    columns = {column["name"] for column in tables.get_columns(store_versions.name)}
    maker = store_versions.c.made_by
    made_by = connection.execute(select(maker)).scalar() if maker.name in columns else None
    if made_by is None:
        message = (
            f"{what} is of a trackrecord from before the first release, or of another program "
            f"(revision {revision}), and is not read: {instead}"
        )
    else:
        message = (
            f"{what} is of trackrecord {made_by} (revision {revision}), and this is "
            f"{__version__}: install that version, or {instead}"
        )
    raise SchemaTooNew(message)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(store_versions.name):
        return None
    return connection.execute(select(store_versions.c.version_num)).scalar()


def _upgrade(connection: Connection) -> None:
    check_known(connection, "the database", "name another database with TRACKRECORD_DATABASE_URL")
    # Alembic takes a tenth of a second to import, and most starts have nothing to migrate.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.execute(update(store_versions).values(made_by=__version__))
