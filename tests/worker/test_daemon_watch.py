"""What `up` watches over: what ends unexpectedly is started again, with all that it held."""

import os
import signal

import pytest

from tests.worker.working import until
from trackrecord.settings.settings import load_settings
from trackrecord_worker.up.daemon import Daemon


def _after_a_look(daemon: Daemon) -> bool:
    daemon.watch(0.2)
    return daemon.redis is not None and daemon.redis.is_answering()


@pytest.mark.faults
def test_a_dead_embedded_redis_and_a_dead_worker_are_started_again(home):
    """Nothing that Redis had acknowledged is gone."""
    with (home / "log").open("wb") as log, Daemon(load_settings(home=home), log=log) as daemon:
        assert daemon.redis is not None
        with daemon.redis.client() as client:
            client.set("acknowledged", "yes")
        # For a while it cannot be started.
        files = {each: each.read_bytes() for each in daemon.redis.folder.rglob("*.aof")}
        for each, content in files.items():
            each.write_bytes(b"nonsense" + content)
        daemon.redis.process.kill()
        daemon.redis.process.wait()
        daemon.watch(0.1)
        assert not daemon.redis.is_answering()
        for each, content in files.items():
            each.write_bytes(content)
        dead = daemon.pids()["worker"]
        os.kill(dead, signal.SIGKILL)
        until(lambda: _after_a_look(daemon) and daemon.pids()["worker"] != dead)
        with daemon.redis.client() as client:
            assert client.get("acknowledged") == b"yes"


def test_a_redis_that_dies_while_up_starts_is_started_again(home, monkeypatch):
    """Before the servers are checked; one that keeps ending is said to do so."""
    daemon = Daemon(load_settings(home=home))
    server, lives = daemon.redis, []
    start = server.start

    def start_and_die() -> None:
        start()
        lives.append(1)
        if len(lives) == 1:
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()

    monkeypatch.setattr(server, "start", start_and_die)
    with daemon:
        assert server.is_answering()
        assert len(lives) == 2
