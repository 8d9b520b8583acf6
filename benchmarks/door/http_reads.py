"""Reads over HTTP compared with Python calls, and a thousand readers while outcomes are learnt."""

import http.client
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import islice
from statistics import mean
from typing import Any, Self
from urllib.parse import urlencode

import redis

import trackrecord
from benchmarks.agent.rankings import PROJECT, RUNS, learn_all
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.served import CREDENTIAL, DOOR, Server, serving
from benchmarks.harness.servers import (
    REPOSITORY,
    bench_settings,
    running_redis,
    running_worker,
    stop,
    wait_until,
)
from benchmarks.harness.waking import waking
from benchmarks.workloads.workload import Planted, bodies
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store
from trackrecord_producers.delivery.stream_writer import send

_READERS = 1_000
_PAUSE_S = 1.0
_ALONE_S = 10.0
_MOST_TIMES = 2.0
_SHARE_OF_READS = 10
_TASK = "The login page rejects valid sessions after midnight; find out why and fix it"
_TIMEOUT_S = 600.0
_API = "/api/v1"
_PATTERNS = 5_000
_PATTERN = "keep-module-7-small-and-cover-it-with-tests"
_CHANGES = 20
_MOST_KB = 100.0
# What is shown after a change: the path, and at most how many milliseconds it may take.
_SHOWN = {
    "20 of 5,000 patterns": (f"{_API}/patterns?project={PROJECT}&limit=20", 20.0),
    "the page of patterns": (f"/patterns?project={PROJECT}", 20.0),
    "the page of a pattern": (f"/patterns/{_PATTERN}?project={PROJECT}", 100.0),
    "lessons": (f"{_API}/lessons?project={PROJECT}", 100.0),
    "the page of lessons": (f"/lessons?project={PROJECT}", 100.0),
    "the overview": (f"/?project={PROJECT}", 100.0),
}
_READ = f"{_API}/rankings?project={PROJECT}"


def measure(scale: Scale) -> Measured:
    """Ask the same questions of both by turns; then read and learn, each alone and together."""
    with bench_settings() as settings, running_redis(settings) as client:
        learn_all(settings, client, patterns=_PATTERNS)
        with serving(DOOR, settings) as door:
            shown = list(_after_changes(settings, door))
            took = _asked(settings, door, scale.reads // _SHARE_OF_READS)
            with running_worker(settings), waking(settings):
                loaded = list(_loaded(settings, client, door, scale.outcomes // 5))
    return Measured(
        f"a project with {RUNS:,} runs, {_PATTERNS:,} patterns and 100 memories; one "
        f"connection that is kept; {_READERS:,} readers, each asking for the rankings once in "
        f"{_PAUSE_S:g} s, the server on a core of its own, the worker, Redis and the readers on "
        "the others",
        (*shown, *_figures(took), *loaded),
    )


def _questions(settings: Settings) -> dict[str, tuple[str, Mapping[str, Any], Callable[[], Any]]]:
    """Return the questions: a path, its query, and the same in Python."""
    reader = RankingsReader(settings)
    at: dict[str, Any] = {"project": PROJECT}
    return {
        "rankings": ("/rankings", at, lambda: reader.read(project=PROJECT)),
        "rankings for a task": (
            "/rankings", {**at, "task": _TASK}, lambda: reader.read(project=PROJECT, task=_TASK)
        ),
        "20 runs": ("/runs", {**at, "limit": 20}, partial(trackrecord.list_runs, **at)),
        "20 memories": (
            "/memories", {**at, "limit": 20}, partial(trackrecord.list_memories, limit=20, **at)
        ),
        "one memory": (
            "/memories/memory-1", at, partial(trackrecord.show_memory, "memory-1", **at)
        ),
        "memories that fit a text": (
            "/recall", {**at, "text": "sessions expire"},
            partial(trackrecord.recall, "sessions expire", reset=False, **at),
        ),
        "lessons": ("/lessons", at, partial(trackrecord.list_lessons, **at)),
        "one pattern": (
            f"/patterns/{_PATTERN}", at, partial(trackrecord.show_pattern, _PATTERN, **at)
        ),
        "criteria": ("/criteria", at, partial(trackrecord.list_criteria, **at)),
    }  # fmt: skip


def _asked(settings: Settings, door: Server, count: int) -> dict[str, tuple[float, float]]:
    """Return the processor time of each read in milliseconds, over HTTP and in Python."""
    engine = connect_store(settings.effective_database_url)
    found = {}
    with (
        given_stores.within(ProjectStore(engine, settings, PROJECT)),
        closing(http.client.HTTPConnection(*door.address, timeout=_TIMEOUT_S)) as connection,
    ):
        for name, (path, query, call) in _questions(settings).items():
            get = partial(_get, connection, f"{_API}{path}?{urlencode(query)}")
            connection.close()  # the server has, while the calls before were timed
            over_http = _cost_ms(get, door.cpu_s, count)
            found[name] = over_http, _cost_ms(call, time.process_time, count)
    engine.dispose()
    return found


def _after_changes(settings: Settings, door: Server) -> Iterator[Figure]:
    """Yield the processor time of a list and of a page, each after a change, and their sizes."""
    connection = http.client.HTTPConnection(*door.address, timeout=_TIMEOUT_S)
    for name, (path, most_ms) in _SHOWN.items():
        get = partial(_get, connection, path)
        get()  # what is imported and opened once
        took, size = [], 0
        for _ in range(_CHANGES):
            _change(settings)
            before = door.cpu_s()
            size = len(get())
            took.append((door.cpu_s() - before) * 1000)
        asked = f"{name}, after each change"
        bare = _cost_ms(partial(_get, connection, "/health"), door.cpu_s, _CHANGES)
        yield Figure(
            f"{asked}, processor time of the server", mean(took), "ms", at_most(most_ms),
            (Baseline("/health", bare),),
        )  # fmt: skip
        yield Figure(f"{asked}, size", size / 1024, "KB", at_most(_MOST_KB))
    connection.close()


def _change(settings: Settings) -> None:
    """Change the project as an outcome does: whatever was kept of it is not shown again."""
    with closing(sqlite3.connect(settings.home / "trackrecord.db")) as store, store:
        store.execute("UPDATE projects SET revision = revision + 1")


def _cost_ms(ask: Callable[[], object], clock: Callable[[], float], count: int) -> float:
    ask()  # what is imported and opened once
    before = clock()
    for _ in range(count):
        ask()
    return (clock() - before) * 1000 / count


def _get(connection: http.client.HTTPConnection, path: str) -> bytes:
    connection.request("GET", path, headers=CREDENTIAL)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != http.client.OK:
        message = f"{path} was answered with {answer.status}: {body!r}"
        raise RuntimeError(message)
    return body


def _figures(took: Mapping[str, tuple[float, float]]) -> Iterator[Figure]:
    for name, (over_http, in_python) in took.items():
        yield Figure(
            f"{name}, processor time of the server", over_http, "ms",
            at_most(_MOST_TIMES * in_python), (Baseline("Python call", in_python),),
        )  # fmt: skip


def _loaded(
    settings: Settings, client: redis.Redis, door: Server, outcomes: int
) -> Iterator[Figure]:
    _learnt(settings, client, outcomes // 10)  # the worker has imported everything then
    alone = _learnt(settings, client, outcomes)
    with _Readers(settings, door) as readers:
        time.sleep(_ALONE_S)
        quiet = readers.result()
    with _Readers(settings, door) as readers:
        together = _learnt(settings, client, outcomes)
        read = readers.result()
    yield Figure(
        "learnt while they read", together, "outcomes/s", None, (Baseline("alone", alone),)
    )
    yield Figure(
        "reads while it learns", read["rate"], "reads/s", None, (Baseline("alone", quiet["rate"]),)
    )
    yield Figure(
        "a read while it learns, p99", read["p99_ms"], "ms", None,
        (Baseline("alone, p99", quiet["p99_ms"]),),
    )  # fmt: skip
    yield Figure("reads that failed", read["failed"] + quiet["failed"], "reads", at_most(0))
    yield Figure("memory of the server with a thousand connections", door.resident_mib(), "MiB")


class _Readers:
    """Readers in a process of their own, until their result is wanted."""

    def __init__(self, settings: Settings, door: Server) -> None:
        given = map(str, (*door.address, _READERS, _PAUSE_S))
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "benchmarks.children.http_readers", *given, _READ),
                CREDENTIAL["Authorization"],
            ],
            cwd=REPOSITORY,
            env={**os.environ, **settings.as_environment()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        self._process.stdout.readline()  # all of them read now
        return self

    def __exit__(self, *_: object) -> None:
        stop(self._process)

    def result(self) -> dict[str, float]:
        """End the reading; return how it went."""
        answer, _ = self._process.communicate(timeout=_TIMEOUT_S)
        found: dict[str, float] = json.loads(answer)
        return found


def _learnt(settings: Settings, client: redis.Redis, outcomes: int) -> float:
    """Return how many outcomes a second a worker learns that waits for them."""
    stream = settings.keys.outcomes
    seed = time.time_ns() % 2**32
    batch = list(islice(bodies(outcomes, seed=seed, planted=Planted()), outcomes))
    began = time.perf_counter()
    send(client, settings.keys, batch)
    ended = wait_until(
        lambda: not client.xlen(stream), what="all learnt", timeout_s=_TIMEOUT_S, every_s=0.02
    )
    return outcomes / (ended - began)
