"""The metrics: a scrape of a store with many projects, and the memory of the front door."""

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import islice

import redis

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.served import CREDENTIAL, DOOR, Server, serving
from benchmarks.harness.servers import bench_settings, running_redis
from benchmarks.harness.timing import time_by_turns
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import learn
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import ScoredOutcome, scorer_of
from trackrecord_consolidation.run import consolidate_all
from trackrecord_worker.caching.refresh import RankingsRefresher

_PROJECTS = 200
_OUTCOMES = 50
_SCRAPES = 200
_SCRAPE_FLOOR_MS = 50.0
_IDLE_MEMORY_FLOOR_MIB = 80.0
_BATCH = 2_000
_TIMEOUT_S = 60.0
_EMPTY = ("-m", "benchmarks.baselines.empty_registry")


def measure(scale: Scale) -> Measured:
    """Scrape a front door and an empty registry by turns."""
    scrapes = min(scale.reads, _SCRAPES)
    with bench_settings() as settings, running_redis(settings) as client, ExitStack() as stack:
        _fill(settings, client)
        started_at = time.perf_counter()
        door = stack.enter_context(serving(DOOR, settings))
        asking_door = stack.enter_context(closing(_connection(door)))
        _get(asking_door, "/health")
        started_s, start_cpu_s = time.perf_counter() - started_at, door.cpu_s()
        idle_mib = door.resident_mib()
        lines = _get(asking_door, "/metrics").count(b"\n")
        scraped_mib = door.resident_mib()
        _get(asking_door, "/")
        viewed_mib = door.resident_mib()
        empty = stack.enter_context(serving(_EMPTY, settings))
        asking_empty = stack.enter_context(closing(_connection(empty)))
        before = door.cpu_s()
        took = time_by_turns(
            {
                "metrics": lambda: _get(asking_door, "/metrics"),
                "health": lambda: _get(asking_door, "/health"),
                "empty": lambda: _get(asking_empty, "/metrics"),
            },
            scrapes,
        )
        cpu_ms = (door.cpu_s() - before) / scrapes * 1000
        empty_mib = empty.resident_mib()
    of_empty, of_health = (
        Baseline("an empty registry", took["empty"].p50 / 1000),
        Baseline("/health", took["health"].p50 / 1000),
    )
    return Measured(
        f"{_PROJECTS} projects of {_OUTCOMES} outcomes, SQLite: {scrapes} scrapes of {lines:,} "
        "lines, one connection, the front door on one core",
        (
            Figure(
                "scrape, median", took["metrics"].p50 / 1000, "ms", at_most(_SCRAPE_FLOOR_MS),
                (of_empty, of_health),
            ),
            Figure(
                "scrape, 99th percentile", took["metrics"].p99 / 1000, "ms", None,
                (Baseline("an empty registry", took["empty"].p99 / 1000),),
            ),
            Figure("processor time of the front door, each scrape", cpu_ms, "ms"),
            Figure(
                "memory after /health", idle_mib, "MiB", at_most(_IDLE_MEMORY_FLOOR_MIB),
                (Baseline("an empty registry", empty_mib),),
            ),
            Figure("memory after one scrape", scraped_mib, "MiB"),
            Figure("memory after one page view, too", viewed_mib, "MiB"),
            Figure("processor time until /health is answered", start_cpu_s, "s"),
            Figure("time until /health is answered", started_s, "s"),
        ),
    )  # fmt: skip


def _connection(server: Server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(*server.address, timeout=_TIMEOUT_S)


def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path, headers=CREDENTIAL)
    return connection.getresponse().read()


def _fill(settings: Settings, client: redis.Redis) -> None:
    """Put projects on record in the worker's way, with records and cached rankings."""
    engine = connect_store(settings.effective_database_url)
    migrate(engine)
    scored = _scored(settings)
    while batch := list(islice(scored, _BATCH)):
        with writing(engine) as connection:
            learn(connection, batch, settings.rules, now=time.time())
    consolidate_all(engine, settings.competence, now=time.time(), actor="benchmark")
    RankingsRefresher(engine, client, settings).refresh_stale()
    engine.dispose()


def _scored(settings: Settings) -> Iterator[ScoredOutcome]:
    score: Callable[..., ScoredOutcome] = scorer_of(settings.rules).score
    for number in range(_PROJECTS * _OUTCOMES):
        fields = {
            "project": f"project-{number % _PROJECTS:03}",
            "task_id": f"t{number}",
            "success": number % 7 > 0,
            "patterns": ["Split by feature"],
            "tool_graph": [{"tool": "grep"}, {"tool": "edit"}],
        }
        body = json.dumps(fields).encode()
        yield score(decode_outcome(body), body, received_at=time.time(), outcome_id=f"o{number}")
