"""What `up` watches over: what ends unexpectedly is started again, with all that it held."""

import os
import signal
import time

import pytest

from trackrecord.settings import load_settings
from trackrecord_worker.daemon import Daemon


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
        deadline = time.monotonic() + 30
        while not daemon.redis.is_answering() or daemon.pids()["beat"] == dead:
            assert time.monotonic() < deadline
            daemon.watch(0.2)
        with daemon.redis.client() as client:
            assert client.get("acknowledged") == b"yes"
