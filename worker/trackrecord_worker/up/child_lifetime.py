"""End a process together with its `trackrecord up`, even if that is killed with -9.

As a script it becomes another program: `python child_lifetime.py PID PROGRAM ARGUMENTS…`. It
imports the standard library only, because Redis waits for it.
"""

import ctypes
import os
import signal
import sys
from types import FrameType

_LOOK_EVERY_S = 1.0
# A warm shutdown may wait for a Redis that ended together with `up`.
_PATIENCE_LOOKS = 10
_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Make this process end in order soon after its parent, at the latest by a SIGKILL.

    Linux sends a signal when the parent's thread that started this process ends; elsewhere, and
    once that thread has ended, a timer does so again and again. It is a signal and not a thread:
    a worker forks, and a fork beside threads is unsafe.
    """
    looks_in_vain = 0

    def look(_signal: int, _frame: FrameType | None) -> None:
        nonlocal looks_in_vain
        signal.setitimer(signal.ITIMER_REAL, _LOOK_EVERY_S)
        if os.getppid() == parent:
            return
        if looks_in_vain == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        elif looks_in_vain >= _PATIENCE_LOOKS:
            os.killpg(os.getpgrp(), signal.SIGKILL)
        looks_in_vain += 1

    signal.signal(signal.SIGALRM, look)
    if not _tell_of_parents_end(signal.SIGALRM) or os.getppid() != parent:
        signal.setitimer(signal.ITIMER_REAL, _LOOK_EVERY_S)


def become(parent: int, command: list[str]) -> None:
    """Replace this process by a program that Linux ends with SIGTERM when the parent ends.

    Elsewhere it outlives its parent, and the next `trackrecord up` adopts it.
    """
    if _tell_of_parents_end(signal.SIGTERM) and os.getppid() != parent:
        return
    os.execv(command[0], command)  # noqa: S606 - the server that `up` chose


def _tell_of_parents_end(number: signal.Signals) -> bool:
    """Have Linux send a signal when the parent ends; return whether this is Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
        return True
    return False


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
