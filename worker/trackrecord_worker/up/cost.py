"""The cost of a running `trackrecord up`: its processes and their memory."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .home_lock import is_alive, noted_pids

_PROC = Path("/proc")
# A thread or a process ended while it was looked at; or the system has no such files.
_ENDED = (FileNotFoundError, ProcessLookupError, StopIteration)


class RunningCost(NamedTuple):
    """The cost of an `up` and of all that it started.

    Attributes:
        processes: how many these are; 0 where the system does not tell.
        memory_bytes: their memory, that which several share counted once (proportional set size).
    """

    processes: int
    memory_bytes: int

    def __str__(self) -> str:
        """Say it in a few words."""
        if not self.processes:
            return "runs"
        return f"{self.processes} processes, {self.memory_bytes / 1e6:.0f} MB of memory"


def running_cost(home: Path) -> RunningCost | None:
    """Return the cost of the `up` of a home; None if none runs."""
    up = noted_pids(home).get("up")
    if up is None or not is_alive(up):
        return None
    family, sizes = [up], []
    try:
        for pid in family:  # which grows meanwhile
            with suppress(*_ENDED):
                sizes.append(_memory_bytes(pid))
            with suppress(*_ENDED):
                for thread in (_PROC / str(pid) / "task").iterdir():
                    with suppress(*_ENDED):
                        family += map(int, (thread / "children").read_text().split())
    except OSError:  # another user
        return RunningCost(0, 0)
    return RunningCost(len(sizes), sum(sizes))


def _memory_bytes(pid: int) -> int:
    lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
