"""Beat without workers: wake-ups do not pile up in the memory that outcomes need."""

import os
import subprocess
import time

import pytest
from working import until

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
        until(lambda: list(settings.home.glob("celerybeat-schedule*")))
        if grows:
            until(lambda: client.llen(queue) > waiting)
        else:
            time.sleep(2.5)  # more than one wake-up would have come in that time
            assert client.llen(queue) == waiting
        client.delete(queue)
        until(lambda: client.llen(queue) > 0)
    finally:
        beat.terminate()
        assert beat.wait(20) == 0
