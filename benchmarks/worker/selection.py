"""Selecting one of ten thousand competence records, and crediting them."""

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sqlalchemy import Engine, select, text

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, new_postgres_database, postgres_server
from benchmarks.harness.timing import time_calls
from trackrecord.learning.competences.episodes.tally import Episode, EpisodeTally
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import RecordUpdate, Signature, follow
from trackrecord.settings.settings import Settings
from trackrecord.store.competences.selection.select import select_competences
from trackrecord.store.competences.tables import competence_numbers, competences
from trackrecord.store.competences.write import SignedChange, write_changes
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import ensure_projects

UNIT = "ms"
_RECORDS = 10_000
_CALLS = 100
_MOST_MS = 20.0
_CHUNK = 1_000
_DAY = 86_400.0
_NOW = 1_790_000_000.0
_RULES = CompetenceRules()
# The words of triggers and tools: a few are everywhere, most are rare.
_VERBS = ("read", "edit", "run", "search", "build", "deploy", "check", "write", "list", "apply")
_THINGS = ("file", "test", "module", "service", "parser", "page", "report", "cache", "queue")
_PLACES = ("登录页面", "构建", "service")
_TASK = (
    "The nightly build of the parser module fails with error 4711 in service 12; "
    "find out why and fix the test"
)
_CHINESE = "登录页面在午夜之后拒绝有效会话,请修复构建错误"


def measure(scale: Scale) -> Measured:
    """Measure both databases, one after the other."""
    calls = max(20, _CALLS * scale.reads // 2_000)
    with bench_settings() as settings:
        figures = list(_figures("SQLite", settings, calls))
    with postgres_server() as server, bench_settings(new_postgres_database(server)) as settings:
        figures += _figures("PostgreSQL", settings, calls)
    return Measured(
        f"{_RECORDS:,} records in one project, 3 triggers and 4 tools each, in words of which some "
        f"are in every second record; tasks of 20 words; {calls} calls of each kind, p99 counts",
        tuple(figures),
    )


def _figures(database: str, settings: Settings, calls: int) -> Iterator[Figure]:
    engine = connect_store(settings.effective_database_url)
    try:
        project_id = _fill(engine)
        bare = time_calls(lambda _: _read_numbers(engine, project_id), calls)
        whole = time_calls(lambda _: _read_records(engine, project_id), 3)
        baselines = (
            Baseline("bare reading of each record's numbers", bare.p50 / 1000),
            Baseline("bare reading of all records as they are", whole.p50 / 1000),
        )
        for name, task in (("no task", None), ("a task", _TASK), ("a task in Chinese", _CHINESE)):
            took = time_calls(partial(_select, engine, project_id, task), calls)
            yield Figure(
                f"{database}, {name}, p99", took.p99 / 1000, UNIT, at_most(_MOST_MS), baselines
            )
            yield Figure(f"{database}, {name}, p50", took.p50 / 1000, UNIT)
    finally:
        engine.dispose()


def _select(engine: Engine, project_id: int, task: str | None, _number: int) -> None:
    with reading(engine) as connection:
        selected = select_competences(connection, project_id, _RULES, task=task, limit=10, now=_NOW)
    if selected.count != _RECORDS:
        message = f"{selected.count} candidates, not {_RECORDS}"
        raise RuntimeError(message)


def _read_numbers(engine: Engine, project_id: int) -> None:
    numbers = competence_numbers.c
    query = select(
        numbers.competence_id, numbers.confidence, numbers.successes, numbers.failures,
        numbers.last_reinforced_at,
    ).where(numbers.project_id == project_id)  # fmt: skip
    with reading(engine) as connection:
        connection.execute(query).all()


def _read_records(engine: Engine, project_id: int) -> None:
    query = select(competences.c.record).where(competences.c.project_id == project_id)
    with reading(engine) as connection:
        connection.execute(query).all()


def _fill(engine: Engine) -> int:
    """Write the records as consolidation does; return the id of their project."""
    migrate(engine)
    chance = random.Random(11)
    with writing(engine) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
    for start in range(0, _RECORDS, _CHUNK):
        changes = [
            SignedChange(None, _made(number, chance)) for number in range(start, start + _CHUNK)
        ]
        with writing(engine) as connection:
            write_changes(connection, project_id, changes, actor="benchmark", now=time.time())
    # Autovacuum does this by itself, some time later.
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
    return project_id


def _made(number: int, chance: random.Random) -> RecordUpdate:
    tools = (
        *(f"{chance.choice(_VERBS)}_{chance.choice(_THINGS)}" for _ in range(3)),
        f"tool_{number}",
    )
    tally = EpisodeTally()
    for trigger in range(3):
        signal = (
            f"{chance.choice(_VERBS)} the {chance.choice(_THINGS)} fails with error "
            f"{chance.randrange(5_000)} in {chance.choice(_PLACES)} {trigger}"
        )
        for success in (True, True, chance.random() < 0.7):
            tally.add(Episode(tuple(dict.fromkeys(tools)), success, _NOW, 70, signal=signal))
    change = follow(_RULES, Signature("default", "+".join(sorted(tools)), tally), None, _NOW)
    if not isinstance(change, RecordUpdate):
        message = "no record was made"
        raise TypeError(message)
    return replace(change, record=_aged(change.record, chance))


def _aged(record: Competence, chance: random.Random) -> Competence:
    at = _NOW - chance.random() * 90 * _DAY
    return replace(record, lifecycle=replace(record.lifecycle, last_reinforced_at=at))
