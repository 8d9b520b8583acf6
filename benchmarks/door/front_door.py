"""The front door: the spans per second on one core, and its cost while idle."""

import http.client
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import redis

from benchmarks.harness.figures import Baseline, Figure, Measured, at_least, at_most
from benchmarks.harness.scale import Scale
from benchmarks.harness.served import CREDENTIAL, DOOR, Server, serving
from benchmarks.harness.servers import bench_settings, running_redis, wait_until
from benchmarks.workloads.traced_runs import SPANS_OF_RUN, batches
from trackrecord.settings.settings import Settings

_BATCH = 512
_RATE_FLOOR = 5_000.0
_MEMORY_FLOOR_MIB = 200.0
_IDLE_MEMORY_FLOOR_MIB = 80.0
_IDLE_S = 20.0
_TIMEOUT_S = 600.0
_HEADERS = {"Content-Type": "application/x-protobuf", **CREDENTIAL}
_BARE = ("-m", "benchmarks.baselines.bare_server")


@dataclass(frozen=True)
class _Posted:
    """The result of posting everything: spans a second, and the most memory meanwhile."""

    rate: float
    most_mib: float


def measure(scale: Scale) -> Measured:
    """Post the same batches to the front door and to a server that only reads them."""
    spans = scale.traced_runs * SPANS_OF_RUN
    bodies = list(batches(scale.traced_runs, _BATCH, now_ns=time.time_ns()))
    with bench_settings() as settings:
        with running_redis(settings) as client, serving(DOOR, settings) as door:
            idle_mib, idle_cpu_s = _idle(door)
            posted = _post(door, bodies, spans)
            began = time.perf_counter()
            published = wait_until(
                lambda: _published(client, settings) >= scale.traced_runs,
                what="all runs published",
                timeout_s=_TIMEOUT_S,
                every_s=0.1,
            )
            late_s = published - began
            most_mib = max(posted.most_mib, door.resident_mib())
        with serving(_BARE, settings) as bare:
            bare_idle_mib, bare_idle_cpu_s = _idle(bare)
            bare_posted = _post(bare, bodies, spans)
    return Measured(
        f"{spans:,} spans of {scale.traced_runs:,} runs in batches of {_BATCH} "
        f"({len(bodies[0]) / 1024:.0f} KiB, protobuf), one connection, the server on one core; "
        "baseline: uvicorn that reads and answers 200",
        (
            Figure(
                "spans taken, durable when answered", posted.rate, "spans/s",
                at_least(_RATE_FLOOR), (Baseline("bare uvicorn", bare_posted.rate),),
            ),
            Figure("last run published after the last answer", late_s, "s"),
            Figure(
                "most memory", most_mib, "MiB", at_most(_MEMORY_FLOOR_MIB),
                (Baseline("bare uvicorn", bare_posted.most_mib),),
            ),
            Figure(
                "memory while idle", idle_mib, "MiB", at_most(_IDLE_MEMORY_FLOOR_MIB),
                (Baseline("bare uvicorn", bare_idle_mib),),
            ),
            Figure(
                "processor time while idle", idle_cpu_s, "s/min", None,
                (Baseline("bare uvicorn", bare_idle_cpu_s),),
            ),
        ),
    )  # fmt: skip


def _idle(server: Server) -> tuple[float, float]:
    """Return the memory and the processor time per minute of an idle server."""
    with closing(http.client.HTTPConnection(*server.address, timeout=_TIMEOUT_S)) as connection:
        connection.request("GET", "/health", headers=CREDENTIAL)  # it answers once it has started
        connection.getresponse().read()
    before = server.cpu_s()
    time.sleep(_IDLE_S)
    return server.resident_mib(), (server.cpu_s() - before) * 60 / _IDLE_S


def _post(server: Server, bodies: Sequence[bytes], spans: int) -> _Posted:
    most = 0.0
    with closing(http.client.HTTPConnection(*server.address, timeout=_TIMEOUT_S)) as connection:
        began = time.perf_counter()
        for body in bodies:
            _post_one(connection, body)
            most = max(most, server.resident_mib())
        seconds = time.perf_counter() - began
    return _Posted(spans / seconds, most)


def _post_one(connection: http.client.HTTPConnection, body: bytes) -> None:
    """Post a batch as an exporter does: again after a while when the server asks for it."""
    while True:
        connection.request("POST", "/v1/traces", body, _HEADERS)
        answer = connection.getresponse()
        rest = answer.read()
        if answer.status == http.client.OK and not rest:
            return
        if answer.status != http.client.SERVICE_UNAVAILABLE:
            message = f"a batch was answered with {answer.status}: {rest!r}"
            raise RuntimeError(message)
        time.sleep(float(answer.headers["Retry-After"]))


def _published(client: redis.Redis, settings: Settings) -> int:
    count: int = client.xlen(settings.keys.outcomes)
    return count
