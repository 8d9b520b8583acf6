"""Track the current attempt of this thread, or of this task of an event loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from trackrecord.ongoing import ongoing

if TYPE_CHECKING:
    from .attempt import Attempt


def current_attempt() -> Attempt | None:
    """Return the innermost attempt in this thread or task; None outside of any."""
    return cast("Attempt | None", ongoing.get())


def make_current(attempt: Attempt | None) -> None:
    """Make an attempt the innermost one in this thread or task."""
    ongoing.set(attempt)


@contextmanager
def as_current(attempt: Attempt) -> Iterator[None]:
    """Make an attempt the current one while the block runs."""
    outer = ongoing.get()
    ongoing.set(attempt)
    try:
        yield
    finally:
        ongoing.set(outer)


def count_in_attempt(task_id: str, error: object) -> bool:
    """Count an error in the innermost attempt at this task, if one is running here.

    Returns:
        Whether such an attempt exists.
    """
    current = current_attempt()
    return current is not None and current.count_for(task_id, error)
