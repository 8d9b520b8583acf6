"""Choose errors among those of tasks in flight."""

from collections.abc import Iterable
from dataclasses import dataclass

from .errors import ErrorType, TaskError, TaskInFlight


@dataclass(frozen=True)
class ErrorFilter:
    """The filter of a list of errors; fields that are not set match everything.

    Attributes:
        task_id: only those of this task.
        category: only those of this type.
        unresolved: only those that nobody has dealt with.
    """

    task_id: str | None = None
    category: ErrorType | None = None
    unresolved: bool = False

    def admits(self, error: TaskError) -> bool:
        """Return whether an error matches."""
        return (
            self.task_id in (None, error.task_id)
            and self.category in (None, error.type)
            and not (self.unresolved and error.resolved)
        )


EVERY = ErrorFilter()


def newest_errors(tasks: Iterable[TaskInFlight], wanted: ErrorFilter = EVERY) -> list[TaskError]:
    """Return the matching errors of tasks, those that happened last first."""
    found = [error for task in tasks for error in task.errors if wanted.admits(error)]
    return sorted(found, key=lambda error: (-error.at, error.id))
