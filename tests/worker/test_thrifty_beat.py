"""Beat without workers: wake-ups do not pile up in the memory that outcomes need."""

import os
import subprocess
import time

import pytest

from trackrecord_worker.beat import QUEUE
from trackrecord_worker.daemon import beat_command


@pytest.mark.parametrize(("waiting", "grows"), [(0, True), (60, False)])
def test_beat_sends_no_wake_up_while_many_are_waiting(client, settings, waiting, grows):
    """It starts again as soon as somebody has taken them."""
    queue = f"{settings.redis_prefix}:celery:{QUEUE}"
    for _ in range(waiting):
        client.lpush(queue, "a wake-up that nobody takes")
    beat = subprocess.Popen(beat_command(settings), env={**os.environ, **settings.as_environment()})
    try:
        deadline = time.monotonic() + 30
        while not list(settings.home.glob("celerybeat-schedule*")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(2.5)
        assert (client.llen(queue) > waiting) == grows
        client.delete(queue)
        while client.llen(queue) == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        beat.terminate()
        assert beat.wait(20) == 0
