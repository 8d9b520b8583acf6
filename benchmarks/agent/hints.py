"""Measure a failing call: how long the front door takes, and how long the agent waits."""

import json
import sys
import time
from collections.abc import Iterator
from math import ceil
from statistics import median

import redis

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.percentiles import percentile
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, child_process, running_redis, wait_until
from benchmarks.harness.small_programs import Program, timed_runs
from trackrecord.learning.advice.moments.facts import KnownFailure, MomentDocument, MomentFacts
from trackrecord.prompt.documents.advice_document import AdviceDocument
from trackrecord.prompt.reading.cache import read_moments_stamp, write_advice
from trackrecord.settings.settings import Settings
from trackrecord.testing import captured
from trackrecord_capture.agents.door_address import find_door
from trackrecord_capture.agents.runtime import hook_command, write_runtime
from trackrecord_capture.live.opening import live_of

PROJECT = "failing"
_KEYS = 25_000
_DOOR_FLOOR_MS = 1.0
_HOOK_FLOOR_MS = 100.0
_CPU_FLOOR_MS = 25.0
_BARE = "python -I -S -c pass"
_HOOK = "an agent waits at a failure"
_ERROR = "error: unrecognized subcommand 'go'"
# Of so many failures one is told something.
_ONE_TOLD_IN = 10


def measure(scale: Scale) -> Measured:
    """Answer failures of a project with many known ones, in the door and through the hook."""
    calls, runs = max(200, scale.slow_calls), max(20, scale.slow_calls // 5)
    with bench_settings() as settings, running_redis(settings) as client:
        _fill(client, settings)
        with captured():
            door, worked, asking = _door(settings, client, calls)
        write_runtime(settings.home)
        command = ["/bin/sh", "-c", hook_command(settings.home, "claude-code")]
        programs = {
            _HOOK: Program(command, _event("session-@", 7)),
            _BARE: Program([sys.executable, "-I", "-S", "-c", "pass"]),
        }
        served = [sys.executable, "-m", "trackrecord_door"]
        changed = settings.model_copy(update={"http": type(settings.http)(port=0)})
        with child_process(served, changed, log="door.log"):
            wait_until(
                lambda: find_door(settings.home) is not None,
                what="the front door", timeout_s=60.0,
            )  # fmt: skip
            found = timed_runs(settings, programs, runs)
    hook = percentile([each.wall_ms for each in found[_HOOK]], 0.99)
    bare = percentile([each.wall_ms for each in found[_BARE]], 0.99)
    cpu, bare_cpu = (median(each.cpu_ms for each in found[name]) for name in (_HOOK, _BARE))
    return Measured(
        f"{calls} failures of a project of {_KEYS} keys, one in {_ONE_TOLD_IN} told; {runs} hooks",
        (
            Figure(
                "the front door answers a failure, p99", percentile(door, 0.99), "ms",
                at_most(2 * _DOOR_FLOOR_MS), (Baseline("one question to Redis", asking),),
            ),
            Figure(
                "processor time of that, p99", percentile(worked, 0.99), "ms",
                at_most(_DOOR_FLOOR_MS),
            ),
            Figure(
                f"{_HOOK}, p99", hook, "ms", at_most(_HOOK_FLOOR_MS),
                (Baseline(f"{_BARE}, p99", bare),),
            ),
            Figure(
                f"{_HOOK}, processor time of its program, median", cpu, "ms",
                at_most(_CPU_FLOOR_MS), (Baseline(_BARE, bare_cpu),),
            ),
        ),
    )  # fmt: skip


def _fill(client: redis.Redis, settings: Settings) -> None:
    failures = {
        f"line make step-{number} go": (
            KnownFailure(
                says=f"make step-{number} go", sessions=5, since=1.0, last_at=2.0, error=_ERROR,
                template="error: unrecognized subcommand <text>",
            ),
        )
        for number in range(_KEYS)
    }  # fmt: skip
    document = MomentDocument(repositories={"": MomentFacts(failures=failures)})
    advice = AdviceDocument(project=PROJECT, revision=1, computed_at=1.0)
    write_advice(client, settings, advice, cost_s=0.0, moments=document)


def _door(
    settings: Settings, client: redis.Redis, calls: int
) -> tuple[list[float], list[float], float]:
    """Return the milliseconds and processor time of each answer, and of a question to Redis."""
    live = live_of(settings)
    live.hook("claude-code", _event("first", 0).encode())
    took, worked, told = [], [], 0
    for body in _bodies(calls):
        began, busy = time.perf_counter(), time.thread_time()
        told += live.hook("claude-code", body) is not None
        worked.append((time.thread_time() - busy) * 1000)
        took.append((time.perf_counter() - began) * 1000)
    if told != ceil(calls / _ONE_TOLD_IN):
        message = f"{told} of {calls} failures were told something"
        raise RuntimeError(message)
    asked = []
    for _ in range(calls):
        began = time.perf_counter()
        read_moments_stamp(client, settings, PROJECT)
        asked.append((time.perf_counter() - began) * 1000)
    return took, worked, percentile(asked, 0.99)


def _bodies(calls: int) -> Iterator[bytes]:
    for number in range(calls):
        known = number if number % _ONE_TOLD_IN == 0 else _KEYS + number
        yield _event(f"session-{number}", known).encode()


def _event(session: str, step: int) -> str:
    return json.dumps(
        {
            "session_id": session,
            "cwd": f"/src/{PROJECT}",
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_use_id": "toolu_0001",
            "tool_input": {"command": f"make step-{step} go"},
            "error": "Exit code 2\n" + "make: entering\n" * 20 + _ERROR,
        }
    )
