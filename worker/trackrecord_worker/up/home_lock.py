"""One `trackrecord up` in a home at a time: its lock, what runs behind it, and how it is stopped.

Its children hold the lock, too: one that outlives an `up` that was killed still learns.
"""

import contextlib
import fcntl
import os
import re
import signal
import time
from pathlib import Path
from typing import NamedTuple, TextIO

from trackrecord.errors import AlreadyRunning
from trackrecord.learning.text.times import iso
from trackrecord.process.folders import make_private_folder, open_private
from trackrecord.process.late_log import LateLog

_log = LateLog(__name__)

# Children of an `up` that was killed notice after a second, and then end within ten.
_ORPHANS_END_WITHIN_S = 20.0
# Each child has 30 seconds to finish its work.
_STOPS_WITHIN_S = 100.0
_LOOK_EVERY_S = 0.1
_PROC = Path("/proc")
# A thread or a process ended while it was looked at; or the system has no such files.
_ENDED = (FileNotFoundError, ProcessLookupError, StopIteration)


class RunningUp(NamedTuple):
    """The `up` that holds a home.

    Attributes:
        pids: the ids of its processes that live, by name; without "up" where that was killed, and
            its children are about to end.
        since: when it started, seconds since the epoch; 0.0 where that is not known.
    """

    pids: dict[str, int]
    since: float

    def __str__(self) -> str:
        """Name the processes."""
        return ", ".join(f"{name} {pid}" for name, pid in self.pids.items()) or "no id known"


class RunningCost(NamedTuple):
    """The cost of an `up` and of all that it started.

    Attributes:
        since: when it started, seconds since the epoch; 0.0 where that is not known.
        processes: how many these are; 0 where the system does not tell.
        memory_bytes: their memory, that which several share counted once (proportional set size).
    """

    since: float
    processes: int
    memory_bytes: int

    def __str__(self) -> str:
        """Say it in a few words."""
        runs = f"runs since {iso(self.since)}" if self.since else "runs"
        if not self.processes:
            return runs
        return f"{runs}, {self.processes} processes, {self.memory_bytes / 1e6:.0f} MB of memory"


def take_home(home: Path) -> TextIO:
    """Lock a home, making it if missing; wait for the children of an `up` that was killed.

    Raises:
        AlreadyRunning: another `up` runs in it; the message names the running processes.
    """
    make_private_folder(home)
    lock = open_private(home / "up.lock")
    deadline = time.monotonic() + _ORPHANS_END_WITHIN_S
    has_said = False
    while not _is_free(lock):
        running = _noted(lock)
        if "up" in running.pids or time.monotonic() > deadline:
            lock.close()
            message = (
                f"trackrecord is already running in {home} ({running}); stop it first with "
                "`trackrecord down`, or set another TRACKRECORD_HOME"
            )
            raise AlreadyRunning(message)
        if not has_said:
            _log.warning("waiting_for_orphans", effect="an earlier `up` was killed", **running.pids)
            has_said = True
        time.sleep(_LOOK_EVERY_S)
    _write(lock, f"up {os.getpid()}; since {time.time():.0f}\n")
    return lock


def note_pids(lock: TextIO, pids: dict[str, int]) -> None:
    """Write the ids of the processes that hold the lock into it, unless the disk is full."""
    names = ", ".join(f"{name} {pid}" for name, pid in pids.items())
    _write(lock, f"{names}; since {_noted(lock).since:.0f}\n")


def running_up(home: Path) -> RunningUp | None:
    """Return what holds the lock of a home; None if nothing runs there.

    Raises:
        OSError: the home is another user's.
    """
    with contextlib.suppress(FileNotFoundError), (home / "up.lock").open() as lock:
        return None if _is_free(lock, fcntl.LOCK_SH) else _noted(lock)
    return None


def stop_up(home: Path) -> RunningUp | None:
    """Have the `up` of a home end in order, and wait for it; return what ran, None for nothing.

    Raises:
        AlreadyRunning: it still runs after all the time that it may take.
        OSError: the home is another user's.
    """
    found, told = None, 0
    deadline = time.monotonic() + _STOPS_WITHIN_S
    while (running := running_up(home)) is not None:
        up = running.pids.get("up", told)
        if up != told:
            found, told = running, up
            with contextlib.suppress(ProcessLookupError):
                os.kill(up, signal.SIGTERM)
        if time.monotonic() > deadline:
            message = f"trackrecord still runs in {home} ({running}), though it was told to stop"
            raise AlreadyRunning(message)
        time.sleep(_LOOK_EVERY_S)
    return found


def running_cost(home: Path) -> RunningCost | None:
    """Return the cost of the `up` of a home; None if none runs."""
    running = None
    with contextlib.suppress(OSError):
        running = running_up(home)
    if running is None or "up" not in running.pids:
        return None
    family, sizes = [running.pids["up"]], []
    try:
        for pid in family:  # which grows meanwhile
            with contextlib.suppress(*_ENDED):
                sizes.append(_memory_bytes(pid))
            with contextlib.suppress(*_ENDED):
                for thread in (_PROC / str(pid) / "task").iterdir():
                    with contextlib.suppress(*_ENDED):
                        family += map(int, (thread / "children").read_text().split())
    except OSError:  # another user
        return RunningCost(running.since, 0, 0)
    return RunningCost(running.since, len(sizes), sum(sizes))


def _memory_bytes(pid: int) -> int:
    lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _is_free(lock: TextIO, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock; return whether no other process has it."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(lock: TextIO, text: str) -> None:
    with contextlib.suppress(OSError):
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), text.encode())  # unbuffered: nothing is left to be written later


def _noted(lock: TextIO) -> RunningUp:
    lock.seek(0)
    names, _, since = lock.read(200).partition("; since ")
    pids = {name: int(pid) for name, pid in re.findall(r"(\w+) (\d+)", names)}
    lives = {name: pid for name, pid in pids.items() if _is_alive(pid)}
    return RunningUp(lives, float(since.strip() or 0))


def _is_alive(pid: int) -> bool:
    """Return whether a process with this id runs, whichever user owns it."""
    try:
        with contextlib.suppress(PermissionError):
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
