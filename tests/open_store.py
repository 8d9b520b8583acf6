"""Opening stores so that tests pay for their statements once, and not for each store.

An engine compiles each statement when it first runs it, which takes longer than running it on a
store of a few rows. What one engine of these has compiled, the next one finds compiled.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, event

from trackrecord.store.database.engine import connect_store

# By the name of the dialect; a compiled statement belongs to one dialect object.
_dialects: dict[str, Dialect] = {}
_compiled: dict[Any, Any] = {}


def open_store(url: str) -> Engine:
    """Return an engine of a database that can be reached, as `connect_store` makes it."""
    engine = connect_store(url, timeout_s=20.0)
    name = engine.dialect.name
    if name not in _dialects:
        # The first connection tells a dialect which server it talks to.
        engine.connect().close()
        _dialects[name] = engine.dialect
    engine.dialect = _dialects[name]
    engine.update_execution_options(compiled_cache=_compiled)
    return engine


@contextmanager
def compiling_once() -> Iterator[None]:
    """Let every engine of a SQLite database find what the others compiled, until the end.

    For tests of commands, each of which makes an engine of its own.
    """
    event.listen(Engine, "engine_connect", _share_what_is_compiled)
    try:
        yield
    finally:
        event.remove(Engine, "engine_connect", _share_what_is_compiled)


def _share_what_is_compiled(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.dialect = _dialects.setdefault("sqlite", connection.dialect)
        connection.execution_options(compiled_cache=_compiled)
