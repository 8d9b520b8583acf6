"""Errors of a task in flight, and their counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from trackrecord.learning.numbers.checks import require

ErrorType = Literal["validation", "timeout", "conflict", "tool_failure", "unknown"]
ERROR_TYPES: Final[tuple[ErrorType, ...]] = get_args(ErrorType)

# The length of a task's log of ends; more strikes than this in a row are not distinguished.
MOST_STRIKES: Final = 20
# Reports are bounded before the settings are known, which bound them further.
MOST_CHARS: Final = 16_384
_FEWEST_CHARS: Final = 16


@dataclass(frozen=True)
class ErrorRules:
    """Limits on the kept errors of tasks in flight, and when a design review is due.

    Attributes:
        strikes: number of failed attempts in a row after which the text for a retry asks for a
            review of the design.
        retention_s: how long the errors of a task are kept after its last news.
        max_per_task: maximum number of errors kept for one task; older errors are only counted.
        max_per_project: maximum number of errors kept for one project; beyond it the tasks that
            have been silent the longest are forgotten.
        max_in_context: maximum number of errors listed in the text for a retry; the newest are
            listed.
        max_message_chars: maximum length of a stored message, and of a stored context; longer ones
            are cut.
        max_stack_chars: maximum length of a stored stack trace; longer ones are cut.
        max_message_in_context: maximum length of a message, and of a context, in the text for a
            retry; longer ones are cut.
        max_stack_in_context: maximum length of a stack trace in the text for a retry; longer ones
            are cut.
    """

    strikes: int = 3
    retention_s: int = 604_800
    max_per_task: int = 1000
    max_per_project: int = 20_000
    max_in_context: int = 50
    max_message_chars: int = 1000
    max_stack_chars: int = 4000
    max_message_in_context: int = 200
    max_stack_in_context: int = 100

    def __post_init__(self) -> None:
        require(
            1 <= self.strikes <= MOST_STRIKES,
            f"strikes must lie in 1..{MOST_STRIKES}, not {self.strikes}",
        )
        require(
            1 <= self.retention_s <= 10**9,
            f"retention_s must lie in 1..1000000000, not {self.retention_s}",
        )
        require(self.max_per_task >= 1, "max_per_task must be at least 1")
        require(
            self.max_per_project > self.max_per_task,
            "max_per_project must be above max_per_task",
        )
        require(self.max_in_context >= 1, "max_in_context must be at least 1")
        for kept, shown in (
            ("max_message_chars", "max_message_in_context"),
            ("max_stack_chars", "max_stack_in_context"),
        ):
            most, here = getattr(self, kept), getattr(self, shown)
            require(
                _FEWEST_CHARS <= most <= MOST_CHARS,
                f"{kept} must lie in {_FEWEST_CHARS}..{MOST_CHARS}, not {most}",
            )
            require(here >= _FEWEST_CHARS, f"{shown} must be at least {_FEWEST_CHARS}")
            require(here <= most, f"{shown} must not lie above {kept}: no more is kept")


@dataclass(frozen=True)
class TaskError:
    """One error that an attempt at a task met.

    Attributes:
        id: unique in its project.
        type: what kind of error it is.
        message: what happened, as an agent wrote it.
        at: when it happened, seconds since the epoch.
        stack_trace: where it happened; "" if not reported.
        tool_name: the tool that was used; "" if not reported.
        context: the activity at that time; "" if not reported.
        resolved: whether it has been dealt with.
    """

    id: str
    type: ErrorType
    message: str
    at: float
    stack_trace: str = ""
    tool_name: str = ""
    context: str = ""
    resolved: bool = False


@dataclass(frozen=True)
class ErrorStats:
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


@dataclass(frozen=True)
class TaskInFlight:
    """The recorded errors and failed attempts of a task in flight at one moment.

    Attributes:
        errors: those that are kept, in the order in which they were recorded.
        strikes: attempts that failed since the last one that succeeded, at most `MOST_STRIKES`.
        forgotten: by type, errors that were counted and are not kept any more.
    """

    errors: Sequence[TaskError] = ()
    strikes: int = 0
    forgotten: Mapping[ErrorType, int] = field(default_factory=dict)

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
