"""A trackrecord that is up, and clients of the SDK that use it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil

from tests.support.own_token import of_its_user
from tests.support.runs_on_record import runs_on_record

if TYPE_CHECKING:
    from mcp import Client

_PATIENCE_S = 120.0
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tester", "version": "1"},
}


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
            [sys.executable, "-m", "trackrecord_cli", *arguments], env=self.environment(),
            stdout=subprocess.PIPE, text=True, check=True, timeout=_PATIENCE_S,
        )  # fmt: skip
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
        return runs_on_record(self.home, project)

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


class Server:
    """A server of MCP in a process of its own, spoken to line by line."""

    def __init__(self, command: list[str], folder: Path | None = None, **variables: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **variables}, stdin=pipe, stdout=pipe,
            stderr=pipe,
        )  # fmt: skip
        self._asked = 0

    def send(self, line: bytes) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a request: with a result, or an error."""
        assert self.process.stdout is not None
        self._asked += 1
        asked = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        self.send(json.dumps(asked).encode())
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert answer["id"] == self._asked
        return answer

    def greet(self) -> list[dict[str, Any]]:
        """Shake hands, as a client of an old version does; return the tools."""
        hello = self.ask("initialize", **HELLO)["result"]
        assert hello["serverInfo"]["name"] == "trackrecord"
        assert "what earlier runs of agents in this project have shown" in hello["instructions"]
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        tools: list[dict[str, Any]] = self.ask("tools/list")["result"]["tools"]
        return tools

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """Return what a tool says, and whether that is an error."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result["content"][0]["text"], result["isError"]

    def end(self, number: int | None = None) -> tuple[bytes, bytes]:
        """End it by a signal, or by the end of its stdin; return what else it printed."""
        if number is not None:
            self.process.send_signal(number)
            # Its stdin stays open: a client that waits does not keep it.
            self.process.wait(200)
        return self.process.communicate(timeout=200)

    def processor_s(self) -> float:
        """Return the processor time that it has taken."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


@contextmanager
def started(command: list[str], folder: Path | None = None, **variables: str) -> Iterator[Server]:
    """A server that is ended with the block."""
    if folder is not None:
        folder.mkdir(exist_ok=True)
    server = Server(command, folder, **variables)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()
