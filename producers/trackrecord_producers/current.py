"""Track the current attempt of this thread, or of this task of an event loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .attempt import Attempt

_current: ContextVar[Attempt | None] = ContextVar("trackrecord_attempt", default=None)


def current_attempt() -> Attempt | None:
    """Return the innermost attempt in this thread or task; None outside of any."""
    return _current.get()


def make_current(attempt: Attempt | None) -> None:
    """Make an attempt the innermost one in this thread or task."""
    _current.set(attempt)


@contextmanager
def as_current(attempt: Attempt) -> Iterator[None]:
    """Make an attempt the current one while the block runs."""
    outer = _current.get()
    _current.set(attempt)
    try:
        yield
    finally:
        _current.set(outer)


def count_in_attempt(task_id: str, error: object) -> bool:
    """Count an error in the innermost attempt at this task, if one is running here.

    Returns:
        Whether such an attempt exists.
    """
    ongoing = _current.get()
    return ongoing is not None and ongoing.count_for(task_id, error)
