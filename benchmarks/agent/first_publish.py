"""The cost of a fresh process's first outcome, in time and in memory.

The processes load bytecode, as those of an installed package do: a process that compiles while it
imports takes longer, and more memory.
"""

import subprocess
import sys
import time
from statistics import median

from benchmarks.harness.bytecode import environment_with_bytecode
from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.percentiles import percentile
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, running_redis
from trackrecord.settings.settings import Settings

UNIT = "ms"
_FLOOR_MS = 2.0
_ATTEMPT_FLOOR_MS = 3.0
_IMPORT_FLOOR_MS = 100.0
_RSS_FLOOR_MB = 25.0
_RSS_PROCESSES = 5
_TIMEOUT_S = 60.0

_TIMED = """
import time
{before}
started = time.{clock}()
{work}
print((time.{clock}() - started) * 1000)
"""
_IMPORT = "import trackrecord"
_CALL = 'trackrecord.publish(task_id="task-1", success=True, duration_ms=81_000)'
_ATTEMPT = 'with trackrecord.attempt("task-1"):\n    pass'
_PUBLISH = f"{_IMPORT}\n{_CALL}"
# What trackrecord installs for an agent does not bring OpenTelemetry; redis imports its SDK where
# it is there, as in the environment of the developers.
_RESIDENT = """
import sys
sys.modules["opentelemetry"] = None
{work}
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024)
"""
_IMPORTS = "import celery, redis"
_SENT = f"{_PUBLISH}\nassert trackrecord.flush(30)"
_READ = f'{_SENT}\ntrackrecord.rankings(task="fix the build")'
_LIBRARIES = "import msgspec, platformdirs, redis"


def measure(scale: Scale) -> Measured:
    """Time imports and the first call inside fresh processes, and whole processes from outside."""
    with bench_settings() as settings, running_redis(settings):
        for work in (_READ, _IMPORTS):
            _run(settings, work)  # compiles what the others load
        calls = [_inside(settings, _CALL, before=_IMPORT) for _ in range(scale.processes)]
        attempts = [
            _inside(settings, _ATTEMPT, before=_IMPORT, clock="thread_time")
            for _ in range(scale.processes)
        ]
        own_imports = [_inside(settings, _IMPORT) for _ in range(scale.processes)]
        imports = [_inside(settings, _IMPORTS) for _ in range(scale.processes)]
        bare = _resident(settings, "pass")
        sent, read, libraries = (
            _resident(settings, work) - bare for work in (_SENT, _READ, _LIBRARIES)
        )
        whole = [_outside(settings, _PUBLISH) for _ in range(scale.processes)]
        nothing = [_outside(settings, "pass") for _ in range(scale.processes)]
    return Measured(
        f"{scale.processes} fresh processes of each kind, Redis up",
        (
            Figure("first publish(), median", median(calls), UNIT, at_most(_FLOOR_MS)),
            Figure(
                "first attempt, the agent's thread, processor time, median",
                median(attempts), UNIT, at_most(_ATTEMPT_FLOOR_MS),
            ),
            Figure(
                "import trackrecord, p99",
                percentile(own_imports, 0.99), UNIT, at_most(_IMPORT_FLOOR_MS),
                (Baseline("import celery, redis, p99", percentile(imports, 0.99)),),
            ),
            Figure(
                "import trackrecord, median",
                median(own_imports), UNIT, None,
                (Baseline("import celery, redis, median", median(imports)),),
            ),
            Figure(
                "memory of a process that has published, above a bare interpreter",
                sent, "MB", at_most(_RSS_FLOOR_MB),
                (Baseline(_LIBRARIES, libraries), Baseline("a bare interpreter", bare)),
            ),
            Figure(
                "memory of one that has read rankings as well",
                read, "MB", at_most(_RSS_FLOOR_MB),
            ),
            Figure(
                "the whole process, outcome in Redis, median",
                median(whole), UNIT, None, (Baseline("python -c pass, median", median(nothing)),),
            ),
        ),
    )  # fmt: skip


def _inside(
    settings: Settings, work: str, *, before: str = "", clock: str = "perf_counter"
) -> float:
    return float(_run(settings, _TIMED.format(work=work, before=before, clock=clock)))


def _resident(settings: Settings, work: str) -> float:
    code = _RESIDENT.format(work=work)
    return median(float(_run(settings, code)) for _ in range(_RSS_PROCESSES))


def _outside(settings: Settings, work: str) -> float:
    started = time.perf_counter()
    _run(settings, work)
    return (time.perf_counter() - started) * 1000


def _run(settings: Settings, code: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.home,
        env=environment_with_bytecode(settings),
        stdout=subprocess.PIPE,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    )
    return answer.stdout
