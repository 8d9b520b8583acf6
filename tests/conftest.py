"""Fixtures that several stages need: real servers, and settings that touch nothing outside."""

import gc
import logging
import os
import re
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import redis
import structlog
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from sqlalchemy import Engine
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from trackrecord.settings.settings import ENV_PREFIX, Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

pytest_plugins = [
    "tests.support.compiled_statements",
    "tests.support.postgres",
    "tests.support.redis_binary",
    "tests.support.small_disk",
]

# A property has no deadline: a busy machine breaks any. And the first property of a fresh clone is
# slow to make its examples, because hypothesis builds its tables of Unicode then. The examples of a
# test share its home and its servers. What fails is printed with a line that reproduces it on
# another machine.
hypothesis_settings.register_profile(
    "any-machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    print_blob=True,
)
hypothesis_settings.load_profile("any-machine")

# Many tests start a `trackrecord up` at the same time, some before any fixture of a test runs: each
# takes a free port for HTTP.
_FREE_PORT = {"TRACKRECORD_HTTP__PORT": "0"}
os.environ.update(_FREE_PORT)


def pytest_configure() -> None:
    """Let what tests start heed Ctrl-C, also where a shell runs all of it in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# They do next to nothing for a minute: in one process, one after the other, while others work.
_WAITING = (
    "test_a_worker_that_starts_makes_room", "test_one_process_does_it_all_by_itself",
    "test_one_is_killed_and_one_is_frozen",
)  # fmt: skip
_WAITS = "tests that wait"
_SHARING = re.compile(r"scope=\"module\"|\bshared_in\(")


class Scheduling(LoadScopeScheduling):
    """Gives each test to a process that is free, and all tests of one long set-up to the same one.

    A long set-up is what a file's fixtures make for all of it, or a folder's (see
    `support/folder_scope.py`). All tests that wait are one scope, too, which begins first: else
    every process waits at the end.

    xdist's own groups are names of tests, which pytest 9.2 makes in another way.
    """

    def _split_scope(self, nodeid: str) -> str:
        if any(name in nodeid for name in _WAITING):
            return _WAITS
        file = nodeid.partition("::")[0]
        return _sharing_scope(self.config.rootpath / file) or nodeid

    def _assign_work_unit(self, node: WorkerController) -> None:
        # Those at the end wait for processes, those at the beginning calculate: half and half.
        if _WAITS in self.workqueue:
            self.workqueue.move_to_end(_WAITS, last=False)
        elif int(node.gateway.id.removeprefix("gw")) % 2:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


@cache
def _sharing_scope(file: Path) -> str | None:
    """Return the folder or the file whose tests have fixtures in common that are made once."""
    if any("shared_in(" in _text(file.with_name(name)) for name in ("conftest.py", file.name)):
        return str(file.parent)
    return str(file) if _SHARING.search(_text(file)) else None


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Let tests be given to processes by what they share."""
    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector what is collected: thousands of tests stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in list(os.environ):
        if name.startswith(ENV_PREFIX) and name not in _FREE_PORT:
            monkeypatch.delenv(name)
    nobody = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(nobody / "no-config"))
    # What a test publishes without a home of its own goes to nobody's, not to the developer's.
    monkeypatch.setenv("XDG_DATA_HOME", str(nobody / "no-data"))


@pytest.fixture(autouse=True)
def _no_logs_to_a_closed_stream(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A command that a test runs in this process sends logs to the standard error of that test.

    Nor is a logger remembered with that command's settings: later tests could not capture its logs.
    """
    configure = structlog.configure

    def configure_without_cache(**given: Any) -> None:
        configure(**{**given, "cache_logger_on_first_use": False})

    monkeypatch.setattr(structlog, "configure", configure_without_cache)
    yield
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(handler)


@pytest.fixture
def home() -> Iterator[Path]:
    """A short TRACKRECORD_HOME: the path of a Unix socket must fit into 103 bytes."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def redis_server(home: Path) -> Iterator[EmbeddedRedis]:
    """A real Redis server of this test's own, at the home's default socket."""
    with EmbeddedRedis(home / "redis", home / "redis.sock") as server:
        # Redis ends a read that waits in vain at its next look at the time: tests read a lot.
        with server.client() as client:
            client.config_set("hz", 100)
        yield server
        _check_rights(server)


def _check_rights(server: EmbeddedRedis) -> None:
    """Agents, workers and commands got along with the rights of the embedded server's own user."""
    if not server.is_answering():
        return
    with server.client() as client:
        lacked = {
            entry["object"]
            for entry in client.acl_log()
            if entry["username"] == "default" and entry["reason"] != "auth"
        }
    # How a client names its library; older servers do not know the command, and clients go on.
    assert lacked <= {"client|setinfo", "client"}


@pytest.fixture
def settings(home: Path) -> Settings:
    """Settings of a fresh home, as a new user has them."""
    return load_settings(home=home)


@pytest.fixture
def opened() -> Iterator[Callable[[str], Engine]]:
    """Opens stores as they are, and closes them at the end."""
    engines: list[Engine] = []

    def connect(url: str) -> Engine:
        engines.append(connect_store(url, timeout_s=20.0))
        return engines[-1]

    yield connect
    for engine in engines:
        engine.dispose()


@pytest.fixture
def fake_client() -> redis.Redis:
    """A client without a server, for what is written and read; see CONTRIBUTING.md."""
    from fakeredis import FakeRedis  # takes a second, and few runs need it

    return FakeRedis()


@pytest.fixture
def client(redis_server: EmbeddedRedis) -> Iterator[redis.Redis]:
    """A client of this test's Redis server."""
    with redis_server.client() as connected:
        yield connected
