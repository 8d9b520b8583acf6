"""Several worker processes on one PostgreSQL: how much faster, and where the time goes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg

from benchmarks.baselines.bare_loop import drain_barely
from benchmarks.harness.figures import Baseline, Figure, Measured, at_least
from benchmarks.harness.processor_time import postgres_pid, redis_pid, with_children
from benchmarks.harness.producing import producer
from benchmarks.harness.recorded import check_recorded
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import (
    bench_settings,
    new_postgres_database,
    postgres_server,
    running_redis,
    running_worker,
    wait_until,
)
from benchmarks.harness.waking import waking
from benchmarks.workloads.workload import Planted
from trackrecord.settings.settings import Settings

PROCESSES = (1, 2, 4)
PROJECTS = (1, 100)
_SPEED_UP = 1.7
_WARM_UP = 2_000
_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Drained:
    """A backlog that worker processes emptied.

    Attributes:
        seconds: how long it took.
        count: how many outcomes there were.
        worker_us: processor time of the workers for each, in microseconds.
        postgres_us: that of PostgreSQL.
        redis_us: that of Redis.
        waiting: which share of their time the workers' sessions waited for each other's locks.
    """

    seconds: float
    count: int
    worker_us: float
    postgres_us: float
    redis_us: float
    waiting: float

    @property
    def rate(self) -> float:
        """Return the outcomes a second."""
        return self.count / self.seconds

    @property
    def total_us(self) -> float:
        """Return the processor time of all for each outcome."""
        return self.worker_us + self.postgres_us + self.redis_us


def measure(scale: Scale) -> Measured:
    """Empty the same backlog with 1, 2 and 4 processes, of one project and of a hundred."""
    with postgres_server() as server:
        bare = {workers: _bare(server, scale.outcomes, workers) for workers in PROCESSES}
        figures = [
            each
            for projects in PROJECTS
            for each in _figures(server, scale.outcomes, projects, bare)
        ]
    return Measured(
        f"{scale.outcomes:,} outcomes of about 700 bytes that wait, on a machine that also runs "
        "Redis and PostgreSQL; every sum checked afterwards",
        tuple(figures),
    )


def _figures(server: str, count: int, projects: int, bare: dict[int, float]) -> Iterator[Figure]:
    told = f"{projects} project{'s' * (projects > 1)}"
    drained = {workers: drain(server, count, workers, projects) for workers in PROCESSES}
    for workers, each in drained.items():
        yield Figure(
            f"{told}, processes: {workers}", each.rate, "outcomes/s", None,
            (Baseline(f"bare loops: {workers}", bare[workers]),),
        )  # fmt: skip
    yield Figure(
        f"{told}, two processes to one", drained[2].rate / drained[1].rate, "times",
        at_least(_SPEED_UP), (Baseline("two bare loops to one", bare[2] / bare[1]),),
    )  # fmt: skip
    for name, us in (
        ("the worker's", drained[2].worker_us),
        ("PostgreSQL's", drained[2].postgres_us),
        ("Redis's", drained[2].redis_us),
    ):
        yield Figure(f"{told}, two processes, {name} processor time", us, "µs/outcome")
    for workers in PROCESSES[1:]:
        yield Figure(
            f"{told}, {workers} processes, waiting for locks", drained[workers].waiting, "% of time"
        )
    used = drained[2].total_us * drained[2].rate / 1e6
    yield Figure(f"{told}, two processes, cores that were busy", used, "cores")


def _bare(server: str, count: int, loops: int) -> float:
    url = new_postgres_database(server)
    with bench_settings(url) as settings, running_redis(settings) as client:
        _send(settings, count, 1, seed=2)
        return count / drain_barely(settings, client, loops=loops).seconds


def drain(server: str, count: int, workers: int, projects: int) -> Drained:
    """Publish a backlog and empty it with so many worker processes.

    Raises:
        Mismatch: what is on record is not what was sent.
    """
    url = new_postgres_database(server)
    with (
        bench_settings(url, workers=workers) as settings,
        running_redis(settings) as client,
        running_worker(settings) as worker,
    ):

        def wait_until_empty() -> float:
            with waking(settings):
                return wait_until(
                    lambda: client.xlen(settings.keys.outcomes) == 0,
                    what="an empty stream",
                    timeout_s=_TIMEOUT_S,
                )

        planted = _send(settings, _WARM_UP, projects, seed=0)
        wait_until_empty()
        time.sleep(2 * settings.drain_block_s)
        planted.add(_send(settings, count, projects, seed=1))
        pids = (worker.pid, postgres_pid(server), redis_pid(client))
        before = [with_children(pid) for pid in pids]
        with _watching(url, workers) as watched:
            started = time.perf_counter()
            seconds = wait_until_empty() - started
        used = [
            (with_children(pid) - was) / count * 1e6 for pid, was in zip(pids, before, strict=True)
        ]
        check_recorded(settings, planted)
    workers_us, postgres_us, redis_us = used
    return Drained(seconds, count, workers_us, postgres_us, redis_us, watched.share)


class _Watch:
    """Looks again and again which sessions of a database wait for a lock."""

    def __init__(self, url: str, workers: int) -> None:
        self._url = url
        self._workers = workers
        self._looks = self._waiting = 0
        self.over = threading.Event()

    @property
    def share(self) -> float:
        """Return the share of the workers' time, in percent."""
        return 100 * self._waiting / max(1, self._looks * self._workers)

    def run(self) -> None:
        """Look until it is over."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self.over.wait(_LOOK_EVERY_S):
                row = connection.execute(_WAITING).fetchone()
                self._looks += 1
                self._waiting += row[0] if row else 0


_LOOK_EVERY_S = 0.02
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@contextmanager
def _watching(url: str, workers: int) -> Iterator[_Watch]:
    watch = _Watch(url, workers)
    thread = threading.Thread(target=watch.run, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.over.set()
        thread.join()


def _send(settings: Settings, count: int, projects: int, *, seed: int) -> Planted:
    with producer(settings, count, seed=seed, projects=projects) as ready:
        ready.go()
        return ready.result().planted
