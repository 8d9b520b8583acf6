"""Measure how long an agent waits for its injected text, from the hook's start to its end."""

import shutil
import sys
from pathlib import Path

from benchmarks.harness.figures import Baseline, Figure, Measured, at_most
from benchmarks.harness.percentiles import percentile
from benchmarks.harness.scale import Scale
from benchmarks.harness.servers import bench_settings, child_process, running_redis, wait_until
from benchmarks.harness.small_programs import Program, timed_runs
from benchmarks.workloads.advised_documents import advised_documents
from trackrecord.prompt.reading.cache import write_advice, write_document
from trackrecord_capture.agents.door_address import find_door
from trackrecord_capture.agents.runtime import TOLD, hook_command, runtime_folder, write_runtime

from .hook import event_text

UNIT = "ms"
PROJECT = "advised"
_FLOOR_MS = 300.0
_AWAY_FLOOR_MS = 1000.0
_SHORTEST = 200
_BARE = "python -I -S -c pass"
_START = "a session starts"
_PROMPT = "the first prompt"
_TASK = "The login page rejects valid sessions after midnight; find out why and fix it"


def measure(scale: Scale) -> Measured:
    """Start the hook in new sessions, with a front door that has a full cache, and without."""
    count = scale.slow_calls // 5
    with bench_settings() as settings, running_redis(settings) as client:
        rankings, advice = advised_documents(PROJECT)
        write_document(client, settings, rankings)
        write_advice(client, settings, advice, cost_s=0.0)
        write_runtime(settings.home)
        programs = {_BARE: Program([sys.executable, "-I", "-S", "-c", "pass"])}
        for name, event, agent in (
            (_START, "SessionStart", "claude-code"),
            (_PROMPT, "UserPromptSubmit", "codex"),
        ):
            text = event_text(event, folder=f"/src/{PROJECT}", prompt=_TASK)
            command = ["/bin/sh", "-c", hook_command(settings.home, agent)]
            programs[name] = Program(command, text)
        door = [sys.executable, "-m", "trackrecord_door"]
        changed = settings.model_copy(update={"http": type(settings.http)(port=0)})
        with child_process(door, changed, log="door.log"):
            wait_until(
                lambda: find_door(settings.home) is not None,
                what="the front door", timeout_s=60.0,
            )  # fmt: skip
            runs = timed_runs(settings, programs, count)
        told = runtime_folder(settings.home) / TOLD
        _check(list(told.iterdir()), expected=2 * count)
        # As after a crash: the socket is there, and nobody listens on it.
        shutil.rmtree(told)
        away = timed_runs(settings, programs, count)
    bare = (Baseline(f"{_BARE}, p99", percentile([one.wall_ms for one in runs[_BARE]], 0.99)),)
    figures = [
        Figure(
            f"{name}{where}, p99",
            percentile([one.wall_ms for one in found[name]], 0.99), UNIT, at_most(service), bare,
        )
        for where, found, service in (
            ("", runs, _FLOOR_MS),
            (", the front door closed", away, _AWAY_FLOOR_MS),
        )
        for name in (_START, _PROMPT)
    ]  # fmt: skip
    return Measured(
        f"{count} new sessions of each kind; a project with a full cache",
        tuple(figures),
    )


def _check(marks: list[Path], *, expected: int) -> None:
    """Check that each session was given a text."""
    told = sum(each.stat().st_size > _SHORTEST for each in marks)
    if told != expected:
        message = f"{told} of {expected} sessions were told something"
        raise RuntimeError(message)
