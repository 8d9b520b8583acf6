"""Small programs, with their time and memory: those that an agent's hooks start."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from trackrecord.settings.settings import Settings

_CHILD = Path(__file__).parents[1] / "children" / "timed_runs.py"
_TIMEOUT_S = 600.0


class Program(NamedTuple):
    """A program and its input; `@` is replaced by the number of the run."""

    command: Sequence[str]
    text: str = ""


class Run(NamedTuple):
    """One run: processor time and wall-clock time in milliseconds, memory in MB."""

    cpu_ms: float
    wall_ms: float
    rss_mb: float


def timed_runs(
    settings: Settings, programs: Mapping[str, Program], count: int
) -> dict[str, list[Run]]:
    """Run each program so many times, in turn."""
    answer = subprocess.run(
        [sys.executable, "-I", "-S", str(_CHILD)],
        input=json.dumps({"programs": programs, "count": count}).encode(),
        env={**os.environ, **settings.as_environment()},
        stdout=subprocess.PIPE,
        timeout=_TIMEOUT_S,
        check=True,
    )
    return {name: [Run(*each) for each in runs] for name, runs in json.loads(answer.stdout).items()}
