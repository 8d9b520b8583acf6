"""What a fresh process pays for its first outcome."""

import os
import subprocess
import sys
import time
from statistics import median

from trackrecord.settings import Settings

from .figures import Baseline, Figure, Measured, at_most
from .percentiles import percentile
from .scale import Scale
from .servers import bench_settings, running_redis

UNIT = "ms"
_FLOOR_MS = 100.0
_TIMEOUT_S = 60.0

_TIMED = """
import time
started = time.perf_counter()
{work}
print((time.perf_counter() - started) * 1000)
"""
_PUBLISH = """
import trackrecord
trackrecord.publish(task_id="task-1", success=True, duration_ms=81_000)
"""
_IMPORTS = "import celery, redis"


def measure(scale: Scale) -> Measured:
    """Time imports and the first call inside fresh processes, and whole processes from outside."""
    with bench_settings() as settings, running_redis(settings):
        inside = [_inside(settings, _PUBLISH) for _ in range(scale.processes)]
        imports = [_inside(settings, _IMPORTS) for _ in range(scale.processes)]
        whole = [_outside(settings, _PUBLISH) for _ in range(scale.processes)]
        nothing = [_outside(settings, "pass") for _ in range(scale.processes)]
    return Measured(
        f"{scale.processes} fresh processes of each kind, Redis up",
        (
            Figure(
                "import trackrecord + first publish(), p99",
                percentile(inside, 0.99), UNIT, at_most(_FLOOR_MS),
                (Baseline("import celery, redis, p99", percentile(imports, 0.99)),),
            ),
            Figure(
                "import trackrecord + first publish(), median",
                median(inside), UNIT, None,
                (Baseline("import celery, redis, median", median(imports)),),
            ),
            Figure(
                "the whole process, outcome in Redis, median",
                median(whole), UNIT, None, (Baseline("python -c pass, median", median(nothing)),),
            ),
        ),
    )  # fmt: skip


def _inside(settings: Settings, work: str) -> float:
    return float(_run(settings, _TIMED.format(work=work)))


def _outside(settings: Settings, work: str) -> float:
    started = time.perf_counter()
    _run(settings, work)
    return (time.perf_counter() - started) * 1000


def _run(settings: Settings, code: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.home,
        env={**os.environ, **settings.as_environment()},
        stdout=subprocess.PIPE,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    )
    return answer.stdout
