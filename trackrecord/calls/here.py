"""The store of this process: opened when a call first needs it, and kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from trackrecord.errors import ExtraMissing
from trackrecord.forking import not_while_forking

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from trackrecord.daemon_settings import DaemonSettings


@dataclass(frozen=True)
class StoreHere:
    """What a call works with.

    Attributes:
        engine: the store, migrated.
        settings: those of this process.
        project: the project that was named or else is set.
    """

    engine: Engine
    settings: DaemonSettings
    project: str


@contextmanager
def store_here(project: str | None) -> Iterator[StoreHere]:
    """Open the store of this process's settings.

    Args:
        project: the project that the caller named; the settings' project when None.

    Raises:
        SettingsError: a setting is wrong.
        ExtraMissing: a package is missing that the base package does not install.
        ServerUnavailable: the database cannot be reached.
    """
    from trackrecord.daemon_settings import load_daemon_settings

    settings = load_daemon_settings()
    engine = _engine(os.getpid(), settings.effective_database_url, settings.database_timeout_s)
    yield StoreHere(engine, settings, project or settings.project)


@lru_cache(maxsize=1)
def _engine(_pid: int, url: str, timeout_s: float) -> Engine:
    """Return the engine of this process; a child made by fork opens connections of its own."""
    # A child forked in the middle of these imports could never finish them.
    with not_while_forking():
        try:
            from trackrecord.store.database.engine import connect_store
            from trackrecord.store.database.migrate import migrate
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("trackrecord"):
                raise
            message = (
                f"this call reads the store, which needs {error.name}, which is not installed: "
                "pip install 'trackrecord[worker]'"
            )
            raise ExtraMissing(message) from None
    engine = connect_store(url, timeout_s=timeout_s)
    migrate(engine)
    return engine
