"""The cost of a `trackrecord up` that has nothing to do: memory, processor time, calls of Redis."""

import json
import sys
import time
from typing import Any, NamedTuple

import psutil
import redis

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.scale import FULL, Scale
from benchmarks.harness.servers import bench_settings, child_process, wait_until
from trackrecord.settings.settings import load_settings

_PROJECTS = 1_000
_SETTLE_S = 30.0
_WATCHED_S = 60.0
_QUICK_S = 10.0
_START_S = 60.0
# Advice of a thousand new projects is counted in short slices.
_ALL_COUNTED_S = 600.0
_LOOK_S = 5.0
_QUIET = 10.0
_MB = 1_000_000


class _Cost(NamedTuple):
    """The cost of all processes together, while they were watched."""

    processes: int
    mb: float
    redis_mb: float
    percent: float
    calls: float


def measure(scale: Scale) -> Measured:
    """Start it as a person does, leave it alone, and watch it: with one project, then with many."""
    watched_s = _WATCHED_S if scale is FULL else _QUICK_S
    with bench_settings() as bench:
        settings = load_settings(home=bench.home, http={"port": 0})
        command = (sys.executable, "-m", "trackrecord_cli", "up")
        log = settings.home / "up.log"
        with child_process(command, settings, log=log.name) as up:
            wait_until(lambda: "HTTP: " in log.read_text(), what="up", timeout_s=_START_S)
            with redis.Redis(unix_socket_path=str(settings.embedded_redis_socket)) as client:
                _publish(client, settings.keys.outcomes, 1)
                one = _watch(psutil.Process(up.pid), client, watched_s)
                _publish(client, settings.keys.outcomes, _PROJECTS)
                many = _watch(psutil.Process(up.pid), client, watched_s)
    beside = "with one project"
    return Measured(
        f"with {_PROJECTS:,} projects, watched for {watched_s:.0f} s; memory is the proportional "
        "set size of all processes together",
        (
            Figure(
                "processes", many.processes, "processes", at_most(4),
                (Baseline(beside, one.processes),),
            ),
            Figure(
                "memory", many.mb, "MB", at_most(175),
                (Baseline(beside, one.mb), Baseline("its Redis alone", many.redis_mb)),
            ),
            Figure(
                "processor time", many.percent, "% of a core", at_most(0.5),
                (Baseline(beside, one.percent),),
            ),
            Figure(
                "Redis", many.calls, "commands/s", at_most(8), (Baseline(beside, one.calls),)
            ),
        ),
    )  # fmt: skip


def _publish(client: redis.Redis, stream: str, projects: int) -> None:
    for number in range(projects):
        body = {"task_id": "t", "success": True, "project": f"p{number}"}
        fields: dict[Any, Any] = {"v": "1", "body": json.dumps(body)}
        client.xadd(stream, fields)


def _watch(up: psutil.Process, client: redis.Redis, seconds: float) -> _Cost:
    _wait_until_quiet(client)
    every = [up, *up.children(recursive=True)]
    cpu_s, calls = _cpu_s(every), _calls(client)
    time.sleep(seconds)
    cpu_s, calls = _cpu_s(every) - cpu_s, _calls(client) - calls - 1
    sizes = {each: each.memory_full_info().pss / _MB for each in every}
    of_redis = sum(
        size for each, size in sizes.items() if "redis" in each.name() or "valkey" in each.name()
    )
    return _Cost(len(every), sum(sizes.values()), of_redis, 100 * cpu_s / seconds, calls / seconds)


def _wait_until_quiet(client: redis.Redis) -> None:
    """Wait until everything is learnt and counted: until Redis is asked next to nothing."""
    deadline = time.monotonic() + _ALL_COUNTED_S
    quiet_s = 0.0
    while quiet_s < _SETTLE_S and time.monotonic() < deadline:
        before = _calls(client)
        time.sleep(_LOOK_S)
        quiet_s = quiet_s + _LOOK_S if (_calls(client) - before) / _LOOK_S < _QUIET else 0.0


def _cpu_s(processes: list[psutil.Process]) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in processes)


def _calls(client: redis.Redis) -> int:
    info: Any = client.info("stats")
    return int(info["total_commands_processed"])
