"""The cost of publish() for the agent, in each state of Redis."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.harness.asking import ask
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, running_redis
from trackrecord.settings.settings import Settings
from trackrecord_worker.app import broker_of

UNIT = "µs"
_P50 = 3.0
_P99 = 15.0
# A child process writes each outcome to the spool first.
_CHILD_P50 = 20.0
_CHILD_P99 = 100.0


class Lost(Exception):
    """Raised when outcomes did not arrive where they should, which makes the figure meaningless."""


@dataclass(frozen=True)
class _Call:
    """The durations of calls, in microseconds, and the fate of the outcomes."""

    p50: float
    p99: float
    longest: float
    after_pause: float
    stats: dict[str, Any] | None = None


def measure(scale: Scale) -> Measured:
    """Measure publish() with Redis up, refused and hung, each in a fresh process."""
    calls = scale.publish_calls
    with bench_settings() as settings:
        put = _timed(settings, "put_nowait", calls)
        refused = _published(_with_redis(settings, "redis://127.0.0.1:1"), calls, "spooled")
    with bench_settings() as settings, _hung_server() as url:
        hung = _published(_with_redis(settings, url), calls, "spooled")
    with bench_settings() as settings, running_redis(settings):
        up = _published(settings, calls, "sent")
        child = _published(settings, calls, "sent", kind="publish_in_child")
        xadd = _timed(settings, "xadd", scale.slow_calls, settings.effective_redis_url)
        delay = _timed(settings, "delay", scale.slow_calls, broker_of(settings)[0])
    return Measured(
        f"{calls:,} calls for each state of Redis, in bursts of 1,000 with 100 ms between, each "
        "call with 6 fields; none lost",
        (
            *_figures("Redis up", up, put),
            *_figures("Redis refuses", refused, put),
            *_figures("Redis hangs", hung, put),
            Figure("in a child process, p50", child.p50, UNIT, at_most(_CHILD_P50)),
            Figure("in a child process, p99", child.p99, UNIT, at_most(_CHILD_P99)),
            Figure("redis-py's XADD, p50", xadd.p50, UNIT),
            Figure("redis-py's XADD, p99", xadd.p99, UNIT),
            Figure("Celery's .delay(), p50", delay.p50, UNIT),
            Figure("Celery's .delay(), p99", delay.p99, UNIT),
        ),
    )


def _figures(state: str, call: _Call, put: _Call) -> Iterator[Figure]:
    baseline = "queue.put_nowait"
    yield Figure(f"{state}, p50", call.p50, UNIT, at_most(_P50), (Baseline(baseline, put.p50),))
    yield Figure(f"{state}, p99", call.p99, UNIT, at_most(_P99), (Baseline(baseline, put.p99),))
    yield Figure(f"{state}, longest", call.longest, UNIT)
    yield Figure(
        f"{state}, first after a pause, p50",
        call.after_pause,
        UNIT,
        baselines=(Baseline(baseline, put.after_pause),),
    )


def _published(settings: Settings, count: int, destination: str, *, kind: str = "publish") -> _Call:
    call = _timed(settings, kind, count)
    arrived = (call.stats or {})[destination]
    if arrived != count + 1:
        message = f"{arrived} of {count + 1} outcomes were {destination}: {call.stats}"
        raise Lost(message)
    return call


def _timed(settings: Settings, kind: str, count: int, *rest: str) -> _Call:
    return _Call(**ask(settings, "publish_calls", kind, str(count), *rest))


def _with_redis(settings: Settings, url: str) -> Settings:
    return Settings(**settings.model_dump(exclude_unset=True) | {"redis_url": url})


@contextmanager
def _hung_server() -> Iterator[str]:
    """Run a server that takes connections and never replies; yield its URL."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
