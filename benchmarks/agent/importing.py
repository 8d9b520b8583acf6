"""Importing sessions: from the lines of transcripts to outcomes that are ready to be sent."""

import json
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
_MB = 1e6
_AGENTS = ("claude-code", "codex")


def measure(scale: Scale) -> Measured:
    """Read generated sessions of each agent in a process of its own."""
    figures: list[Figure] = []
    for agent in _AGENTS:
        with tempfile.TemporaryDirectory() as folder:
            size = write_sessions(Path(folder), agent, int(scale.import_mb * _MB))
            told = _read(agent, folder)
        decoding = Baseline("decoding each line with msgspec", size / _MB / told["decoding_s"])
        speed = size / _MB / told["reading_s"]
        figures += [
            Figure(f"{agent}, read to outcomes", speed, UNIT, at_least(_LEAST), (decoding,)),
            Figure(f"{agent}, peak memory", told["peak_mib"], "MiB", at_most(_MOST_MIB)),
        ]
    return Measured(
        f"{scale.import_mb:g} MB of generated sessions of each shape, in one process on one core; "
        "processor time, with verdicts and redaction, without sending",
        tuple(figures),
    )


def _read(agent: str, folder: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.children.read_history", agent, folder]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told
