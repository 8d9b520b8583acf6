"""Hooks for each way in which a Python process ends.

An interpreter that ends runs atexit. The children of multiprocessing, and of billiard under it,
leave by os._exit after they ran their own finalisers, which they forgot when they were forked.
Celery's pool processes leave by os._exit after a signal of Celery's. A signal whose action is the
default one ends a process without a word, so such signals get a handler of ours, which calls back
and then lets the default action happen. All that ends otherwise (os._exit, SIGKILL) gives nobody a
chance, nor may a signal in a child process: see `journal`.
"""

import atexit
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from trackrecord.process.forking import is_forked

from .fork_hooks import HookStep, call_in_child

# Before multiprocessing waits for this process's own children.
_FINALIZER_PRIORITY: Final = 10
# Sent by supervisors, pools and terminals to a process that is to end in good order.
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)

_callbacks: list[Callable[[], None]] = []
_began: float | None = None
# Whether the callbacks are being called, and the signal that came meanwhile.
_is_ending = False
_ends_by: int | None = None


def register(callback: Callable[[], None], *, last: bool = False) -> None:
    """Have a callback called before this process ends, at least once.

    To be called in each process anew. What an agent did not import is not imported for it.

    Args:
        callback: waits a few seconds at most, and never raises.
        last: call it after the others, whose time it may then use as well.
    """
    if callback not in _callbacks:
        _callbacks.insert(len(_callbacks) if last else 0, callback)
    atexit.unregister(_call_all)
    atexit.register(_call_all)
    multiprocessing_util = sys.modules.get("multiprocessing.util")
    if multiprocessing_util is not None:
        multiprocessing_util.Finalize(None, _call_all, exitpriority=_FINALIZER_PRIORITY)
    celery_signals = sys.modules.get("celery.signals")
    if celery_signals is not None:
        celery_signals.worker_process_shutdown.connect(
            _call_all, weak=False, dispatch_uid="trackrecord-producers"
        )
    heed_signals()


def heed_signals() -> bool:
    """Run the hooks also when a signal ends this process, unless the program handles it.

    Only the main thread may install a handler, and only a process that nobody else manages gets
    one: a pool may end its children in the middle of anything.

    Returns:
        Whether no signal ends this process before the callbacks were called. A handler of the
        program's own is trusted to end it in the usual way.
    """
    if _is_child():
        return False
    try:
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
    except ValueError:  # not the main thread
        return False
    return True


def _is_child() -> bool:
    if is_forked():
        return True
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def _end(number: int, _frame: object) -> None:
    global _ends_by
    # First of all: a sender that repeats the signal does not want to wait.
    signal.signal(number, signal.SIG_DFL)
    if _is_ending:
        # The process is in the middle of what this would do, and may hold locks of it: it goes on
        # when the handler has returned, and ends by the signal then.
        _ends_by = number
        return
    _call_all()
    os.kill(os.getpid(), number)


def began_at() -> float:
    """Return when this process began to end, on the monotonic clock; now if it has not."""
    return time.monotonic() if _began is None else _began


def _call_all(**_: object) -> None:
    global _began, _is_ending
    _began = time.monotonic()
    _is_ending = True
    for callback in _callbacks:
        callback()
    _is_ending = False
    if _ends_by is not None:
        os.kill(os.getpid(), _ends_by)


def _forget_in_child() -> None:
    global _began, _is_ending, _ends_by
    _began, _is_ending, _ends_by = None, False, None
    # A handler of Python's runs when the main thread next executes Python: a child of a pool that
    # waits for work, and is told to end just before, would wait for ever. Its journal keeps all.
    for number in _SIGNALS:
        if signal.getsignal(number) is _end:
            with suppress(ValueError):  # not in an interpreter's main thread
                signal.signal(number, signal.SIG_DFL)


call_in_child(HookStep.PROCESS_EXIT, _forget_in_child)
