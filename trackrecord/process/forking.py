"""Keep this process from forking at a bad moment.

A child gets a copy of memory but only of the thread that forked. A lock that the other thread held
stays held in the child for ever, and an import that it was in the middle of never ends there: an
agent that forks and then imports redis itself would hang.
"""

# Registers its own: what is registered last is called first. Were logging's lock taken before ours,
# an import that asks for a logger while it keeps us waiting would never end.
import logging  # noqa: F401 - for the order of the hooks at a fork
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# An import takes a fraction of a second, on a very busy machine several seconds. A fork that gives
# up waiting may leave its child with half an import, so this is long.
_PATIENCE_S = 30.0


class _Guard:
    """The lock that a fork takes first."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.held = False
        self.is_child = False

    def before_fork(self) -> None:
        self.held = self.lock.acquire(timeout=_PATIENCE_S)

    def after_fork_in_parent(self) -> None:
        if self.held:
            self.lock.release()

    def after_fork_in_child(self) -> None:
        self.lock = threading.RLock()
        self.is_child = True


_guard = _Guard()


@contextmanager
def not_while_forking() -> Iterator[None]:
    """Keep this process from forking while the block runs.

    Whoever asks while another thread's block takes too long is not kept waiting: it may be a signal
    handler that holds what that block waits for.
    """
    lock = _guard.lock
    is_held = lock.acquire(timeout=_PATIENCE_S)
    try:
        yield
    finally:
        if is_held:
            lock.release()


def is_forked() -> bool:
    """Return whether this process was made by a fork after trackrecord was imported."""
    return _guard.is_child


os.register_at_fork(
    before=_guard.before_fork,
    after_in_parent=_guard.after_fork_in_parent,
    after_in_child=_guard.after_fork_in_child,
)
