"""Producers in processes of their own, which wait for a start signal."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.workloads.workload import Planted
from trackrecord.settings.settings import Settings

from .servers import REPOSITORY, stop


@dataclass(frozen=True)
class Sent:
    """The result of one producer.

    Attributes:
        seconds: from its first write until Redis had acknowledged everything.
        planted: the sums of its outcomes; empty for small ones.
    """

    seconds: float
    planted: Planted


class WaitingProcess:
    """A process that is ready for its work, and waits for a line to begin it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.next_line()

    def go(self) -> None:
        """Let it begin."""
        assert self._process.stdin is not None  # noqa: S101 - it was opened with a pipe
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def next_line(self) -> str:
        """Wait for what it says next, and return that."""
        assert self._process.stdout is not None  # noqa: S101 - it was opened with a pipe
        line = self._process.stdout.readline()
        if not line:
            message = f"{self._process.args!r} ended before it was done"
            raise RuntimeError(message)
        return line


class Producer(WaitingProcess):
    """A producer that has its outcomes ready."""

    def result(self) -> Sent:
        """Wait until it is done and return its result."""
        answer = json.loads(self.next_line())
        planted = answer["planted"]
        touches = Counter(planted.pop("touches"))
        return Sent(answer["seconds"], Planted(**planted, touches=touches))

    @property
    def has_ended(self) -> bool:
        """Return whether everything was sent."""
        return self._process.poll() is not None


@contextmanager
def talking(command: Sequence[str], settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """Start a process that is told and says lines, and yield it; it is stopped at the end."""
    with subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env={**os.environ, **settings.as_environment()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            stop(process)  # type: ignore[arg-type] # it reads text


@contextmanager
def producer(
    settings: Settings,
    count: int,
    *,
    seed: int,
    small: bool = False,
    per_second: int = 0,
    projects: int = 3,
    is_large: bool = False,
) -> Iterator[Producer]:
    """Start a producer with its outcomes ready, and yield it.

    Args:
        settings: the settings of the target.
        count: number of outcomes.
        seed: the seed of their content.
        small: small outcomes, made on the way.
        per_second: how fast they are sent; 0 for as fast as it goes.
        projects: how many projects they are of; small ones are of three.
        is_large: whether the projects have thousands of patterns and procedures.
    """
    command = [sys.executable, "-m", "benchmarks.children.producer", str(count), str(seed)]
    command += ["--per-second", str(per_second), "--projects", str(projects)]
    with talking(command + ["--small"] * small + ["--large"] * is_large, settings) as process:
        yield Producer(process)
