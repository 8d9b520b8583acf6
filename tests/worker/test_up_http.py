"""The HTTP server of `trackrecord up`: started with it, watched, and never in its way."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.own_token import of_its_user
from tests.worker.working import until
from trackrecord_capture.agents.door_address import ask_door

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

PATIENCE_S = 120.0
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is refused


class Running:
    """A `trackrecord` command in a process of its own.

    Args:
        home: its home.
        arguments: of its command line.
        variables: of its environment.
    """

    def __init__(self, home: Path, *arguments: str, **variables: str) -> None:
        self.home = home / "home"
        self.log = home / f"{arguments[0]}-{time.monotonic_ns()}.log"
        with self.log.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trackrecord_cli", *arguments],
                env={**os.environ, "TRACKRECORD_HOME": str(self.home), **variables},
                stdout=file,
                stderr=file,
            )

    @property
    def said(self) -> str:
        """All that it has said so far."""
        return self.log.read_text(errors="replace")

    def until_said(self, text: str) -> None:
        """Wait until it has said something."""
        until(lambda: text in self.said or self.process.poll() is not None, PATIENCE_S)
        assert text in self.said

    def url(self) -> str:
        """The URL of its HTTP server, with the credential of its user."""
        self.until_said("HTTP: http://")
        return of_its_user(self.said.partition("HTTP: ")[2].splitlines()[0], self.home)

    def door(self) -> psutil.Process:
        """The process of its HTTP server."""
        (found,) = [
            child
            for child in psutil.Process(self.process.pid).children()
            if "trackrecord_door" in child.cmdline()
        ]
        return found

    def stop(self) -> int:
        """End it in order; return its status."""
        self.process.terminate()
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def run(home: Path) -> Iterator[type[Running]]:
    """Starts commands, which are ended after the test."""
    started: list[Running] = []

    class OfThisTest(Running):
        def __init__(self, *arguments: str, **variables: str) -> None:
            super().__init__(home, *arguments, **variables)
            started.append(self)

    yield OfThisTest
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=PATIENCE_S).json() == {"status": "ok"}
    except httpx.TransportError:
        return False


def test_up_serves_http_and_revives_it(run: type[Running]) -> None:
    """It says where; killed, the server comes back at the same address; with `up` it ends."""
    up = run("up")
    url = up.url()
    assert answers(url)
    first = up.door()
    first.kill()
    # The socket is open all the time: this request waits for the next server.
    assert answers(url)
    second = up.door()
    assert second.pid != first.pid
    assert "child_ended" in up.said
    assert up.stop() == 0
    assert not second.is_running()
    assert not answers(url)


def test_a_taken_port_is_said_in_one_line_and_hooks_are_answered(run: type[Running]) -> None:
    """Only what needs a port has none; `doctor` and `open` name the port and the setting."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        up = run("up", TRACKRECORD_HTTP__PORT=str(port))
        up.until_said("page and traces")
        (line,) = [line for line in up.said.splitlines() if "HTTP" in line]
        assert line == (
            f"trackrecord: port {port} of 127.0.0.1 cannot be used for HTTP (Address already in "
            "use): set another TRACKRECORD_HTTP__PORT or TRACKRECORD_HTTP__HOST; agents' hooks are "
            "answered, the page and traces are not"
        )
        assert "trackrecord is up" in up.said
        assert ask_door(up.home, "GET", "/health")[0] == 200
        for command, status in (("doctor", 1), ("open", 3)):
            asked = run(command, TRACKRECORD_HTTP__PORT=str(port))
            assert asked.process.wait(PATIENCE_S) == status
            assert re.search(rf"port.* {port} .*taken.*TRACKRECORD_HTTP__PORT", asked.said)
        assert up.stop() == 0


def test_without_http(run: type[Running]) -> None:
    """`--no-http` leaves it out, and needs no token for an address that it does not use."""
    up = run("up", "--no-http", TRACKRECORD_HTTP__HOST=EVERYWHERE)
    up.until_said("Redis: ")
    assert up.stop() == 0
    assert "HTTP" not in up.said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_alone(run: type[Running], number: signal.Signals) -> None:
    """Without Redis it serves as well; it ends in order with status 0."""
    serving = run("serve")
    assert answers(serving.url())
    serving.process.send_signal(number)
    assert serving.process.wait(PATIENCE_S) == 0
    assert "Traceback" not in serving.said
