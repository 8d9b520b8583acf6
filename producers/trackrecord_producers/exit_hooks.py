"""The ways in which a Python process ends, and how to be called on each of them.

An interpreter that ends runs atexit. The children of multiprocessing, and of billiard under it,
leave by os._exit after they ran their own finalisers, which they forgot when they were forked.
Celery's pool processes leave by os._exit after a signal of Celery's. All that ends otherwise
(os._exit, SIGKILL) gives nobody a chance.
"""

import atexit
import os
import sys
import time
from collections.abc import Callable

# Before multiprocessing waits for this process's own children.
_FINALIZER_PRIORITY = 10


_callbacks: list[Callable[[], None]] = []
_began: float | None = None


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


def began_at() -> float:
    """When this process began to end, on the monotonic clock; now if it has not yet."""
    return time.monotonic() if _began is None else _began


def _call_all(**_: object) -> None:
    global _began
    _began = time.monotonic()
    for callback in _callbacks:
        callback()


def _forget_in_child() -> None:
    global _began
    _began = None


os.register_at_fork(after_in_child=_forget_in_child)
