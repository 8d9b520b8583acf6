"""`trackrecord mcp` as a process: what it prints, what it imports, and how it ends."""

import json
import os
import signal
import subprocess
import sys

import pytest

_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tester", "version": "1"},
}


class Server:
    """A `trackrecord mcp`, spoken to line by line."""

    def __init__(self, home, *arguments, **variables):
        self.home = home
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trackrecord_cli", "mcp", *arguments],
            env={**os.environ, "TRACKRECORD_HOME": str(home), **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._asked = 0

    def send(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self._asked += 1
        asked = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        self.send(json.dumps(asked).encode())
        answer = self.read()
        assert answer["id"] == self._asked
        return answer["result"]

    def greet(self):
        """Shake hands, as a client of an old version does."""
        hello = self.ask("initialize", **_HELLO)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return hello

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)

    def end(self, number=None):
        """End it by a signal, or by the end of its stdin; return what else it printed."""
        if number is not None:
            self.process.send_signal(number)
            # Its stdin stays open: a client that waits does not keep it.
            self.process.wait(200)
        return self.process.communicate(timeout=200)


@pytest.fixture
def server_of(home):
    """Starts servers that are ended after the test."""
    started = []

    def start(*arguments, **variables):
        started.append(Server(home, *arguments, **variables))
        return started[-1]

    yield start
    for server in started:
        server.process.kill()
        server.process.communicate()


def spooled(home):
    return "".join(path.read_text() for path in (home / "spool").rglob("*") if path.is_file())


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_and_nothing_that_was_reported_is_lost(server_of, home, number):
    """With its stdin or by a signal; without a Redis, reports are in the spool then."""
    server = server_of()
    server.greet()
    said = server.call("report_outcome", task_id="build-4711", success=True)
    assert not said["isError"]
    assert "spool" in said["content"][0]["text"]
    stored = server.call("remember", text="The cart rounds to whole cents")
    assert not stored["isError"]
    printed, complained = server.end(number)
    assert (server.process.returncode, printed) == (0, b"")
    (line,) = complained.splitlines()
    assert line.startswith(b"Redis cannot be reached")
    assert "build-4711" in spooled(home)
    assert "whole cents" in spooled(home)


def test_it_says_in_one_line_that_redis_is_away(server_of):
    """An agent goes on without what is known."""
    server = server_of()
    server.greet()
    answer = server.call("recall", task="fix the build")
    assert answer["isError"]
    (line,) = answer["content"][0]["text"].splitlines()
    assert "redis is unavailable" in line
    assert "go on without it" in line


def test_settings_that_are_wrong_are_told_to_the_agent(server_of):
    """In one line, with each call of a tool: the server itself starts."""
    server = server_of(TRACKRECORD_QUEUE_MAX="many")
    server.greet()
    answer = server.call("remember", text="The cart rounds to whole cents")
    assert answer["isError"]
    (line,) = answer["content"][0]["text"].splitlines()
    assert "queue_max" in line


def test_standard_output_is_the_protocol_and_nothing_else(server_of):
    """Whatever the client writes: what is not a request, and lines without an end."""
    server = server_of()
    server.greet()
    for line in (b"", b"not json", b"[]", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"x" * 3_000_000):
        server.send(line)
    answer = server.call("no_such_tool")
    assert answer["isError"]
    assert "the tools are recall, remember, report_outcome" in answer["content"][0]["text"]
    printed, _ = server.end()
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in printed.splitlines())
    assert server.process.returncode == 0


def test_it_starts_with_what_it_needs_alone(server_of):
    """What the tools need is imported with the first call of one."""
    server = server_of(PYTHONPROFILEIMPORTTIME="1")
    server.greet()
    assert len(server.ask("tools/list")["tools"]) == 3
    _, imported = server.end()
    names = {line.rpartition(b"|")[2].strip().decode() for line in imported.splitlines()}
    assert "mcp.server.stdio" in names
    unwanted = {
        "alembic", "celery", "httpx", "jinja2", "pydantic_settings", "redis", "rich", "sqlalchemy",
        "structlog", "trackrecord.settings.agent_settings", "trackrecord.settings.daemon_settings",
        "trackrecord.prompt.reading.client", "trackrecord.store", "trackrecord_capture",
    }  # fmt: skip
    assert not names & unwanted
