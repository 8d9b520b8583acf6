"""The current attempt, for code that only needs its task id."""

from contextvars import ContextVar
from typing import Protocol


class Ongoing(Protocol):
    """An attempt at a task.

    Attributes:
        task_id: the task; None before the attempt begins if none was given.
    """

    task_id: str | None

    @property
    def project(self) -> str | None:
        """Return the task's project; None for the settings' project."""
        ...


# The innermost one of this thread, or of this task of an event loop.
ongoing: ContextVar[Ongoing | None] = ContextVar("trackrecord_attempt", default=None)
