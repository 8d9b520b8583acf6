"""The cost of a `trackrecord up` that has nothing to do: memory, processor time, calls of Redis."""

import sys
import time

import psutil
import redis

from benchmarks.harness.figures import Baseline, Figure, Measured
from benchmarks.harness.scale import FULL, Scale
from benchmarks.harness.servers import bench_settings, child_process, wait_until
from trackrecord.settings.settings import load_settings

_SETTLE_S = 10.0
_WATCHED_S = 60.0
_QUICK_S = 10.0
_START_S = 60.0


def measure(scale: Scale) -> Measured:
    """Start it as a person does, leave it alone, and watch it."""
    watched_s = _WATCHED_S if scale is FULL else _QUICK_S
    with bench_settings() as bench:
        settings = load_settings(home=bench.home, http={"port": 0})
        command = (sys.executable, "-m", "trackrecord_cli", "up")
        log = settings.home / "up.log"
        with child_process(command, settings, log=log.name) as up:
            wait_until(
                lambda: "HTTP: " in log.read_text(), what="trackrecord up", timeout_s=_START_S
            )
            time.sleep(_SETTLE_S)
            own = psutil.Process(up.pid)
            every = [own, *own.children(recursive=True)]
            with redis.Redis(unix_socket_path=str(settings.embedded_redis_socket)) as client:
                before, calls_before = _cpu_s(every), _calls(client)
                time.sleep(watched_s)
                cpu_s, calls = _cpu_s(every) - before, _calls(client) - calls_before - 1
            pss = [each.memory_full_info().pss / 1024**2 for each in every]
            names = [each.name() for each in every]
    redis_mib = sum(size for size, name in zip(pss, names, strict=True) if "redis" in name)
    return Measured(
        f"{len(every)} processes, watched for {watched_s:.0f} s; memory is the proportional set "
        "size of all of them together",
        (
            Figure("memory", sum(pss), "MiB", None, (Baseline("its Redis alone", redis_mib),)),
            Figure("processor time", 100 * cpu_s / watched_s, "% of a core", None, ()),
            Figure("Redis", calls / watched_s, "commands/s", None, ()),
        ),
    )


def _cpu_s(processes: list[psutil.Process]) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in processes)


def _calls(client: redis.Redis) -> int:
    return int(client.info("stats")["total_commands_processed"])  # type: ignore[index]
