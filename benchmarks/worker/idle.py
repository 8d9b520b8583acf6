"""The cost of a `trackrecord up` that has nothing to do: memory, processor time, calls of Redis."""

import json
import sys
import time
from typing import Any, NamedTuple

import psutil
import redis

from benchmarks.harness.figures import Baseline, Figure, Measured
from benchmarks.harness.scale import FULL, Scale
from benchmarks.harness.servers import bench_settings, child_process, wait_until
from trackrecord.settings.settings import load_settings

_PROJECTS = 40
_SETTLE_S = 10.0
_WATCHED_S = 60.0
_QUICK_S = 10.0
_START_S = 60.0


class _Cost(NamedTuple):
    """The cost of all processes together, while they were watched."""

    mib: float
    redis_mib: float
    percent: float
    calls: float


def measure(scale: Scale) -> Measured:
    """Start it as a person does, leave it alone, and watch it; again with projects on record."""
    watched_s = _WATCHED_S if scale is FULL else _QUICK_S
    with bench_settings() as bench:
        settings = load_settings(home=bench.home, http={"port": 0})
        command = (sys.executable, "-m", "trackrecord_cli", "up")
        log = settings.home / "up.log"
        with child_process(command, settings, log=log.name) as up:
            wait_until(lambda: "HTTP: " in log.read_text(), what="up", timeout_s=_START_S)
            own = psutil.Process(up.pid)
            every = [own, *own.children(recursive=True)]
            with redis.Redis(unix_socket_path=str(settings.embedded_redis_socket)) as client:
                empty = _watch(every, client, watched_s)
                for number in range(_PROJECTS):
                    body = {"task_id": "t", "success": True, "project": f"p{number}"}
                    fields: dict[Any, Any] = {"v": "1", "body": json.dumps(body)}
                    client.xadd(settings.keys.outcomes, fields)
                full = _watch(every, client, watched_s)
    beside = f"with {_PROJECTS} projects"
    return Measured(
        f"{len(every)} processes, watched for {watched_s:.0f} s each time; memory is the "
        "proportional set size of all of them together",
        (
            Figure(
                "memory", empty.mib, "MiB", None,
                (Baseline(beside, full.mib), Baseline("its Redis alone", empty.redis_mib)),
            ),
            Figure(
                "processor time", empty.percent, "% of a core", None,
                (Baseline(beside, full.percent),),
            ),
            Figure("Redis", empty.calls, "commands/s", None, (Baseline(beside, full.calls),)),
        ),
    )  # fmt: skip


def _watch(every: list[psutil.Process], client: redis.Redis, seconds: float) -> _Cost:
    time.sleep(_SETTLE_S)
    cpu_s, calls = _cpu_s(every), _calls(client)
    time.sleep(seconds)
    cpu_s, calls = _cpu_s(every) - cpu_s, _calls(client) - calls - 1
    sizes = {each: each.memory_full_info().pss / 1024**2 for each in every}
    of_redis = sum(size for each, size in sizes.items() if "redis" in each.name())
    return _Cost(sum(sizes.values()), of_redis, 100 * cpu_s / seconds, calls / seconds)


def _cpu_s(processes: list[psutil.Process]) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in processes)


def _calls(client: redis.Redis) -> int:
    info: Any = client.info("stats")
    return int(info["total_commands_processed"])
