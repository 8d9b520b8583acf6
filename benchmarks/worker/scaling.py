"""Measure the cost of an outcome, and compute that of up to a billion of them a day."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from typing import Any

import psycopg
import redis
from sqlalchemy import Connection, event

from benchmarks.harness.figures import Figure, Measured
from benchmarks.harness.processor_time import postgres_pid, redis_pid, with_children
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import (
    bench_settings,
    new_postgres_database,
    postgres_server,
    running_redis,
)
from benchmarks.workloads.one_day import OUTCOMES_OF_PROJECT, Costs, Day, limits_of, replay
from benchmarks.workloads.workload import Planted, bodies, project_names
from trackrecord.settings.settings import Settings
from trackrecord_consolidation.run import consolidate_all
from trackrecord_producers.delivery.stream_writer import send
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services

_PROJECTS = 10
_WARM_UP = 4_000
_REFRESHES = 5
# Outcomes a day; few of them are of several projects all the same.
_DAYS = (1e4, 1e6, 1e8, 1e9)
_FEWEST_PROJECTS = 5


def measure(scale: Scale) -> Measured:
    """Measure the costs in one process, and replay a day with them."""
    with postgres_server() as server:
        url = new_postgres_database(server)
        with bench_settings(url) as settings, running_redis(settings) as client:
            costs = _Run(server, url, settings, client).costs(scale.outcomes)
    return Measured(
        f"{scale.outcomes:,} outcomes of about 700 bytes in {_PROJECTS} projects, PostgreSQL, one "
        "process; the table is computed from these costs, for one machine was measured",
        tuple(_figures(costs)),
        tuple(_table(costs)),
    )


def _figures(costs: Costs) -> Iterator[Figure]:
    us, each = "µs/outcome", "B/outcome"
    yield Figure("worker, processor time", costs.worker_us, us)
    yield Figure("PostgreSQL, processor time", costs.postgres_us, us)
    yield Figure("Redis, processor time", costs.redis_us, us)
    yield Figure("rows of a project locked, one project", costs.locked_us, us)
    yield Figure("memory of Redis while it waits", costs.stream_bytes, each)
    yield Figure("tables and indexes", costs.table_bytes, each)
    yield Figure("write-ahead log", costs.log_bytes, each)
    yield Figure("sessions of a worker process", costs.connections, "sessions")
    yield Figure(
        "consolidation of 100,000, half with tool calls, processor time", costs.consolidation_s, "s"
    )
    yield Figure("refresh of a project, processor time of a worker", costs.refresh_ms, "ms")
    yield Figure("refresh of a project, that of PostgreSQL", costs.postgres_refresh_ms, "ms")


def _table(costs: Costs) -> Iterator[str]:
    heads = (
        "outcomes a day", "projects", "learning", "refreshing", "workers", "PostgreSQL", "Redis",
        "an hour away", "kept", "nightly job", "breaks first",
    )  # fmt: skip
    days = [
        replay(outcomes, max(_FEWEST_PROJECTS, outcomes / OUTCOMES_OF_PROJECT), costs)
        for outcomes in _DAYS
    ]
    rows = [_row(day) for day in days]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        yield "  ".join(
            f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)
        ).rstrip()
    minutes = days[0].caught_up_s / 60
    yield f"after the hour without a database, workers have caught up in {minutes:.0f} minutes"
    yield ""
    for name, most in sorted(limits_of(costs), key=lambda limit: limit[1]):
        yield f"{most:>16,.0f} outcomes a day: {name}"


def _row(day: Day) -> Sequence[str]:
    return (
        f"{day.outcomes:,.0f}",
        f"{day.projects:,.0f}",
        _cores(day.learning_cores),
        _cores(day.refreshing_cores),
        f"{day.workers:,}",
        _cores(day.postgres_cores),
        _cores(day.redis_cores),
        _bytes(day.waiting_bytes),
        _bytes(day.kept_bytes),
        _seconds(day.night_h * 3600),
        day.breaks[0] if day.breaks else "nothing",
    )


def _cores(count: float) -> str:
    return f"{count:.2g} cores" if count >= 0.01 else "< 0.01 cores"


def _seconds(count: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if count >= size:
            return f"{count / size:.2g} {unit}"
    return f"{count:.2g} s"


def _bytes(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9)):
        if count >= size:
            return f"{count / size:,.3g} {unit}"
    return f"{count / 1e6:,.3g} MB"


@dataclass(frozen=True)
class _Used:
    """Processor time in seconds."""

    worker: float
    postgres: float
    redis: float

    def since(self, before: "_Used") -> "_Used":
        """Return what was used from then on."""
        return _Used(*(now - was for now, was in zip(astuple(self), astuple(before), strict=True)))


class _Run:
    """One process that learns, with its servers."""

    def __init__(self, server: str, url: str, settings: Settings, client: redis.Redis) -> None:
        # Refreshing is measured apart.
        self._settings = settings.model_copy(update={"refresh_every_s": 3600.0})
        self._client = client
        self._url = url
        self._postgres = postgres_pid(server)
        self._redis = redis_pid(client)

    def costs(self, count: int) -> Costs:
        """Measure everything, one after the other."""
        services = Services(self._settings, create_app(self._settings))
        try:
            return self._costs(services, count)
        finally:
            services.redis.close()
            services.engine.dispose()

    def _costs(self, services: Services, count: int) -> Costs:
        self._send(_WARM_UP, 0, _PROJECTS)
        _learn_all(services)
        outcomes = list(bodies(count, seed=1, planted=Planted(), projects=project_names(_PROJECTS)))
        idle = self._used()
        memory = self._memory()
        send(self._client, self._settings.keys, outcomes)
        sent = self._used().since(idle)
        stream_bytes = (self._memory() - memory) / count
        size, log = self._size(), self._log_position()
        began = self._used()
        _learn_all(services)
        learnt = self._used().since(began)
        grown, logged = self._size() - size, self._log_position() - log
        sessions = self._sessions()
        night = self._timed(
            lambda: consolidate_all(
                services.engine, self._settings.competence, now=time.time(), actor="benchmark"
            )
        )
        refreshed = self._timed(lambda: _refresh_all(services))
        return Costs(
            worker_us=learnt.worker / count * 1e6,
            postgres_us=learnt.postgres / count * 1e6,
            redis_us=(sent.redis + learnt.redis) / count * 1e6,
            locked_us=self._locked_us(services, count // 4),
            stream_bytes=stream_bytes,
            table_bytes=grown / count,
            log_bytes=logged / count,
            connections=sessions,
            consolidation_s=(night.worker + night.postgres) * 1e5 / count,
            refresh_ms=refreshed.worker * 1e3 / _PROJECTS / _REFRESHES,
            postgres_refresh_ms=refreshed.postgres * 1e3 / _PROJECTS / _REFRESHES,
        )

    def _send(self, count: int, seed: int, projects: int) -> None:
        names = project_names(projects)
        made = bodies(count, seed=seed, planted=Planted(), projects=names)
        send(self._client, self._settings.keys, made)

    def _timed(self, work: Callable[[], object]) -> _Used:
        before = self._used()
        work()
        return self._used().since(before)

    def _used(self) -> _Used:
        own = os.times()
        return _Used(
            own.user + own.system, with_children(self._postgres), with_children(self._redis)
        )

    def _memory(self) -> int:
        info: Any = self._client.info("memory")
        return int(info["used_memory"])

    def _ask(self, query: str) -> float:
        with closing(psycopg.connect(self._url, autocommit=True)) as connection:
            row = connection.execute(query).fetchone()
        assert row is not None  # noqa: S101 - each query has one row
        return float(row[0])

    def _size(self) -> float:
        return self._ask("SELECT pg_database_size(current_database())")

    def _log_position(self) -> float:
        return self._ask("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")

    def _sessions(self) -> float:
        return self._ask(
            "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
        )

    def _locked_us(self, services: Services, count: int) -> float:
        """Return how long the rows that batches share are locked, for each outcome of a project."""
        self._send(count, 2, 1)
        with _watching_locks(services) as moments:
            _learn_all(services)
        return sum(_locked(moments)) / count * 1e6


def _learn_all(services: Services) -> None:
    while services.drain.run()["batches"]:
        pass


_Moments = list[tuple[str, float]]
_OVER = "over"


def _refresh_all(services: Services) -> None:
    for name in project_names(_PROJECTS) * _REFRESHES:
        services.refresher.refresh(name)


@contextmanager
def _watching_locks(services: Services) -> Iterator[_Moments]:
    moments: _Moments = []

    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        moments.append((statement, time.perf_counter()))

    def note_end(*_: object) -> None:
        moments.append((_OVER, time.perf_counter()))

    # A connection is handed back as soon as its transaction is committed.
    listeners = (("before_cursor_execute", note), ("checkin", note_end))
    for name, listener in listeners:
        event.listen(services.engine, name, listener)
    try:
        yield moments
    finally:
        for name, listener in listeners:
            event.remove(services.engine, name, listener)


def _locked(moments: _Moments) -> Iterator[float]:
    """Yield for how long the items, the first rows that batches share, were locked."""
    since: float | None = None
    for statement, at in moments:
        if statement.startswith("INSERT INTO items"):
            since = at
        elif statement == _OVER and since is not None:
            yield at - since
            since = None
