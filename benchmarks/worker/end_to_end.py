"""End to end: published → committed with all statistics → acknowledged, by one worker process."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import psutil
import redis

from benchmarks.baselines.bare_loop import drain_barely
from benchmarks.baselines.one_task_each import tasks_per_second
from benchmarks.harness.figures import Baseline, Figure, Measured, at_least, at_most
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
from benchmarks.workloads.workload import PROJECTS, Planted
from trackrecord.prompt.reading.cache import cached_ages
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.outcomes.projects import project_revisions
from trackrecord_worker.up.daemon import beat_command

UNIT = "outcomes/s"
_CPU_UNIT = "µs/outcome"
_TIMEOUT_S = 300.0
_OF_BARE = 0.5
_CPU_US = 40.0
_OF_FEW = 1.5
_FRESH_S = 5.0


class _Fleet(NamedTuple):
    """The projects that outcomes are of.

    Attributes:
        projects: how many projects.
        warm_up: outcomes that are learnt beforehand.
        is_large: whether the projects have thousands of patterns and procedures.
    """

    projects: int
    warm_up: int
    is_large: bool = False


_FEW = _Fleet(len(PROJECTS), 2_000)
_MANY = _Fleet(201, 4_000)
# So many that nearly all of its patterns are on record.
_LARGE = _Fleet(1, 15_000, is_large=True)


@dataclass(frozen=True)
class _Rates:
    """Outcomes a second.

    Attributes:
        published: by one producer, while nothing else runs.
        from_backlog: from the first wake-up until the stream is empty.
        at_once: from the first write until the stream is empty, with beat as in production.
        bare: from a backlog, by a loop that learns nothing.
        cpu_us: processor time of the worker for each outcome of the backlog, in microseconds.
        bare_cpu_us: that of the loop.
    """

    published: float
    from_backlog: float
    at_once: float
    bare: float
    cpu_us: float
    bare_cpu_us: float


@dataclass(frozen=True)
class _Burst:
    """The cost of a backlog until the rankings of all its projects show it.

    Attributes:
        cpu_us: processor time of the worker for each outcome, in microseconds.
        fresh_s: seconds from the last outcome that was learnt until all rankings are fresh.
    """

    cpu_us: float
    fresh_s: float


def measure(scale: Scale) -> Measured:
    """Measure both databases, one after the other."""
    one_task_each = _one_task_each(scale)
    on_sqlite = _rates(scale, None)
    with postgres_server() as server:
        on_postgresql = _rates(scale, new_postgres_database(server))
    few, many, large = (_burst(scale, fleet) for fleet in (_FEW, _MANY, _LARGE))
    return Measured(
        f"{scale.outcomes:,} outcomes of about 700 bytes in 3 projects, half with tool calls, "
        "half mentioning strategies; 1 worker process; every sum checked afterwards",
        (
            *_figures("SQLite", on_sqlite, one_task_each),
            *_figures("PostgreSQL", on_postgresql, one_task_each),
            *_burst_figures("201 projects", many, few),
            *_burst_figures("5,000 patterns", large, few),
            Figure("published by one producer", on_sqlite.published, UNIT),
        ),
    )


def _figures(database: str, rates: _Rates, one_task_each: float) -> Iterator[Figure]:
    floor = at_least(_OF_BARE * rates.bare)
    baselines = (
        Baseline("one Celery task each, doing nothing", one_task_each),
        Baseline("bare read-decode-insert-acknowledge", rates.bare),
    )
    yield Figure(f"{database}, backlog", rates.from_backlog, UNIT, floor, baselines)
    yield Figure(f"{database}, published meanwhile", rates.at_once, UNIT, floor, baselines)
    yield Figure(
        f"{database}, backlog, the worker's processor time",
        rates.cpu_us,
        _CPU_UNIT,
        at_most(_CPU_US),
        (Baseline("bare read-decode-insert-acknowledge", rates.bare_cpu_us),),
    )


def _burst_figures(name: str, burst: _Burst, few: _Burst) -> Iterator[Figure]:
    yield Figure(
        f"{name}, processor time",
        burst.cpu_us,
        _CPU_UNIT,
        at_most(_OF_FEW * few.cpu_us),
        (Baseline("three small projects", few.cpu_us),),
    )
    yield Figure(
        f"{name}, until rankings are fresh",
        burst.fresh_s,
        "s",
        at_most(_FRESH_S),
        (Baseline("three small projects", few.fresh_s),),
    )


def _one_task_each(scale: Scale) -> float:
    with bench_settings() as settings, running_redis(settings) as client:
        return tasks_per_second(settings, client, scale.celery_tasks)


def _rates(scale: Scale, database_url: str | None) -> _Rates:
    with bench_settings(database_url) as settings, running_redis(settings) as client:
        _send(settings, scale.outcomes, seed=2)
        bare = drain_barely(settings, client)
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
    return _Rates(
        published,
        from_backlog,
        at_once,
        scale.outcomes / bare.seconds,
        cpu_us,
        bare.cpu_seconds / scale.outcomes * 1e6,
    )


def _burst(scale: Scale, fleet: _Fleet) -> _Burst:
    with bench_settings() as settings, running_redis(settings) as client:
        planted = Planted()
        with running_worker(settings) as worker:
            _warm_up(settings, client, planted, fleet)
            planted.add(_send(settings, scale.outcomes, seed=1, fleet=fleet)[1])
            cpu_before = _cpu_seconds(worker.pid)
            with waking(settings):
                learnt = _wait_until_empty(settings, client)
                fresh = _wait_until_fresh(settings, client)
            cpu_us = (_cpu_seconds(worker.pid) - cpu_before) / scale.outcomes * 1e6
        check_recorded(settings, planted)
    return _Burst(cpu_us, fresh - learnt)


def _wait_until_fresh(settings: Settings, client: redis.Redis) -> float:
    engine = connect_store(settings.effective_database_url)
    with reading(engine) as connection:
        revisions = project_revisions(connection)
    engine.dispose()

    def are_fresh() -> bool:
        cached = cached_ages(client, settings, list(revisions), now=time.time())
        shown = {project: age.revision for project, age in cached.items()}
        return shown == revisions

    return wait_until(are_fresh, what="fresh rankings", timeout_s=_TIMEOUT_S, every_s=0.05)


def _cpu_seconds(pid: int) -> float:
    """Return the processor time that a process and its children have used."""
    worker = psutil.Process(pid)
    times = [each.cpu_times() for each in (worker, *worker.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def _send(
    settings: Settings, count: int, *, seed: int, fleet: _Fleet = _FEW
) -> tuple[float, Planted]:
    with producer(
        settings, count, seed=seed, projects=fleet.projects, is_large=fleet.is_large
    ) as ready:
        ready.go()
        sent = ready.result()
    return sent.seconds, sent.planted


def _warm_up(
    settings: Settings, client: redis.Redis, planted: Planted, fleet: _Fleet = _FEW
) -> None:
    """Wait for the worker, and let it do its one-time work."""
    _, sent = _send(settings, fleet.warm_up, seed=0, fleet=fleet)
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
