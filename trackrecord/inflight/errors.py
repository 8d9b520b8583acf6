"""Errors of a task in flight, their counts, and the filter of a list of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, get_args

import msgspec

from trackrecord.learning.text.times import Instant

ErrorType = Literal["validation", "timeout", "conflict", "tool_failure", "unknown"]
ERROR_TYPES: Final[tuple[ErrorType, ...]] = get_args(ErrorType)
# Reports are bounded before they travel, and again where they are stored.
MOST_CHARS: Final = 16_384
# Of a stored message, and of a stored context; longer ones are cut.
MAX_MESSAGE_CHARS: Final = 1000
MAX_STACK_CHARS: Final = 4000


class TaskError(msgspec.Struct, frozen=True):
    """One error that an attempt at a task met.

    Attributes:
        id: unique in its project.
        type: what kind of error it is.
        message: what happened, as an agent wrote it.
        at: when it happened.
        stack_trace: where it happened; "" if not reported.
        tool_name: the tool that was used; "" if not reported.
        context: the activity at that time; "" if not reported.
        resolved: whether it has been dealt with.
        task_id: the task; "" if it was recorded by a version that did not keep it.
    """

    id: str
    type: ErrorType
    message: str
    at: Instant
    stack_trace: str = ""
    tool_name: str = ""
    context: str = ""
    resolved: bool = False
    task_id: str = ""


class ErrorStats(msgspec.Struct, frozen=True):
    """The errors of a task, counted.

    Attributes:
        total: all of them, also those that are resolved or not kept any more.
        unresolved: those kept that nobody has dealt with.
        by_type: all of them by type; types that did not occur are absent.
        problem: why the counts are unknown and all 0; None if they are known.
    """

    total: int
    unresolved: int
    by_type: Mapping[ErrorType, int]
    problem: str | None = None


class TaskInFlight(msgspec.Struct, frozen=True):
    """The recorded errors and failed attempts of a task in flight at one moment.

    Attributes:
        errors: those that are kept, in the order in which they were recorded.
        strikes: attempts that failed since the last one that succeeded, at most MOST_STRIKES.
        forgotten: by type, errors that were counted and are not kept any more.
        task_id: the task; "" if it was recorded by a version that did not keep it.
    """

    errors: Sequence[TaskError] = ()
    strikes: int = 0
    forgotten: Mapping[ErrorType, int] = msgspec.field(default_factory=dict)
    task_id: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether anything is on record of the task."""
        return bool(self.task_id or self.strikes or self.stats.total)

    @property
    def unresolved(self) -> Sequence[TaskError]:
        """The kept errors that are not resolved, in their order."""
        return tuple(error for error in self.errors if not error.resolved)

    @property
    def stats(self) -> ErrorStats:
        """The errors, counted."""
        counts = Counter(self.forgotten)
        counts.update(error.type for error in self.errors)
        by_type = {kind: counts[kind] for kind in ERROR_TYPES if counts[kind]}
        return ErrorStats(sum(by_type.values()), len(self.unresolved), by_type)


class ErrorFilter(msgspec.Struct, frozen=True):
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
