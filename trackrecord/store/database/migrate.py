"""Bringing a database to the tables of this version, under a lock, when a process starts.

The revisions stand in `store/migrations/versions`; its script.py.mako says what a new one needs.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from trackrecord.errors import SchemaTooNew

from .engine import connect_store, reading, writing_anyway
from .moves import check_whole
from .row_locks import advisory_lock

_MIGRATIONS = Path(__file__).parents[1] / "migrations"
_REVISION = re.compile(r"""^(down_)?revision = ["'](\w+)["']$""", re.MULTILINE)
# Any number that no one else uses for an advisory lock in the same database.
_LOCK_KEY = 0x7472_6163_6B72


def migrate(engine: Engine, *, even_a_part: bool = False) -> bool:
    """Create or upgrade the tables; answers whether anything had to be done.

    Any number of processes may call this at once: one does the work, the others wait for it.

    Args:
        engine: the database.
        even_a_part: also where another store is still being moved to.

    Raises:
        StoreMoved: the database holds a part of a store that is being moved to it.
        SchemaTooNew: the database is of a version that this code does not know.
        ServerUnavailable: the database cannot be reached.
    """
    with reading(engine) as connection:
        if _version(connection) == newest_revision():
            if not even_a_part:
                check_whole(connection)
            return False
    with writing_anyway(engine) as connection:
        advisory_lock(connection, _LOCK_KEY)
        version = _version(connection)
        if version == newest_revision():
            return False
        _upgrade(connection, version)
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


def known_revisions() -> frozenset[str]:
    """Return the revisions of databases that this version can work with, or upgrade."""
    return frozenset(name for is_down, name in _named_revisions() if not is_down)


def _named_revisions() -> list[tuple[str | None, str]]:
    return [
        (match[1], match[2])
        for path in (_MIGRATIONS / "versions").glob("*.py")
        for match in _REVISION.finditer(path.read_text(encoding="utf-8"))
    ]


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection, version: str | None) -> None:
    # Alembic takes a tenth of a second to import, and most starts have nothing to migrate.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version is not None and version not in known:
        message = (
            "the database is of a newer trackrecord, or of one from before the first release "
            f"(revision {version}): install that version, or name another database"
        )
        raise SchemaTooNew(message)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
