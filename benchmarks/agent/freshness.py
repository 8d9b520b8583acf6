"""From publish() to a visible change in the rankings, through real processes."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from benchmarks.baselines.ping_pong import ping_pong
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.percentiles import percentile
from benchmarks.harness.producing import producer
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, wait_until
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.redis.client import worker_client
from trackrecord.settings.settings import Settings
from trackrecord_producers.publishing.publisher import Publisher
from trackrecord_worker.up.daemon import Daemon

UNIT = "s"
PROJECT = "fresh"
_FLOOR_S = 1.5
_TIMEOUT_S = 30.0
_POLL_S = 0.005
# Between two samples, so that they fall anywhere in the beat's second.
_PAUSE_S = 0.4
_LOAD_PER_S = 2_000
_MOST_S_PER_SAMPLE = 3.0

_numbers = count(1)


def measure(scale: Scale) -> Measured:
    """Watch new patterns appear, idle and under load."""
    samples = scale.freshness_samples
    with bench_settings() as settings, _daemon(settings):
        with worker_client(settings) as client:
            bare = [ping_pong(client) for _ in range(samples)]
        watch = _Watch(settings)
        watch.sample()
        idle = [watch.sample() for _ in range(samples)]
        with _load(settings, samples):
            loaded = [watch.sample() for _ in range(samples)]
    return Measured(
        f"{samples} new patterns idle, {samples} under {_LOAD_PER_S:,} outcomes/s; a daemon with "
        "1 worker process and beat; the rankings polled every 5 ms",
        (*_figures("idle", idle, bare), *_figures("under load", loaded, bare)),
    )


def _figures(state: str, took: list[float], bare: list[float]) -> Iterator[Figure]:
    p99, p50 = percentile(bare, 0.99), percentile(bare, 0.50)
    name = "bare XADD → XREAD"
    yield Figure(
        f"{state}, p99", percentile(took, 0.99), UNIT, at_most(_FLOOR_S),
        (Baseline(f"{name}, p99", p99),),
    )  # fmt: skip
    yield Figure(
        f"{state}, p50", percentile(took, 0.50), UNIT, None, (Baseline(f"{name}, p50", p50),)
    )
    yield Figure(f"{state}, longest", max(took), UNIT)


class _Watch:
    """Publish new patterns, and wait until they are recommended."""

    def __init__(self, settings: Settings) -> None:
        self._publisher = Publisher(lambda: settings)
        self._reader = RankingsReader(settings)
        self._chance = random.Random(5)

    def sample(self) -> float:
        """Return the seconds from before publish() until the rankings show a new pattern."""
        time.sleep(self._chance.uniform(0, _PAUSE_S))
        number = next(_numbers)
        content = f"sample {number}"
        started = time.perf_counter()
        self._publisher.publish(
            {
                "project": PROJECT,
                "task_id": f"task-{number}",
                "success": True,
                "patterns": [content],
            }
        )
        seen = wait_until(
            lambda: self._shows(content), what=content, timeout_s=_TIMEOUT_S, every_s=_POLL_S
        )
        return seen - started

    def _shows(self, content: str) -> bool:
        rankings = self._reader.read(project=PROJECT, budget=None)
        return any(each.content == content for each in rankings.patterns)


@contextmanager
def _daemon(settings: Settings) -> Iterator[None]:
    with (settings.home / "daemon.log").open("ab") as log, Daemon(settings, log=log):
        yield


@contextmanager
def _load(settings: Settings, samples: int) -> Iterator[None]:
    """Publish outcomes from another process for as long as the samples may take."""
    outcomes = int(samples * _MOST_S_PER_SAMPLE * _LOAD_PER_S)
    with producer(settings, outcomes, seed=6, per_second=_LOAD_PER_S) as ready:
        ready.go()
        yield
        if ready.has_ended:
            message = "the load ended before the samples did"
            raise RuntimeError(message)
