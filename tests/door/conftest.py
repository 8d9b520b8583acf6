"""A real front door in a process of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.door.running_door import Door
from trackrecord.settings.daemon_settings import HttpSettings
from trackrecord_capture.agents.door_address import socket_path


@pytest.fixture
def door_of(tmp_path: Path) -> Iterator[Callable[..., Door]]:
    """Starts front doors with settings of the test's own, ended after it."""
    started: list[Door] = []

    def start(*arguments: str, **http: object) -> Door:
        folder = tmp_path / f"door-{len(started)}"
        folder.mkdir()
        door = Door(folder, HttpSettings(**{"port": 0, **http}), *arguments)  # type: ignore[arg-type]
        started.append(door)
        return door

    yield start
    for door in started:
        door.end()


@pytest.fixture
def door(door_of: Callable[..., Door]) -> Door:
    """A front door as a user has it."""
    return door_of()


@pytest.fixture(scope="module")
def lasting_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """One front door for the tests of a module that leave it as it is."""
    with Door(tmp_path_factory.mktemp("door")) as running:
        # The socket opens after the port; a command that asks over it does not wait.
        running.until(socket_path(running.home).is_socket)
        yield running


@pytest.fixture
def emptied_door(lasting_door: Door) -> Door:
    """The lasting front door, as if it had taken nothing yet."""
    lasting_door.forget()
    return lasting_door


@pytest.fixture
def http(lasting_door: Door) -> Iterator[httpx.Client]:
    """A client of the lasting front door."""
    with lasting_door.client() as client:
        yield client
