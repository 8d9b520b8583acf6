"""Errors of a task in flight outlive whoever recorded them, and the server that keeps them."""

import os
import signal
import subprocess
import sys

from trackrecord.inflight.store import InFlightStore
from trackrecord_worker.up.embedded_redis import EmbeddedRedis


def test_what_was_recorded_survives_the_agent_and_the_server(home, settings):
    """Both are killed right after the call returned; nothing is lost and nothing is doubled."""
    code = (
        "import os, signal, trackrecord\n"
        "for n in range(20):\n"
        "    trackrecord.record_error('t', 'timeout', str(n), wait=20)\n"
        "print('recorded', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with EmbeddedRedis(home / "redis", home / "redis.sock") as server, server.client() as client:
        killed = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TRACKRECORD_HOME": str(home), "TRACKRECORD_REDIS_TIMEOUT_S": "20"},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "recorded\n")
        os.kill(client.info("server")["process_id"], signal.SIGKILL)
    with EmbeddedRedis(home / "redis", home / "redis.sock") as server, server.client() as client:
        task = InFlightStore(client, settings.keys, "default", settings.errors).read("t")
    assert [error.message for error in task.errors] == [str(n) for n in range(20)]
    assert task.stats.total == 20
