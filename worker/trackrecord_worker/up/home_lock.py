"""One `trackrecord up` in a home at a time.

Its children hold the lock, too: one that outlives an `up` that was killed still learns.
"""

import contextlib
import fcntl
import os
import re
import time
from pathlib import Path
from typing import TextIO

from trackrecord.errors import AlreadyRunning
from trackrecord.process.folders import make_private_folder, open_private
from trackrecord.process.late_log import LateLog


def is_alive(pid: int) -> bool:
    """Return whether a process with this id runs, whichever user owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


_log = LateLog(__name__)

# Children of an `up` that was killed notice after a second, and then end within ten.
_ORPHANS_END_WITHIN_S = 20.0


def take_home(home: Path) -> TextIO:
    """Lock a home, making it if missing; wait for the children of an `up` that was killed.

    Raises:
        AlreadyRunning: another `up` runs in it; the message names the running processes.
    """
    make_private_folder(home)
    lock = open_private(home / "up.lock")
    deadline = time.monotonic() + _ORPHANS_END_WITHIN_S
    has_said = False
    while not _is_ours(lock):
        pids = {name: pid for name, pid in _noted(lock).items() if is_alive(pid)}
        if "up" in pids or time.monotonic() > deadline:
            lock.close()
            raise AlreadyRunning(_refusal(home, pids))
        if not has_said:
            _log.warning("waiting_for_orphans", effect="an earlier `up` was killed", **pids)
            has_said = True
        time.sleep(0.1)
    return lock


def note_pids(lock: TextIO, pids: dict[str, int]) -> None:
    """Write the ids of the processes that hold the lock into it, unless the disk is full."""
    text = ", ".join(f"{name} {pid}" for name, pid in pids.items()) + "\n"
    with contextlib.suppress(OSError):
        os.ftruncate(lock.fileno(), 0)
        os.write(lock.fileno(), text.encode())  # unbuffered: nothing is left to be written later


def noted_pids(home: Path) -> dict[str, int]:
    """Return the ids of the processes that hold a home, or held it last, by name."""
    with contextlib.suppress(OSError), (home / "up.lock").open() as lock:
        return _noted(lock)
    return {}


def _is_ours(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _noted(lock: TextIO) -> dict[str, int]:
    lock.seek(0)
    return {name: int(pid) for name, pid in re.findall(r"(\w+) (\d+)", lock.read(200))}


def _refusal(home: Path, pids: dict[str, int]) -> str:
    running = ", ".join(f"{name} {pid}" for name, pid in pids.items()) or "no process id known"
    return (
        f"trackrecord is already running in {home} ({running}); "
        "stop it first, or set another TRACKRECORD_HOME"
    )
