"""Opening stores so that tests pay for their statements once, and not for each store.

An engine compiles each statement when it first runs it, which takes longer than running it on a
store of a few rows. What one engine of these has compiled, the next one finds compiled.
"""

from typing import Any

from sqlalchemy import Dialect, Engine

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
