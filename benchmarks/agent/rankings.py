"""Reading the rankings from Redis while a prompt is written."""

import time
from collections.abc import Iterator

import redis

from benchmarks.harness.asking import ask
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, running_redis
from benchmarks.harness.timing import Latency
from benchmarks.workloads.advised_documents import (
    LESSONS,
    PAST_TASKS,
    PATTERNS,
    PROCEDURES,
    advised_documents,
)
from benchmarks.workloads.vector_server import DIMENSIONS
from trackrecord.prompt.reading.cache import read_document, write_advice, write_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import ensure_projects, learn
from trackrecord.store.memories.write import remember
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome, scorer_of
from trackrecord_consolidation.run import consolidate
from trackrecord_worker.caching.refresh import RankingsRefresher

UNIT = "ms"
PROJECT = "shop"
ADVISED = "advised"
_FLOOR_MS = 2.0
_ADVISED_P50_MS = 2.0
_ADVISED_P99_MS = 5.0
_PATTERNS = 1000
_COMPETENCES = 200
_TIMES_EACH = 3
# As many as the cache carries.
_MEMORIES = 100
_TASK = "The login page rejects valid sessions after midnight; find out why and fix it"


def measure(scale: Scale) -> Measured:
    """Read rankings that real outcomes have led to, in a fresh process."""
    with bench_settings() as settings, running_redis(settings) as client:
        learn_all(settings, client)
        _check(RankingsReader(settings))
        _, document = read_document(client, settings, PROJECT)
        size = len(document or b"")
        answers = ask(settings, "rankings_reads", str(scale.reads), PROJECT, _TASK)
        rankings, advice = advised_documents(ADVISED)
        write_document(client, settings, rankings)
        write_advice(client, settings, advice, cost_s=0.0)
        advised = ask(settings, "advised_reads", str(scale.reads), ADVISED)
    took = {kind: Latency(**latency) for kind, latency in answers.items()}
    return Measured(
        f"{_PATTERNS:,} patterns and {_COMPETENCES} competences in one project, learnt from "
        f"outcomes, {_MEMORIES} memories; "
        f"{size / 1024:.0f} KiB in the cache, vectors of {DIMENSIONS:,} numbers; "
        f"{scale.reads:,} reads of each kind. Advised: "
        f"{PROCEDURES:,} procedures, {PATTERNS:,} patterns, {PAST_TASKS:,} past tasks and "
        f"{LESSONS:,} lessons, each read for another task; processor time",
        (*_figures(took), *_advised(advised)),
    )


def _figures(took: dict[str, Latency]) -> Iterator[Figure]:
    bare = took.pop("bare")
    yield from _handed_out(took.pop("memories handed out"), took.pop("nothing reported"))
    for kind, latency in took.items():
        p99 = Baseline("bare HMGET of all bytes, p99", bare.p99 / 1000)
        p50 = Baseline("bare HMGET of all bytes, p50", bare.p50 / 1000)
        yield Figure(f"{kind}, p99", latency.p99 / 1000, UNIT, at_most(_FLOOR_MS), (p99,))
        yield Figure(f"{kind}, p50", latency.p50 / 1000, UNIT, None, (p50,))


def _handed_out(handed: Latency, before: Latency) -> Iterator[Figure]:
    """Measure the cost of keeping recalled memories fresh."""
    name = "the public call, memories handed out"
    p99 = Baseline("the same without reporting them, p99", before.p99 / 1000)
    p50 = Baseline("the same without reporting them, p50", before.p50 / 1000)
    yield Figure(f"{name}, p99", handed.p99 / 1000, UNIT, at_most(_FLOOR_MS), (p99,))
    yield Figure(f"{name}, p50", handed.p50 / 1000, UNIT, None, (p50,))


def _advised(answers: dict[str, dict[str, float]]) -> Iterator[Figure]:
    took = {kind: Latency(**latency) for kind, latency in answers.items()}
    alone = took.pop("similar tasks alone")
    for kind, latency in took.items():
        p99 = Baseline("finding similar past tasks alone, p99", alone.p99 / 1000)
        p50 = Baseline("finding similar past tasks alone, p50", alone.p50 / 1000)
        yield Figure(f"{kind}, p99", latency.p99 / 1000, UNIT, at_most(_ADVISED_P99_MS), (p99,))
        yield Figure(f"{kind}, p50", latency.p50 / 1000, UNIT, at_most(_ADVISED_P50_MS), (p50,))


def _check(reader: RankingsReader) -> None:
    everything = reader.read(project=PROJECT, budget=None)
    found = (
        len(everything.patterns),
        len(everything.competences),
        len(everything.memories),
        everything.problem,
    )
    if found != (_PATTERNS, _COMPETENCES, _MEMORIES, None):
        message = f"the rankings are incomplete: {found}"
        raise RuntimeError(message)


def learn_all(settings: Settings, client: redis.Redis) -> None:
    """Learn a project from outcomes, and fill its cache."""
    engine = connect_store(settings.effective_database_url)
    migrate(engine)
    now = time.time()
    with writing(engine) as connection:
        learn(
            connection,
            list(_outcomes(scorer_of(settings.rules), now)),
            settings.rules,
            now=now,
        )
        project_id = ensure_projects(connection, [PROJECT])[PROJECT]
        for number in range(_MEMORIES):
            remember(
                connection, project_id, f"Module {number}: its sessions expire at midnight",
                memory_id=f"memory-{number}", rules=settings.memories, now=now, force=True,
            )  # fmt: skip
    consolidate(engine, settings.competence, PROJECT, now=now, actor="benchmark")
    RankingsRefresher(engine, client, settings).refresh(PROJECT)
    engine.dispose()


def _outcomes(scorer: OutcomeScorer, now: float) -> Iterator[ScoredOutcome]:
    for number in range(_PATTERNS * _TIMES_EACH):
        pattern = number % _PATTERNS
        procedure = pattern % _COMPETENCES
        body = encode_body(
            {
                "project": PROJECT,
                "task_id": f"task-{number}",
                "success": True,
                "instruction": f"Fix the login page of module {number} after the session change",
                "patterns": [f"keep module {pattern} small and cover it with tests first"],
                "trigger": {
                    "signal": f"error {procedure} in module {procedure % 17}",
                    "conditions": {"module": procedure % 17, "os": "linux"},
                },
                "tool_graph": [
                    {"tool": "read_file", "args": {"path": "a.py"}},
                    {"tool": f"edit_{procedure}", "args": {"path": "a.py", "text": "x"}},
                    {"tool": "run_tests", "args": {"path": "tests"}},
                ],
            }
        )
        yield scorer.score(
            decode_outcome(body), body, received_at=now, outcome_id=f"outcome-{number}"
        )
