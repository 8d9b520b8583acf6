"""`trackrecord mcp` as a process: what it prints, what it imports, and how it ends."""

import json
import signal
import sys
from contextlib import ExitStack

import pytest

from tests.mcp_server.mcp_served import started


@pytest.fixture
def server_of(home):
    """Starts servers that are ended after the test."""
    command = [sys.executable, "-m", "trackrecord_cli", "mcp"]
    with ExitStack() as running:
        yield lambda **variables: running.enter_context(
            started(command, TRACKRECORD_HOME=str(home), **variables)
        )


def spooled(home):
    return "".join(path.read_text() for path in (home / "spool").rglob("*") if path.is_file())


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly_and_nothing_that_was_reported_is_lost(server_of, home, number):
    """With its stdin or by a signal; without a Redis, reports are in the spool then."""
    server = server_of()
    server.greet()
    said = ""
    while "spool" not in said:  # a slow machine finds out later that there is no Redis
        said, is_error = server.call("report_outcome", task_id="build-4711", success=True)
        assert not is_error
    assert not server.call("remember", text="The cart rounds to whole cents")[1]
    printed, complained = server.end(number)
    assert (server.process.returncode, printed) == (0, b"")
    (line,) = complained.splitlines()
    assert line.startswith(b"Redis cannot be reached")
    assert "build-4711" in spooled(home)
    assert "whole cents" in spooled(home)


def test_settings_that_are_wrong_are_told_to_the_agent(server_of):
    """In one line, with each call of a tool: the server itself starts."""
    server = server_of(TRACKRECORD_QUEUE_MAX="many")
    server.greet()
    said, is_error = server.call("remember", text="The cart rounds to whole cents")
    assert is_error
    (line,) = said.splitlines()
    assert "queue_max" in line


def test_standard_output_is_the_protocol_and_nothing_else(server_of):
    """Whatever the client writes: what is not a request, and lines without an end.

    That Redis is away is an answer, too: an agent goes on without what is known.
    """
    server = server_of()
    server.greet()
    for line in (b"", b"not json", b"[]", b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"x" * 3_000_000):
        server.send(line)
    said, is_error = server.call("no_such_tool")
    assert is_error
    assert "the tools are recall, remember, report_outcome" in said
    said, is_error = server.call("recall", task="fix the build")
    assert is_error
    (line,) = said.splitlines()
    assert "redis is unavailable" in line
    assert "go on without it" in line
    printed, _ = server.end()
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in printed.splitlines())
    assert server.process.returncode == 0


def test_it_starts_with_what_it_needs_alone(server_of):
    """What the tools need is imported with the first call of one."""
    server = server_of(PYTHONPROFILEIMPORTTIME="1")
    assert len(server.greet()) == 3
    _, imported = server.end()
    names = {line.rpartition(b"|")[2].strip().decode() for line in imported.splitlines()}
    assert "mcp.server.stdio" in names
    unwanted = {
        "alembic", "celery", "httpx", "jinja2", "pydantic_settings", "redis", "rich", "sqlalchemy",
        "structlog", "trackrecord.settings.agent_settings", "trackrecord.settings.daemon_settings",
        "trackrecord.prompt.reading.client", "trackrecord.store", "trackrecord_capture",
    }  # fmt: skip
    assert not names & unwanted
