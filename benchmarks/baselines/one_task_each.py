"""The usual way: one Celery message per outcome, to a worker that does nothing with it."""

import sys
import time

import redis

from benchmarks.harness.servers import child_process, wait_until
from benchmarks.workloads.workload import Planted, bodies
from trackrecord.settings.settings import Settings
from trackrecord_worker.app import broker_of

from .idle_tasks import app

_QUEUE = "celery"
_UNACKNOWLEDGED = "unacked"
_TIMEOUT_S = 120.0


def tasks_per_second(settings: Settings, client: redis.Redis, count: int) -> float:
    """Return how many outcomes a second one worker process handles from a backlog."""
    broker, _ = broker_of(settings)
    app.conf.update(broker_url=broker)
    with app.connection_for_write() as connection:
        for body in bodies(count, seed=3, planted=Planted()):
            app.send_task("nothing", (body.decode(),), connection=connection)
    command = [
        sys.executable, "-m", "celery", "--app", "benchmarks.baselines.idle_tasks",
        "--broker", broker, "--quiet", "worker", "--concurrency", "1",
        "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "warning",
    ]  # fmt: skip

    def left() -> int:
        return int(client.llen(_QUEUE)) + int(client.hlen(_UNACKNOWLEDGED))

    with child_process(command, settings, log="idle_tasks.log"):
        wait_until(lambda: left() < count, what="first task", timeout_s=_TIMEOUT_S)
        started, done_before = time.perf_counter(), count - left()
        ended = wait_until(lambda: left() == 0, what="all tasks", timeout_s=_TIMEOUT_S)
    return (count - done_before) / (ended - started)
