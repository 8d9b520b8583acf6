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
def test_a_dead_embedded_redis_and_a_dead_beat_are_started_again(home):
    """Nothing that Redis had acknowledged is gone."""
    with (home / "log").open("wb") as log, Daemon(load_settings(home=home), log=log) as daemon:
        assert daemon.redis is not None
        with daemon.redis.client() as client:
            client.set("acknowledged", "yes")
        daemon.redis.process.kill()
        dead = daemon.pids()["beat"]
        os.kill(dead, signal.SIGKILL)
        until(lambda: _after_a_look(daemon) and daemon.pids()["beat"] != dead)
        with daemon.redis.client() as client:
            assert client.get("acknowledged") == b"yes"
