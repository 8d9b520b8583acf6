"""Servers that misbehave, and agents in processes of their own."""

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.processes import free_port
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_producers.publishing.publisher import Publisher

# The pause before another try, short enough for tests.
RETRY_AFTER_S = 0.1
BARE_INSTALL = Path(__file__).parent / "bare_install"


@pytest.fixture(autouse=True)
def _processes_have_what_is_installed_with_trackrecord(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no process of an agent find what only the tests' environment has and redis-py loads."""
    monkeypatch.setenv("PYTHONPATH", str(BARE_INSTALL), prepend=os.pathsep)


@pytest.fixture
def agent_settings(home: Path) -> Settings:
    """Settings of an agent that soon looks again whether Redis is back."""
    return load_settings(home=home, retry_after_s=RETRY_AFTER_S)


@pytest.fixture
def publisher_of() -> Iterator[Callable[[Settings], Publisher]]:
    """Makes publishers that are closed after the test."""
    made: list[Publisher] = []

    def make(settings: Settings) -> Publisher:
        publisher = Publisher(lambda: settings)
        made.append(publisher)
        return publisher

    yield make
    for publisher in made:
        publisher.close()


@pytest.fixture
def hung_port() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        yield listening.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    """A port that refuses connections."""
    return free_port()


@pytest.fixture
def agent(home: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python code as an agent's process, whose home is this test's."""
    outside = {
        # Python 3.12 says this of each fork beside a thread. That a fork is safe beside the writing
        # thread is what tests prove.
        "PYTHONWARNINGS": "ignore:This process:DeprecationWarning",
        # A busy machine must not look like a server that hangs.
        "TRACKRECORD_REDIS_CONNECT_TIMEOUT_S": "20",
        "TRACKRECORD_REDIS_TIMEOUT_S": "20",
    }

    def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, **outside, "TRACKRECORD_HOME": str(home), **environment},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    return run


@pytest.fixture
def agent_says(agent) -> Callable[[Settings, str], list[str]]:
    """Runs Python code as an agent's process with settings, where any warning is an error."""

    def run(settings: Settings, program: str) -> list[str]:
        done = agent(program, PYTHONWARNINGS="error", **settings.as_environment())
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run
