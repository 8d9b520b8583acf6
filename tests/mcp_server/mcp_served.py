"""A trackrecord that is up, and clients of the SDK that use it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.own_token import of_its_user
from trackrecord.errors import UnknownProject
from trackrecord.resources.reports.runs import read_runs
from trackrecord.store.database.engine import connect_store, reading

if TYPE_CHECKING:
    from mcp import Client

_PATIENCE_S = 120.0


class Served(NamedTuple):
    """A trackrecord that is up.

    Attributes:
        home: its TRACKRECORD_HOME.
        address: that of its front door.
    """

    home: Path
    address: str

    @property
    def url(self) -> str:
        """The same with the credential of its user."""
        return of_its_user(self.address, self.home)

    def environment(self, **further: str) -> dict[str, str]:
        """Return the variables of a process that uses it."""
        return {**os.environ, "TRACKRECORD_HOME": str(self.home), **further}

    def command(self, *arguments: str) -> str:
        """Run a command to its end; return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "trackrecord_cli", *arguments],
            env=self.environment(),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=_PATIENCE_S,
        )
        return done.stdout

    def over_http(self, mode: str = "auto", **query: str) -> Client:
        """Return a client of `/mcp`."""
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        return _client_of(f"{self.url}/mcp?{asked}", mode)

    def over_stdio(self, *arguments: str, mode: str = "auto", **further: str) -> Client:
        """Return a client that starts `trackrecord mcp`."""
        from mcp import StdioServerParameters

        command = ["-m", "trackrecord_cli", "mcp", *arguments]
        started = StdioServerParameters(
            command=sys.executable, args=command, env=self.environment(**further)
        )
        return _client_of(started, mode)

    def runs(self, project: str) -> list[dict[str, Any]]:
        """Return the runs of a project, as `trackrecord runs list --json` shows them."""
        engine = connect_store(f"sqlite:///{self.home / 'trackrecord.db'}", timeout_s=_PATIENCE_S)
        try:
            with reading(engine) as connection:
                return [run.to_document() for run in read_runs(connection, project)]
        except UnknownProject:
            return []
        finally:
            engine.dispose()

    def exposures(self, task_id: str) -> int:
        """Return how many answers are on record as exposures of a task."""
        question = "SELECT count(*) FROM exposures WHERE task_id = ?"
        path = self.home / "trackrecord.db"
        with closing(sqlite3.connect(path, timeout=_PATIENCE_S)) as database:
            (count,) = database.execute(question, (task_id,)).fetchone()
        return int(count)


def _client_of(server: Any, mode: str) -> Client:
    # The SDK takes half a second to import, and most of pytest's processes collect these tests
    # without running one.
    from mcp import Client
    from mcp.types import Implementation

    return Client(server, mode=mode, client_info=Implementation(name="tester", version="1"))


def until(happened: Callable[[], object]) -> None:
    """Wait until something has happened."""
    deadline = time.monotonic() + _PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
