"""Reading the rankings from Redis while a prompt is written."""

import random
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
    PATTERNS,
    PROCEDURES,
    advised_documents,
    task_texts,
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
from trackrecord_worker.caching.advise import Adviser
from trackrecord_worker.caching.refresh import RankingsRefresher

UNIT = "ms"
PROJECT = "shop"
ADVISED = "advised"
RUNS = 10_000
_PATTERNS = 1_000
# In processor time, as other programs may run beside this one.
_P50_MS = 1.0
_P99_MS = 2.0
_WITHOUT_TASK_MS = 0.2
_TOOLS = 300
_TRIGGERS = 40
_FAILING = 0.125
# As many as the cache carries.
_MEMORIES = 100
# Another one of the words that the past tasks are made of.
_TASK = task_texts(random.Random(4), 1)[0]


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
        learnt, made = (
            ask(settings, "advised_reads", str(scale.reads), project)
            for project in (PROJECT, ADVISED)
        )
    took = {kind: Latency(**latency) for kind, latency in answers.items()}
    return Measured(
        f"a project of {RUNS:,} runs of as many tasks, learnt from outcomes: {_PATTERNS:,} "
        f"patterns, {PROCEDURES:,} procedures, {_MEMORIES} memories; "
        f"{size / 1024:.0f} KiB in the cache, vectors of {DIMENSIONS:,} numbers; "
        f"{scale.reads:,} reads of each kind, each for another task or all for one. Made up: "
        f"documents of {PROCEDURES:,} procedures, {PATTERNS:,} patterns, twice as many runs, and "
        f"{LESSONS:,} lessons. Processor time of the caller, but for the public call",
        (
            *_of_many_tasks("for another task", learnt),
            *_figures(took),
            *_of_many_tasks("made up, for another task", made),
        ),
    )


def _figures(took: dict[str, Latency]) -> Iterator[Figure]:
    bare = took.pop("bare")
    yield from _handed_out(took.pop("memories handed out"), took.pop("nothing reported"))
    for kind, latency in took.items():
        p99 = Baseline("bare HMGET of all bytes, p99", bare.p99 / 1000)
        p50 = Baseline("bare HMGET of all bytes, p50", bare.p50 / 1000)
        most = _P50_MS if kind.startswith("for a task") else _WITHOUT_TASK_MS
        yield Figure(f"{kind}, p99", latency.p99 / 1000, UNIT, at_most(_P99_MS), (p99,))
        yield Figure(f"{kind}, p50", latency.p50 / 1000, UNIT, at_most(most), (p50,))


def _handed_out(handed: Latency, before: Latency) -> Iterator[Figure]:
    """Measure the cost of keeping recalled memories fresh."""
    name = "the public call, memories handed out"
    p99 = Baseline("the same without reporting them, p99", before.p99 / 1000)
    p50 = Baseline("the same without reporting them, p50", before.p50 / 1000)
    yield Figure(f"{name}, p99", handed.p99 / 1000, UNIT, at_most(_P99_MS), (p99,))
    yield Figure(f"{name}, p50", handed.p50 / 1000, UNIT, None, (p50,))


def _of_many_tasks(name: str, answers: dict[str, dict[str, float]]) -> Iterator[Figure]:
    took = {kind: Latency(**latency) for kind, latency in answers.items()}
    alone, read = took["similar tasks alone"], took["for a task"]
    p99 = Baseline("finding similar past tasks alone, p99", alone.p99 / 1000)
    p50 = Baseline("finding similar past tasks alone, p50", alone.p50 / 1000)
    yield Figure(f"{name}, p99", read.p99 / 1000, UNIT, at_most(_P99_MS), (p99,))
    yield Figure(f"{name}, p50", read.p50 / 1000, UNIT, at_most(_P50_MS), (p50,))


def _check(reader: RankingsReader) -> None:
    advice = reader.cached(PROJECT).advice
    found = (0, 0, 0)
    if advice is not None:
        found = advice.runs, len(advice.patterns), len(advice.procedures)
    if found != (RUNS, _PATTERNS, PROCEDURES):
        message = f"the advice is incomplete: {found}"
        raise RuntimeError(message)


def learn_all(settings: Settings, client: redis.Redis, *, patterns: int = _PATTERNS) -> None:
    """Learn a project from outcomes, fill its cache, and count its advice, as a worker does.

    Args:
        settings: where to.
        client: its Redis.
        patterns: how many patterns the runs touch.
    """
    engine = connect_store(settings.effective_database_url)
    migrate(engine)
    now = time.time()
    with writing(engine) as connection:
        learn(
            connection,
            list(_outcomes(scorer_of(settings.rules), now, patterns)),
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
    Adviser(engine, client, settings).advise(PROJECT)
    engine.dispose()


def _outcomes(scorer: OutcomeScorer, now: float, patterns: int) -> Iterator[ScoredOutcome]:
    """Yield runs of distinct tasks: one call in eight fails, and one run in eight."""
    chance = random.Random(3)
    texts = task_texts(chance, RUNS)
    tools = [f"tool_{number}" for number in range(_TOOLS)]
    procedures = [chance.sample(tools, k=chance.randint(3, 8)) for _ in range(PROCEDURES)]
    for number, text in enumerate(texts):
        procedure = number % PROCEDURES
        body = encode_body(
            {
                "project": PROJECT,
                "task_id": f"task-{number}",
                "success": chance.random() > _FAILING,
                "instruction": text,
                "patterns": [f"keep module {number % patterns} small and cover it with tests"],
                "trigger": {
                    "signal": f"error {procedure % _TRIGGERS} in module {procedure % 17}",
                    "conditions": {"module": procedure % 17, "os": "linux"},
                },
                "tool_graph": [_call(chance, tool) for tool in procedures[procedure]],
            }
        )
        yield scorer.score(
            decode_outcome(body),
            body,
            received_at=now - RUNS + number,
            outcome_id=f"outcome-{number}",
        )


def _call(chance: random.Random, tool: str) -> dict[str, object]:
    call: dict[str, object] = {"tool": tool, "args": {"path": f"page-{chance.randrange(40)}.ts"}}
    if chance.random() > _FAILING:
        return call
    error = f"no such table as table {chance.randrange(50)}"
    return {**call, "ok": False, "error": error}
