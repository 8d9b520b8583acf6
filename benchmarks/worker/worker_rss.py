"""A worker's memory: it does not grow from many outcomes to very many."""

import time
from collections.abc import Iterator

import psutil
import redis

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.producing import producer
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import (
    bench_settings,
    child_process,
    running_redis,
    running_worker,
    wait_until,
)
from trackrecord.prompt.reading.cache import cached_advice
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.outcomes.projects import project_revisions
from trackrecord_worker.up.daemon import beat_command

UNIT = "MiB"
_GROWTH = 10.0
_WARM_UP = 100
_TIMEOUT_S = 400.0


def measure(scale: Scale) -> Measured:
    """Feed one worker process, and measure its idle memory early and late."""
    with (
        bench_settings() as settings,
        running_redis(settings) as client,
        running_worker(settings) as worker,
        child_process(beat_command(settings), settings, log="beat.log"),
    ):
        sizes = list(_sizes(scale, settings, client, worker.pid))
    idle, early, late = sizes
    return Measured(
        f"one worker process (its parent apart), SQLite, small outcomes: RSS after {_WARM_UP}, "
        f"{scale.memory_first:,} and {scale.memory_last:,} of them",
        (
            Figure("growth from early to late", (late / early - 1) * 100, "%", at_most(_GROWTH)),
            Figure(
                f"after {scale.memory_last:,}", late, UNIT, None,
                (
                    Baseline(f"after {scale.memory_first:,}", early),
                    Baseline(f"idle, after {_WARM_UP}", idle),
                ),
            ),
        ),
    )  # fmt: skip


def _sizes(scale: Scale, settings: Settings, client: redis.Redis, pid: int) -> Iterator[float]:
    done = 0
    for number, upto in enumerate((_WARM_UP, scale.memory_first, scale.memory_last)):
        _feed(settings, client, upto - done, seed=10 + number)
        done = upto
        wait_until(
            lambda: _all_is_advised(settings, client),
            what="advice that knows all runs",
            timeout_s=_TIMEOUT_S,
            every_s=0.2,
        )
        yield _resident(pid)


def _all_is_advised(settings: Settings, client: redis.Redis) -> bool:
    engine = connect_store(settings.effective_database_url)
    with reading(engine) as connection:
        revisions = project_revisions(connection)
    engine.dispose()
    known = cached_advice(client, settings, list(revisions), now=time.time())
    return all(
        project in known and known[project].revision == revision
        for project, revision in revisions.items()
    )


def _feed(settings: Settings, client: redis.Redis, count: int, *, seed: int) -> None:
    with producer(settings, count, seed=seed, small=True) as ready:
        ready.go()
        ready.result()
        wait_until(
            lambda: client.xlen(settings.keys.outcomes) == 0,
            what="an empty stream",
            timeout_s=_TIMEOUT_S,
            every_s=0.05,
        )


def _resident(pid: int) -> float:
    children = psutil.Process(pid).children(recursive=True)
    if len(children) != 1:
        message = f"one worker process was expected, there are {len(children)}"
        raise RuntimeError(message)
    size: int = children[0].memory_info().rss
    return size / 1024**2
