"""Beat without workers: wake-ups do not pile up in the memory that outcomes need."""

import os
import subprocess
import time

from tests.worker.working import until
from trackrecord_worker.job_table import DRAIN
from trackrecord_worker.up.daemon import beat_command


def test_beat_sends_no_wake_up_while_one_of_its_kind_is_waiting(client, settings):
    """It sends the next one as soon as somebody has taken it; other tasks do not hold it up."""
    queues = f"{settings.redis_prefix}:celery:trackrecord."
    queue = f"{settings.redis_prefix}:celery:{DRAIN}"
    for _ in range(60):
        client.lpush(f"{queues}refresh", "a wake-up that nobody takes")
    beat = subprocess.Popen(beat_command(settings), env={**os.environ, **settings.as_environment()})
    try:
        until(lambda: client.llen(queue) == 1)
        time.sleep(2.5)  # more than one wake-up would have come in that time
        assert client.llen(queue) == 1
        assert client.llen(f"{queues}refresh") <= 60
        client.delete(queue)
        until(lambda: client.llen(queue) == 1)
    finally:
        beat.terminate()
        assert beat.wait(200) == 0
