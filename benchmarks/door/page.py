"""The page: its first view of a project with a million outcomes, and the views after it."""

import http.client
import time
from collections.abc import Iterator
from contextlib import closing

from sqlalchemy import insert

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.percentiles import percentile
from benchmarks.harness.scale import Scale
from benchmarks.harness.served import CREDENTIAL, DOOR, Server, serving
from benchmarks.harness.servers import (
    bench_settings,
    new_postgres_database,
    postgres_server,
    running_redis,
)
from benchmarks.harness.timing import time_by_turns
from benchmarks.workloads.outcomes_on_record import PROJECT_ID, record_outcomes
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.outcomes.tables import projects

_FLOOR_MS = 100.0
_FIRST_VIEWS = 5
_VIEWS = 100
_OTHER_PROJECT = "small"
_TIMEOUT_S = 120.0


def measure(scale: Scale) -> Measured:
    """Measure on both databases, one after the other."""
    with bench_settings() as settings:
        figures = list(_figures("SQLite", settings, scale.observations))
    with postgres_server() as server, bench_settings(new_postgres_database(server)) as settings:
        figures += _figures("PostgreSQL", settings, scale.observations)
    return Measured(
        f"the overview of a project with {scale.observations:,} outcomes; first view: a process "
        "that has shown a page of another project (its modules are imported), median of "
        f"{_FIRST_VIEWS}",
        tuple(figures),
    )


def _figures(database: str, settings: Settings, count: int) -> Iterator[Figure]:
    _fill(settings, count)
    with running_redis(settings):
        fresh, first, health, first_cpu = [], [], [], []
        for _ in range(_FIRST_VIEWS):
            with serving(DOOR, settings) as door:
                health.append(_ask(door, "/health"))
                fresh.append(_ask(door, f"/?project={_OTHER_PROJECT}"))
                before = door.cpu_s()
                first.append(_ask(door, "/"))
                first_cpu.append((door.cpu_s() - before) * 1000)
        with serving(DOOR, settings) as door, closing(_connection(door)) as connection:
            _get(connection, "/")
            before = door.cpu_s()
            took = time_by_turns(
                {
                    "page": lambda: _get(connection, "/"),
                    "health": lambda: _get(connection, "/health"),
                },
                _VIEWS,
            )
            later_cpu = (door.cpu_s() - before) * 1000 / _VIEWS
    of_health = Baseline("/health", took["health"].p50 / 1000)
    yield Figure(
        f"{database}, first view", percentile(first, 0.5), "ms", at_most(_FLOOR_MS), (of_health,)
    )
    yield Figure(
        f"{database}, views after it, median", took["page"].p50 / 1000, "ms",
        at_most(_FLOOR_MS), (of_health,),
    )  # fmt: skip
    yield Figure(f"{database}, processor time of a first view", percentile(first_cpu, 0.5), "ms")
    yield Figure(f"{database}, of a view after it, and of one /health", later_cpu, "ms")
    yield Figure(
        f"{database}, first page of a new process", percentile(fresh, 0.5), "ms", None,
        (Baseline("its first /health", percentile(health, 0.5)),),
    )  # fmt: skip


def _fill(settings: Settings, count: int) -> None:
    engine = connect_store(settings.effective_database_url)
    try:
        migrate(engine)
        record_outcomes(engine, count, now=time.time())
        with writing(engine) as connection:
            connection.execute(
                insert(projects).values(
                    id=PROJECT_ID + 1, name=_OTHER_PROJECT, revision=1, outcomes=0, successes=0
                )
            )
    finally:
        engine.dispose()


def _ask(door: Server, path: str) -> float:
    """Return how long the answer to a request took, in milliseconds."""
    with closing(_connection(door)) as connection:
        began = time.perf_counter()
        _get(connection, path)
        return (time.perf_counter() - began) * 1000


def _connection(server: Server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(*server.address, timeout=_TIMEOUT_S)


def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path, headers=CREDENTIAL)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != http.client.OK:
        message = f"{path} answered {answer.status}"
        raise RuntimeError(message)
    return body
