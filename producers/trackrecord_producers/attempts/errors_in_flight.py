"""The functions for agents on the errors of a task in flight.

Recording never raises and hardly waits; reading waits no longer than the settings allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from trackrecord.errors import InvalidErrorReport, TrackrecordError
from trackrecord.inflight.classification import classify, classify_text
from trackrecord.inflight.errors import (
    ERROR_TYPES,
    ErrorStats,
    ErrorType,
    TaskError,
    TaskInFlight,
)
from trackrecord.inflight.listing import ErrorFilter, newest_errors
from trackrecord.inflight.reports import (
    AttemptEnd,
    ErrorReport,
    checked_project,
    checked_task_id,
    error_report,
)
from trackrecord.inflight.retry_text import retry_text
from trackrecord.inflight.rules import MOST_CHARS, ErrorRules
from trackrecord.learning.text.language import Language, known_language
from trackrecord.process.forking import not_while_forking

from ..bodies.safe_text import describe, describe_error, where
from ..bodies.scalars import as_text
from ..delivery.diversion import current_diversion
from ..delivery.ids import new_id
from ..delivery.notices import Notices
from .current import count_in_attempt
from .inflight_writer import InFlightWriter

if TYPE_CHECKING:
    from .inflight_reader import InFlightReader

_MAX_TOOL: Final = 256
# This process's own reports are read together with the rest, if they get through at once.
_READ_WAIT_S: Final = 0.5

_writer = InFlightWriter()
_notices = Notices()


def record_error(
    task_id: str,
    type: ErrorType | None,  # noqa: A002 - what the rules call it
    message: object,
    *,
    stack_trace: str | None = None,
    tool_name: str | None = None,
    context: str | None = None,
    project: str | None = None,
    wait: float = 0.5,
) -> str | None:
    """Record an error that an attempt at a task met, for the next attempt; never raises.

    Inside an attempt at the same task it also counts as one of the attempt's errors. Recorded by
    another process or thread meanwhile, it is counted by the attempt that is going on.

    Args:
        task_id: the task.
        type: what kind of error it is; None to have it classified, as a type is that is none.
        message: what happened: a text, or an exception, which says where by itself.
        stack_trace: where it happened.
        tool_name: the tool that was used.
        context: the activity at that time.
        project: the task's project; the settings' project when not given.
        wait: how many seconds to wait at most until Redis has it. Once Redis does not answer in
            time nothing is waited for until it answers again; the error waits in memory.

    Returns:
        The error's id, or None when it was dropped; the log of "trackrecord" says why.
    """
    read_as: Any = as_text(task_id)
    is_counted = count_in_attempt(read_as, message)
    return report_error(
        read_as,
        type,
        message,
        stack_trace=stack_trace,
        tool_name=tool_name,
        context=context,
        project=project,
        wait_s=wait,
        is_counted=is_counted,
    )


def report_error(
    task_id: object,
    type: ErrorType | None,  # noqa: A002 - as above
    error: object,
    *,
    stack_trace: object = None,
    tool_name: object = None,
    context: object = None,
    project: str | None = None,
    wait_s: float = 0.0,
    is_counted: bool = False,
) -> str | None:
    """Record an error that no attempt of this process counts, as `is_counted` shows."""
    try:
        if type is not None and type not in ERROR_TYPES:
            # What went wrong is worth more than what somebody calls it.
            known = ", ".join(ERROR_TYPES)
            _notices.say("error_type", f"an error's type is one of {known}; it is classified")
            type = None  # noqa: A001 - as above
        if isinstance(error, BaseException) and stack_trace is None:
            stack_trace = where(error)
        message = describe_error(error, MOST_CHARS)
        report = error_report(
            checked_task_id(task_id),
            type or _type_of(error, message, of_tool=tool_name is not None),
            message,
            stack_trace=_optional(stack_trace, MOST_CHARS),
            tool_name=_optional(tool_name, _MAX_TOOL),
            context=_optional(context, MOST_CHARS),
            is_counted=is_counted,
        )
    except InvalidErrorReport as refusal:
        _drop("invalid", str(refusal))
        return None
    except Exception as mistake:  # noqa: BLE001 - nothing may reach the agent
        _drop("internal_error", mistake.__class__.__name__)
        return None
    return report.id if _write(project, report, wait_s=wait_s) else None


def _type_of(error: object, message: str, *, of_tool: bool) -> ErrorType:
    found = classify(error) if isinstance(error, BaseException) else classify_text(message)
    # Whatever else went wrong in a tool is a failure of the tool.
    return "tool_failure" if found == "unknown" and of_tool else found


def _optional(value: object, longest: int) -> str:
    return "" if value is None else describe(value, longest)


def report_end(task_id: object, *, success: bool, project: str | None) -> None:
    """Report that an attempt at a task has ended; never raises."""
    try:
        report = AttemptEnd(new_id(), checked_task_id(task_id), success)
    except InvalidErrorReport as refusal:
        _drop("invalid", str(refusal))
        return
    _write(project, report)


def resolve_error(error_id: str, *, project: str | None = None) -> None:
    """Mark an error as dealt with; resolving it again changes nothing.

    Raises:
        UnknownId: the project keeps no error with this id.
        ServerUnavailable: Redis cannot be reached.
        SettingsError: a setting is wrong.
    """
    diversion = current_diversion()
    if diversion is not None:
        diversion.resolve(project, error_id)
    else:
        _reader().store(project).resolve(error_id)


def list_errors(
    task_id: str | None = None,
    *,
    unresolved: bool = False,
    category: ErrorType | None = None,
    limit: int | None = None,
    project: str | None = None,
) -> list[TaskError]:
    """Return the kept errors of tasks in flight, those that happened last first.

    Args:
        task_id: only those of this task; by default those of all tasks of the project.
        unresolved: only those that nobody has dealt with.
        category: only those of this type.
        limit: the maximum number of errors to return.
        project: the tasks' project; the settings' project when not given.

    Raises:
        InvalidErrorReport: the task's id, the category or the limit is invalid.
        ServerUnavailable: Redis cannot be reached.
        SettingsError: a setting is wrong.
    """
    if category is not None and category not in ERROR_TYPES:
        reason = f"an error's category is one of {', '.join(ERROR_TYPES)}"
        raise InvalidErrorReport(reason)
    if limit is not None and limit < 1:
        reason = "the limit of a list is 1 or more"
        raise InvalidErrorReport(reason)
    requested_task = None if task_id is None else checked_task_id(as_text(task_id))
    wanted = ErrorFilter(requested_task, category, unresolved)
    diversion = current_diversion()
    if diversion is not None:
        return newest_errors(diversion.tasks(project), wanted)[:limit]
    return _reader().store(project).find(wanted)[:limit]


def error_stats(task_id: str, *, project: str | None = None) -> ErrorStats:
    """Return the counts of a task's errors; `total` is an outcome's error_count.

    Stands in an agent's way to its next prompt, so it never raises: when the errors cannot be
    asked for, all counts are 0 and `problem` says why.

    Args:
        task_id: the task.
        project: the task's project; the settings' project when not given.
    """
    known = known_of(task_id, project)
    return known.task.stats if known.problem is None else ErrorStats(0, 0, {}, known.problem)


def error_context(
    task_id: str,
    include_resolved: bool = False,
    lang: Language = "en",
    *,
    project: str | None = None,
) -> str:
    """Return the text on earlier attempts for the prompt of a retry; "" without any.

    Stands in an agent's way to its next prompt, so it never raises: while Redis is away the text
    is empty, and the log says why.

    Args:
        task_id: the task.
        include_resolved: also list errors that have been dealt with.
        lang: language of the text, "en" or "zh".
        project: the task's project; the settings' project when not given.
    """
    known = known_of(task_id, project)
    if known.problem is not None:
        _notices.say("no_context", f"prompts lack earlier errors: {known.problem}")
        return ""
    return retry_text(
        known.task,
        known.rules,
        include_resolved=bool(include_resolved),
        language=known_language(lang),
    )


class KnownErrors(NamedTuple):
    """The record of a task in flight, or the reason why it is unknown."""

    task: TaskInFlight = TaskInFlight()
    rules: ErrorRules = ErrorRules()
    problem: str | None = None


def known_of(task_id: object, project: object) -> KnownErrors:
    """Return the record of a task in flight, including unsent errors; never raises."""
    try:
        checked_id, owner = checked_task_id(as_text(task_id)), checked_project(as_text(project))
        diversion = current_diversion()
        if diversion is not None:
            return KnownErrors(diversion.task(owner, checked_id))
        reader = _reader()
        return KnownErrors(reader.task(checked_id, owner), reader.settings.errors)
    except TrackrecordError as problem:
        return KnownErrors(problem=str(problem))
    except Exception as mistake:  # noqa: BLE001 - nothing may reach the agent
        return KnownErrors(problem=type(mistake).__name__)


def _reader() -> InFlightReader:
    # Imports the Redis client: only a process that reads pays for it.
    with not_while_forking():
        from .inflight_reader import process_errors_reader
    _writer.flush(_READ_WAIT_S)
    return process_errors_reader()


def dropped_errors() -> dict[str, int]:
    """Return how many reports on tasks in flight this process lost, by reason."""
    diversion = current_diversion()
    return _writer.drops.by_reason() if diversion is None else diversion.dropped_reports()


def _write(project: str | None, report: ErrorReport | AttemptEnd, *, wait_s: float = 0.0) -> bool:
    diversion = current_diversion()
    if diversion is not None:
        return diversion.report(project, report)
    return _writer.write(project, report, wait_s=wait_s)


def _drop(reason: Literal["invalid", "internal_error"], detail: str) -> None:
    diversion = current_diversion()
    if diversion is not None:
        diversion.drop_report(reason, detail)
    else:
        _writer.drops.count(reason, detail=detail)
