"""`benchmark run` over all recorded outcomes, and over the last hundredth of them."""

import time
from itertools import cycle, islice

from sqlalchemy import Engine, insert, select, text

from benchmarks.harness.figures import Baseline, Figure, Measured
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, new_postgres_database, postgres_server
from benchmarks.workloads.workload import episode_bodies
from trackrecord.learning.rules_bundle import Rules
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.database.upsert import insert_rows
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord.store.patterns.process_rates import read_snapshot

UNIT = "s"
_PROJECT_ID = 1
_NOW = 1_790_000_000.0
_CHUNK = 10_000
_DIFFERENT_BODIES = 2_000


def measure(scale: Scale) -> Measured:
    """Measure both databases, one after the other."""
    count = scale.observations
    with bench_settings() as settings:
        figures = _figures("SQLite", settings, count)
    with postgres_server() as server, bench_settings(new_postgres_database(server)) as settings:
        figures += _figures("PostgreSQL", settings, count)
    return Measured(
        f"one project with {count:,} outcomes of 770 bytes, 4 to 5 tool calls each", tuple(figures)
    )


def _figures(database: str, settings: Settings, count: int) -> list[Figure]:
    engine = connect_store(settings.effective_database_url)
    try:
        migrate(engine)
        _record(engine, count)
        rules = settings.rules
        bare = _read(engine)
        return [
            Figure(
                f"{database}, all {count:,}", _snapshot(engine, rules, count), UNIT, None,
                (Baseline("reading the same bodies", bare),),
            ),
            Figure(
                f"{database}, --since the last {count // 100:,}",
                _snapshot(engine, rules, count // 100, since=_NOW - count // 100), UNIT,
            ),
        ]  # fmt: skip
    finally:
        engine.dispose()


def _record(engine: Engine, count: int) -> None:
    """Record outcomes a second apart, the last one now."""
    with writing(engine) as connection:
        connection.execute(
            insert(projects).values(
                id=_PROJECT_ID, name="default", revision=1, outcomes=count, successes=count
            )
        )
    columns = tuple(outcomes.c[name] for name in (
        "id", "project_id", "outcome_id", "task_id", "received_at", "ended_at", "success",
        "raw_score", "verdict", "names_criteria", "body",
    ))  # fmt: skip
    bodies = cycle(list(islice(episode_bodies(_DIFFERENT_BODIES, seed=1), _DIFFERENT_BODIES)))
    for start in range(0, count, _CHUNK):
        rows = [
            (number + 1, _PROJECT_ID, f"o{number}", f"t{number}", _NOW - count + number + 1,
             _NOW, True, 0.9, "helpful", False, next(bodies))
            for number in range(start, min(start + _CHUNK, count))
        ]  # fmt: skip
        with writing(engine) as connection:
            insert_rows(connection, outcomes, columns, rows)
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))


def _snapshot(engine: Engine, rules: Rules, expected: int, *, since: float | None = None) -> float:
    started = time.perf_counter()
    with reading(engine) as connection:
        run = read_snapshot(connection, _PROJECT_ID, rules, now=_NOW, since=since)
    seconds = time.perf_counter() - started
    if abs(run.outcomes - expected) > 1:
        message = f"{run.outcomes} outcomes were counted, not {expected}"
        raise RuntimeError(message)
    return seconds


def _read(engine: Engine) -> float:
    query = select(outcomes.c.body).where(outcomes.c.project_id == _PROJECT_ID)
    started = time.perf_counter()
    with reading(engine) as connection:
        for _ in connection.execute(query.execution_options(yield_per=200)):
            pass
    return time.perf_counter() - started
