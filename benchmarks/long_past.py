"""A pattern with a million observations: explained, and asked about a moment of the past."""

import time
from collections.abc import Callable, Iterator

from sqlalchemy import Engine, func, insert, select, text

from trackrecord.learning.criteria.explanation import explain_criterion
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.numbers.decay import Bases, HalfLives
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.patterns.explanation import explain_pattern
from trackrecord.settings import Settings
from trackrecord.store.criteria.feedback import feedback_of_task
from trackrecord.store.criteria.read import read_criteria
from trackrecord.store.database.bulk_insert import insert_rows
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.outcomes.decay_basis import replace_bases
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord.store.patterns.read import read_changes, read_examples, read_standings
from trackrecord.store.patterns.tables import observations, patterns

from .figures import Baseline, Figure, Measured, at_most
from .scale import Scale
from .servers import bench_settings, new_postgres_database, postgres_server

UNIT = "s"
_MOST_S = 1.0
_NOW = 1_790_000_000.0
_HALF_LIFE_DAYS = 90.0
_CHUNK = 10_000
_SLUG = "plan"
_CRITERIA = CriteriaRules(defaults=("type_safe", "no_bugs", "patterns", "readable"))
_PROJECT_ID = 1
_PATTERN_ID = 1
# As large as the outcomes that agents report.
_BODY = b'{"task_id":"t","success":true,"patterns":["plan"]}' + b" " * 650
_VERDICTS = ((Verdict.HELPFUL, 1.0), (Verdict.HELPFUL, 0.8), (Verdict.NEUTRAL, 0.5),
             (Verdict.HARMFUL, 0.1))  # fmt: skip


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
        _record(engine, count)
        middle = _NOW - count / 2
        counting = Baseline("counting the pattern's observations", _timed(lambda: _count(engine)))
        for name, seconds in (
            ("explain a pattern", _timed(lambda: _explain_pattern(engine, settings, None))),
            ("explain it --at", _timed(lambda: _explain_pattern(engine, settings, middle))),
            ("explain it --at the end", _timed(lambda: _explain_pattern(engine, settings, _NOW))),
            ("explain a criterion --at", _timed(lambda: _explain_criterion(engine, _NOW))),
        ):
            yield Figure(f"{database}, {name}", seconds, UNIT, at_most(_MOST_S), (counting,))
        of_task = _timed(lambda: _feedback_of_task(engine, f"t{count // 3}"))
        yield Figure(f"{database}, the feedback of one task", of_task, UNIT, None, (counting,))
    finally:
        engine.dispose()


def _record(engine: Engine, count: int) -> None:
    """Record outcomes a second apart, the last one now, each with its observation."""
    with writing(engine) as connection:
        connection.execute(
            insert(projects).values(
                id=_PROJECT_ID, name="default", revision=1, outcomes=count, successes=0
            )
        )
        replace_bases(
            connection, _PROJECT_ID, Bases(HalfLives(_HALF_LIFE_DAYS, _HALF_LIFE_DAYS), _NOW)
        )
        connection.execute(
            insert(patterns).values(
                id=_PATTERN_ID, project_id=_PROJECT_ID, slug=_SLUG, kind="named", content="Plan",
                helpful=count // 2, neutral=count // 4, harmful=count // 4,
                helpful_sum=count / 2, harmful_sum=count / 4, reported_inverted=False,
            )
        )  # fmt: skip
    recorded = tuple(outcomes.c[name] for name in (
        "id", "project_id", "outcome_id", "task_id", "received_at", "ended_at", "success",
        "raw_score", "verdict", "names_criteria", "body",
    ))  # fmt: skip
    for start in range(0, count, _CHUNK):
        rows, seen = [], []
        for number in range(start, min(start + _CHUNK, count)):
            verdict, score = _VERDICTS[number % len(_VERDICTS)]
            at = _NOW - count + number
            rows.append((number + 1, _PROJECT_ID, f"o{number}", f"t{number}", at, at,
                         score > 0.5, score, verdict.value, False, _BODY))  # fmt: skip
            seen.append((_PATTERN_ID, at, number + 1, at, verdict.value))
        with writing(engine) as connection:
            insert_rows(connection, outcomes, recorded, rows)
            insert_rows(connection, observations, tuple(observations.c), seen)
    # Autovacuum does this by itself, some time later.
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))


def _explain_pattern(engine: Engine, settings: Settings, at: float | None) -> None:
    """Explain a pattern as `trackrecord explain` and `patterns show` do."""
    rules = settings.rules
    with reading(engine) as connection:
        (standing,) = read_standings(connection, _PROJECT_ID, rules, now=_NOW, at=at, slug=_SLUG)
        read_examples(connection, _PROJECT_ID, _SLUG, at=at)
        read_changes(connection, _PROJECT_ID, _SLUG, at=at)
    explain_pattern(settings.maturity, settings.antipatterns, standing)


def _explain_criterion(engine: Engine, at: float) -> None:
    rules = _CRITERIA
    with reading(engine) as connection:
        (standing,) = read_criteria(
            connection, _PROJECT_ID, rules, now=_NOW, at=at, name=rules.defaults[0]
        )
    explain_criterion(rules, standing)


def _count(engine: Engine) -> None:
    with reading(engine) as connection:
        connection.execute(select(func.count()).where(observations.c.pattern_id == _PATTERN_ID))


def _feedback_of_task(engine: Engine, task_id: str) -> None:
    with reading(engine) as connection:
        found = feedback_of_task(connection, _PROJECT_ID, task_id, _CRITERIA.defaults)
    assert len(found) == len(_CRITERIA.defaults)  # noqa: S101 - or nothing was measured


def _timed(work: Callable[[], None]) -> float:
    work()
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
