"""Alive when it is alive: after an idle minute, with a stopped child; and dead when it is dead."""

import contextlib
import os
import signal
import socket
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
import redis

from tests.worker.working import (
    body,
    command_line,
    process,
    publish,
    recorded_ids,
    run_python,
    until,
)
from trackrecord.redis.client import agent_client
from trackrecord.redis.signs_of_life import LIFETIME_S, SignOfLife, living, living_on_host
from trackrecord.resources.operation.flow import read_flow
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord_worker.up.daemon import Daemon, beat_command, solo_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis
from trackrecord_worker.up.server_binary import find_servers

IDLE_S = 61.0
SERVERS = sorted({server.path.resolve() for server in find_servers()})


def says_that_it_learns(settings: Settings) -> bool:
    """Return whether it does, by `status` and to the health check, which must agree."""
    said = set()

    def agree() -> bool:
        status = command_line(settings, "status")
        health = run_python(settings, "-m", "trackrecord_worker.checks.health", "worker")
        assert (status.returncode == 0) == ("Outcomes are being learnt" in status.stdout), status
        said.clear()
        said.update({status.returncode, health.returncode})
        return len(said) == 1

    until(agree)  # it may live or die between the two questions
    return said == {0}


class Idle(NamedTuple):
    """Workers that have done nothing for a minute.

    Attributes:
        ups: a `trackrecord up` on each Redis server that is installed.
        pool: the settings of a worker with a pool of two processes, and of beat.
        worker: that worker.
    """

    ups: list[Daemon]
    pool: Settings
    worker: psutil.Process


@pytest.fixture
def quick(home: Path) -> Settings:
    """Settings with short waits for a dead worker's outcomes."""
    return load_settings(home=home, claim_idle_s=1.0)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Idle]:
    """All that an idle minute is tested with: it is the same minute for all."""
    with contextlib.ExitStack() as stack:
        ups = [stack.enter_context(_up_on(server, tmp_path_factory)) for server in SERVERS]
        settings = stack.enter_context(_settings())
        log = tmp_path_factory.mktemp("pool") / "log"
        stack.enter_context(EmbeddedRedis(settings.home / "redis", settings.embedded_redis_socket))
        worker = stack.enter_context(process(worker_command(settings), settings, log))
        stack.enter_context(process(beat_command(settings), settings, log))
        with agent_client(settings) as client:
            until(lambda: living_on_host(client, settings.keys))
        time.sleep(IDLE_S)
        yield Idle(ups, settings, psutil.Process(worker.pid))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGCONT)


@contextlib.contextmanager
def _settings() -> Iterator[Settings]:
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        yield load_settings(home=Path(folder), claim_idle_s=1.0)


@contextlib.contextmanager
def _up_on(server: Path, folders: pytest.TempPathFactory) -> Iterator[Daemon]:
    """Everything, with this Redis server in front of the others on the PATH; it has learnt."""
    folder = folders.mktemp("up")
    for name in ("redis-server", "valkey-server"):
        (folder / name).symlink_to(server)
    with _settings() as settings, (folder / "log").open("wb") as log:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
            daemon = Daemon(settings, log=log)
            daemon.start()
        try:
            with agent_client(settings) as client:
                publish(client, settings, body(1))
                until(lambda: client.xlen(settings.keys.outcomes) == 0)
            yield daemon
        finally:
            daemon.stop()


def until_it_is(settings: Settings, *, alive: bool) -> None:
    """Wait until a worker gives signs of life, or gives none; commands say the same then."""
    with agent_client(settings) as client:
        until(lambda: bool(living_on_host(client, settings.keys)) == alive)
    until(lambda: says_that_it_learns(settings) == alive)


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_an_idle_minute_of_up(idle, tmp_path):
    """On each server it learns after it; stopped, it is said to be dead. `restore` is refused."""
    homes = [daemon.settings for daemon in idle.ups if isinstance(daemon.settings, Settings)]
    assert len(homes) == len(SERVERS)
    for settings in homes:
        assert says_that_it_learns(settings)
        with agent_client(settings) as client:
            assert read_flow(client, settings.keys).workers == 1
    settings, backup = homes[0], str(tmp_path / "backup.db")
    assert command_line(settings, "backup", backup).returncode == 0
    assert command_line(settings, "restore", backup, "--yes").returncode != 0
    for number, alive in ((signal.SIGSTOP, False), (signal.SIGCONT, True)):
        for daemon in idle.ups:
            os.kill(daemon.pids()["worker"], number)
        for settings in homes:
            until_it_is(settings, alive=alive)


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_an_idle_minute_of_a_pool(idle):
    """It lives as well; with one child stopped the others go on; all stopped, it is dead."""
    settings = idle.pool
    with agent_client(settings) as client:
        assert says_that_it_learns(settings)
        stopped, *others = idle.worker.children()
        assert others
        stopped.suspend()
        time.sleep(LIFETIME_S + 10)
        assert says_that_it_learns(settings)
        engine = connect_store(settings.effective_database_url)
        publish(client, settings, body(1))
        until(lambda: "o1" in recorded_ids(engine))
        engine.dispose()
        stopped.resume()
    os.killpg(idle.worker.pid, signal.SIGSTOP)
    until_it_is(settings, alive=False)


@pytest.mark.faults
def test_remote_control_answers_during_a_long_job(settings, client, tmp_path):
    """`celery inspect ping` does, in the one process of `up`, while a batch waits for the store."""
    log = tmp_path / "log"
    with process(solo_command(settings), settings, log):
        until(lambda: living_on_host(client, settings.keys))
        file = settings.effective_database_url.removeprefix("sqlite:///")
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            publish(client, settings, body(1))
            until(lambda: read_flow(client, settings.keys).pending)
            # Whoever names the worker does not wait for others to answer, too.
            worker = f"celery@{socket.gethostname()}"
            asking = ("inspect", "ping", "--timeout", "30", "--destination", worker)
            asked = run_python(settings, "-m", "celery", "--app", "trackrecord_worker.app", *asking)
            assert asked.returncode == 0, asked.stderr
            assert "pong" in asked.stdout
        until(lambda: not client.xlen(settings.keys.outcomes))


def test_a_sign_is_a_sign_for_a_while(settings, client):
    """It expires, and one from the future, before the clock was set back, is none."""
    SignOfLife(client, settings.keys).give(drains=True)
    assert living_on_host(client, settings.keys) == (os.getpid(),)
    assert 0 < client.ttl(settings.keys.workers) <= LIFETIME_S
    client.zadd(settings.keys.workers, {"other-1-x": time.time() + 3600, "other-2-x": 1.0})
    SignOfLife(client, settings.keys).give(drains=True)
    assert living_on_host(client, settings.keys) == (os.getpid(),)
    assert len(living(client.zrange(settings.keys.workers, 0, -1))) == 1


def test_who_does_not_drain_lives_while_somebody_drains(worker):
    """A worker that caches and never learns is not alive."""
    keys = worker.settings.keys
    worker.sign_of_life.give(drains=False)
    assert living_on_host(worker.redis, keys) == ()
    worker.redis.zadd(keys.workers, {"-": int(time.time())})
    worker.sign_of_life.withdraw()  # the last one was given a moment ago
    worker.sign_of_life.give(drains=False)
    assert living_on_host(worker.redis, keys) == (os.getpid(),)


def test_a_full_redis_takes_signs(settings, redis_server):
    """Workers make room there."""
    with redis_server.client() as admin:
        admin.config_set("maxmemory", 1)
        try:
            with pytest.raises(redis.OutOfMemoryError):
                admin.set("k", "v")
            SignOfLife(admin, settings.keys).give(drains=True)
            assert living_on_host(admin, settings.keys) == (os.getpid(),)
        finally:
            admin.config_set("maxmemory", 0)
