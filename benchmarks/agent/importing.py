"""Importing sessions: from the lines of transcripts to outcomes that are ready to be sent."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.harness.figures import Baseline, Figure, Measured, at_least, at_most
from benchmarks.harness.scale import Scale
from benchmarks.workloads.transcripts import write_sessions

UNIT = "MB/s"
_LEAST = 50.0
_MOST_MIB = 150.0
_MOST_S = 60.0
_MOST_AGAIN_S = 1.0
_MB = 1e6
_WHOLE_MB = 5000.0
# As many logs as 5 GB of half a megabyte each are.
_LOGS = 10_000
_AGENTS = ("claude-code", "codex")


def measure(scale: Scale) -> Measured:
    """Read generated sessions of each agent in a process of its own, and of both in several."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        sizes, alone_s = {}, 0.0
        for agent in _AGENTS:
            sessions = Path(folder) / agent
            sessions.mkdir()
            sizes[agent] = write_sessions(sessions, agent, int(scale.import_mb * _MB))
            told = _run("read_history", agent, str(sessions))
            alone_s += told["reading_s"]
            figures += _of_one(agent, sizes[agent], told)
        figures += _of_several(sum(sizes.values()) / _MB, folder, alone_s)
    figures.append(_again())
    return Measured(
        f"{scale.import_mb:g} MB of generated sessions of each shape, with verdicts and redaction, "
        "without sending; of one process the processor time on one core, of several what a clock "
        f"shows; 5 GB are reckoned from that, as every log is read for itself; {_LOGS} logs, read "
        "before, are looked for again",
        tuple(figures),
    )


def _of_one(agent: str, size: int, told: dict[str, float]) -> list[Figure]:
    decoding = Baseline("decoding each line with msgspec", size / _MB / told["decoding_s"])
    speed = size / _MB / told["reading_s"]
    return [
        Figure(f"{agent}, read to outcomes", speed, UNIT, at_least(_LEAST), (decoding,)),
        Figure(f"{agent}, peak memory", told["peak_mib"], "MiB", at_most(_MOST_MIB)),
    ]


def _of_several(size_mb: float, folder: str, alone_s: float) -> list[Figure]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    several = _run("read_logs", str(min(cores or 1, 8)), folder)
    alone = Baseline("in one process", _WHOLE_MB / size_mb * alone_s)
    whole_s = _WHOLE_MB / size_mb * several["reading_s"]
    name = f"5 GB of both, reckoned, {several['processes']:g} processes"
    return [
        Figure(name, whole_s, "s", at_most(_MOST_S), (alone,)),
        Figure("the caller's peak memory", several["peak_mib"], "MiB", at_most(2 * _MOST_MIB)),
    ]


def _again() -> Figure:
    told = _run("find_news", str(_LOGS))
    walking = Baseline("finding the files and their sizes", told["walking_s"])
    name = f"looking for news in {_LOGS} logs"
    return Figure(name, told["looking_s"], "s", at_most(_MOST_AGAIN_S), (walking,))


def _run(child: str, *arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", f"benchmarks.children.{child}", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told
