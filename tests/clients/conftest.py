"""A trackrecord that is up for the real agents, and a workplace for each story."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.more_agents import MORE_AGENTS
from tests.clients.on_record import Trackrecord, up
from tests.clients.real_agents import AGENTS, Workplace, missing, variables_of
from tests.clients.stories import LAUNCHER, OWN_CHECK, TEST_FILE
from tests.support.processes import free_port

REPOSITORY = "https://git.example.com/acme/{}.git"


@pytest.fixture(scope="session", autouse=True)
def _agents_are_there() -> None:
    """Skip tests of agents that have not been fetched."""
    if missing():
        pytest.skip(f"{', '.join(missing())}: `make clients` fetches them")


@pytest.fixture(scope="session")
def port() -> int:
    """The port of the front door."""
    return free_port()


@pytest.fixture(scope="session")
def settings(port: int) -> dict[str, str]:
    """The settings of the person: another port, and nothing is waited for as long as usual."""
    return {
        "TRACKRECORD_HTTP__PORT": str(port),
        "TRACKRECORD_CAPTURE__CHECKS": json.dumps([OWN_CHECK]),
        "TRACKRECORD_HOOKS__CATCH_UP_S": "5",
        "TRACKRECORD_TRACES__IDLE_S": "3",
    }


@pytest.fixture(scope="session")
def person() -> Iterator[Path]:
    """The home folder of the person who works with all the agents."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        for agent in (*AGENTS.values(), *MORE_AGENTS.values()):
            agent.configure(Path(folder))
        _write_program(Path(folder) / ".local" / "bin" / LAUNCHER, "pytest -q")
        yield Path(folder)


@pytest.fixture(scope="session")
def live(person: Path, settings: dict[str, str]) -> Iterator[Trackrecord]:
    """A trackrecord that is up meanwhile, and installed in all the agents."""
    trackrecord = Trackrecord(person / "up", person, settings)
    with up(trackrecord, person / "up.log"):
        trackrecord("install", "all")
        yield trackrecord


@pytest.fixture
def later(home: Path, person: Path, settings: dict[str, str]) -> Trackrecord:
    """A trackrecord that is not up, and is asked to import what the agents left behind."""
    return Trackrecord(home, person, settings)


@pytest.fixture
def workplace(tmp_path: Path, person: Path) -> Callable[[str], Workplace]:
    """Makes a repository for an agent to work in."""

    def make(project: str) -> Workplace:
        folder = tmp_path / project
        folder.mkdir()
        (folder / "test_cart.py").write_text(TEST_FILE)
        _write_program(folder / "dev", "pytest -q")
        (folder / ".gitignore").write_text("__pycache__/\n.pytest_cache/\nrunning\n")
        for command in (
            ["init", "--quiet", "--initial-branch", "main"],
            ["add", "--all"],
            ["commit", "--quiet", "--message", "Begin"],
            ["remote", "add", "origin", REPOSITORY.format(project)],
        ):
            subprocess.run(["git", *command], cwd=folder, env=variables_of(person), check=True)
        return Workplace(person, folder)

    return make


def _write_program(path: Path, command: str) -> None:
    """Write a program that runs a command, whatever its arguments are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexec {command}\n")
    path.chmod(0o755)
