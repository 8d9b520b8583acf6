"""End to end: published → committed with all statistics → acknowledged, by one worker process."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
import redis

from benchmarks.baselines.bare_loop import drain_barely
from benchmarks.baselines.one_task_each import tasks_per_second
from benchmarks.harness.figures import Baseline, Figure, Measured, at_least
from benchmarks.harness.producing import producer
from benchmarks.harness.recorded import check_recorded
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import (
    bench_settings,
    child_process,
    new_postgres_database,
    postgres_server,
    running_redis,
    running_worker,
    wait_until,
)
from benchmarks.harness.waking import waking
from benchmarks.workloads.workload import Planted
from trackrecord.settings.settings import Settings
from trackrecord_worker.up.daemon import beat_command

UNIT = "outcomes/s"
_WARM_UP = 2_000
_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class _Rates:
    """Outcomes a second.

    Attributes:
        published: by one producer, while nothing else runs.
        from_backlog: from the first wake-up until the stream is empty.
        at_once: from the first write until the stream is empty, with beat as in production.
        bare: from a backlog, by a loop that learns nothing.
        cpu_us: processor time of the worker for each outcome of the backlog, in microseconds.
    """

    published: float
    from_backlog: float
    at_once: float
    bare: float
    cpu_us: float


def measure(scale: Scale) -> Measured:
    """Measure both databases, one after the other."""
    one_task_each = _one_task_each(scale)
    on_sqlite = _rates(scale, None)
    with postgres_server() as server:
        on_postgresql = _rates(scale, new_postgres_database(server))
    return Measured(
        f"{scale.outcomes:,} outcomes of about 700 bytes in 3 projects, half with tool calls, "
        "half mentioning strategies; 1 worker process; every sum checked afterwards",
        (
            *_figures("SQLite", on_sqlite, 20_000, one_task_each),
            *_figures("PostgreSQL", on_postgresql, 10_000, one_task_each),
            Figure("published by one producer", on_sqlite.published, UNIT),
        ),
    )


def _figures(database: str, rates: _Rates, floor: float, one_task_each: float) -> Iterator[Figure]:
    baselines = (
        Baseline("one Celery task each, doing nothing", one_task_each),
        Baseline("bare read-decode-insert-acknowledge", rates.bare),
    )
    yield Figure(f"{database}, backlog", rates.from_backlog, UNIT, at_least(floor), baselines)
    yield Figure(
        f"{database}, published meanwhile", rates.at_once, UNIT, at_least(floor), baselines
    )
    yield Figure(f"{database}, backlog, the worker's processor time", rates.cpu_us, "µs/outcome")


def _one_task_each(scale: Scale) -> float:
    with bench_settings() as settings, running_redis(settings) as client:
        return tasks_per_second(settings, client, scale.celery_tasks)


def _rates(scale: Scale, database_url: str | None) -> _Rates:
    with bench_settings(database_url) as settings, running_redis(settings) as client:
        _send(settings, scale.outcomes, seed=2)
        bare = scale.outcomes / drain_barely(settings, client)
    with bench_settings(database_url) as settings, running_redis(settings) as client:
        planted = Planted()
        with running_worker(settings) as worker:
            _warm_up(settings, client, planted)
            published = _publish(settings, scale.outcomes, planted)
            cpu_before = _cpu_seconds(worker.pid)
            from_backlog = scale.outcomes / _drain_backlog(settings, client)
            cpu_us = (_cpu_seconds(worker.pid) - cpu_before) / scale.outcomes * 1e6
            at_once = scale.outcomes / _drain_meanwhile(settings, client, scale.outcomes, planted)
        check_recorded(settings, planted)
    return _Rates(published, from_backlog, at_once, bare, cpu_us)


def _cpu_seconds(pid: int) -> float:
    """Return the processor time that a process and its children have used."""
    worker = psutil.Process(pid)
    times = [each.cpu_times() for each in (worker, *worker.children(recursive=True))]
    return sum(each.user + each.system for each in times)


def _send(settings: Settings, count: int, *, seed: int) -> tuple[float, Planted]:
    with producer(settings, count, seed=seed) as ready:
        ready.go()
        sent = ready.result()
    return sent.seconds, sent.planted


def _warm_up(settings: Settings, client: redis.Redis, planted: Planted) -> None:
    """Wait for the worker, and let it do its one-time work."""
    _, sent = _send(settings, _WARM_UP, seed=0)
    planted.add(sent)
    with waking(settings):
        _wait_until_empty(settings, client)
    # The drain at hand waits for more; it must be over before the backlog builds up.
    time.sleep(2 * settings.drain_block_s)


def _publish(settings: Settings, count: int, planted: Planted) -> float:
    seconds, sent = _send(settings, count, seed=1)
    planted.add(sent)
    return count / seconds


def _drain_backlog(settings: Settings, client: redis.Redis) -> float:
    with waking(settings):
        started = time.perf_counter()
        ended = _wait_until_empty(settings, client)
    return ended - started


def _drain_meanwhile(
    settings: Settings, client: redis.Redis, count: int, planted: Planted
) -> float:
    with _beating(settings), producer(settings, count, seed=4) as ready:
        started = time.perf_counter()
        ready.go()
        planted.add(ready.result().planted)
        ended = _wait_until_empty(settings, client)
    return ended - started


@contextmanager
def _beating(settings: Settings) -> Iterator[None]:
    with child_process(beat_command(settings), settings, log="beat.log"):
        yield


def _wait_until_empty(settings: Settings, client: redis.Redis) -> float:
    stream = settings.keys.outcomes
    return wait_until(
        lambda: client.xlen(stream) == 0, what="an empty stream", timeout_s=_TIMEOUT_S
    )
