"""A pattern with a million observations: explained, and asked about a moment of the past."""

import time
from collections.abc import Callable, Iterator

from sqlalchemy import Engine, func, select

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, new_postgres_database, postgres_server
from benchmarks.workloads.outcomes_on_record import JUDGED, PROJECT_ID, SLUG, record_outcomes
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.explanation import explain_criterion, explain_pattern
from trackrecord.settings.settings import Settings
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.database.migrate import migrate
from trackrecord.store.ledger.tables import receipts
from trackrecord.store.patterns.read import read_changes, read_examples, read_standings

UNIT = "s"
_MOST_S = 1.0
_NOW = 1_790_000_000.0


def measure(scale: Scale) -> Measured:
    """Measure both databases, one after the other."""
    with bench_settings() as settings:
        figures = list(_figures("SQLite", settings, scale.observations))
    with postgres_server() as server, bench_settings(new_postgres_database(server)) as settings:
        figures += _figures("PostgreSQL", settings, scale.observations)
    return Measured(
        f"one project whose {scale.observations:,} outcomes of 700 bytes all touch one pattern; "
        "best of 3 after one to warm up",
        tuple(figures),
    )


def _figures(database: str, settings: Settings, count: int) -> Iterator[Figure]:
    engine = connect_store(settings.effective_database_url)
    try:
        migrate(engine)
        record_outcomes(engine, count, now=_NOW)
        counting = Baseline("counting the receipts", _timed(lambda: _count(engine)))
        for name, seconds in (
            ("explain a pattern", _timed(lambda: _explain_pattern(engine, settings))),
            ("explain a criterion", _timed(lambda: _explain_criterion(engine))),
        ):
            yield Figure(f"{database}, {name}", seconds, UNIT, at_most(_MOST_S), (counting,))
    finally:
        engine.dispose()


def _explain_pattern(engine: Engine, settings: Settings) -> None:
    """Explain a pattern as `trackrecord explain` and `patterns show` do."""
    rules = settings.rules
    with reading(engine) as connection:
        (standing,) = read_standings(connection, PROJECT_ID, rules, now=_NOW, slug=SLUG)
        read_examples(connection, PROJECT_ID, SLUG)
        read_changes(connection, PROJECT_ID, SLUG)
    explain_pattern(settings.maturity, settings.antipatterns, standing)


def _explain_criterion(engine: Engine) -> None:
    rules = CriteriaRules()
    with reading(engine) as connection:
        (standing,) = read_criteria(connection, PROJECT_ID, rules, now=_NOW, name=JUDGED)
    explain_criterion(rules, standing)


def _count(engine: Engine) -> None:
    with reading(engine) as connection:
        connection.execute(select(func.count()).where(receipts.c.project_id == PROJECT_ID))


def _timed(work: Callable[[], None]) -> float:
    work()
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
