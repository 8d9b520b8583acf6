"""One cache of compiled statements for all of a test process's stores of one kind of database.

Nearly every test has a store, and so an engine, of its own. Each engine would compile every
statement anew, which takes longer than running them on a store with a few rows. `tests/conftest.py`
loads this as a plugin.
"""

from collections.abc import Hashable
from typing import Any

from sqlalchemy import Connection, Engine, event

# More than the product has; where a test writes statements with texts of their own, it is emptied.
_MOST_STATEMENTS = 5000


class SharedStatements(dict[Hashable, Any]):
    """Compiled statements, whichever engine's dialect compiled them.

    SQLAlchemy's keys begin with the dialect, of which each engine has its own.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        """Return what any engine compiled."""
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        """Keep what an engine compiled."""
        if len(self) >= _MOST_STATEMENTS:
            self.clear()
        super().__setitem__(key[1:], compiled)


_of_kind: dict[Hashable, SharedStatements] = {}


@event.listens_for(Engine, "engine_connect")
def _share_statements(connection: Connection) -> None:
    shared = _of_kind.setdefault(type(connection.dialect), SharedStatements())
    connection.execution_options(compiled_cache=shared)
