"""Beat without workers, whose wake-ups do not pile up in Redis, and without Redis."""

import os
import subprocess
import threading
import time

import pytest
import structlog
from celery import Celery

from tests.worker.working import until
from trackrecord_worker.celery_steps import beat
from trackrecord_worker.job_table import DRAIN
from trackrecord_worker.up.daemon import beat_command


def test_beat_sends_no_wake_up_while_one_of_its_kind_is_waiting(client, settings):
    """It sends the next one as soon as somebody has taken it; other tasks do not hold it up."""
    queues = f"{settings.redis_prefix}:celery:trackrecord."
    queue = f"{settings.redis_prefix}:celery:{DRAIN}"
    for _ in range(60):
        client.lpush(f"{queues}refresh", "a wake-up that nobody takes")
    process = subprocess.Popen(
        beat_command(settings), env={**os.environ, **settings.as_environment()}
    )
    try:
        until(lambda: client.llen(queue) == 1)
        time.sleep(2.5)  # more than one wake-up would have come in that time
        assert client.llen(queue) == 1
        assert client.llen(f"{queues}refresh") <= 60
        client.delete(queue)
        until(lambda: client.llen(queue) == 1)
    finally:
        process.terminate()
        assert process.wait(200) == 0


@pytest.fixture
def app(tmp_path):
    """An app whose Redis is away."""
    app = Celery(broker=f"redis+socket://{tmp_path}/none.sock", set_as_current=False)
    app.conf.beat_schedule = {"each": {"task": "planted", "schedule": 0.01}}
    app.conf.beat_scheduler = beat.SteadyScheduler
    app.conf.beat_schedule_filename = str(tmp_path / "clock")
    return app


def test_who_stops_it_does_not_wait_for_redis(app, monkeypatch):
    """It tries to connect with pauses that grow, and has nothing to send."""
    monkeypatch.setattr(beat, "_LONGEST_SENDING_S", 0.01)
    tries, over = threading.Event(), threading.Event()
    monkeypatch.setattr(
        beat.SteadyScheduler, "tick", lambda _self: tries.set() or over.wait() or 0.0
    )
    thread = beat.BeatThread(app)
    thread.start()
    assert tries.wait(200)
    thread.stop()
    assert thread.is_alive()
    over.set()
    thread.join()


def test_a_wake_up_that_redis_misses_is_one_line(app):
    """Without a traceback of Celery's; any other error keeps its own."""
    scheduler = beat.SteadyScheduler(app, lazy=True)
    entry = scheduler.Entry(name="each", task="planted", schedule=0.01, app=app)
    with structlog.testing.capture_logs() as lines:
        assert scheduler.apply_async(entry, producer=None, retry=False) is None
    assert [line["event"] for line in lines] == ["wake_up_not_sent"]
