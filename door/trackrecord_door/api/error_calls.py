"""HTTP calls for errors of tasks in flight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trackrecord.inflight.errors import ErrorType
from trackrecord.learning.text.language import Language
from trackrecord.resources.checks import Moment, moment_of

if TYPE_CHECKING:
    from trackrecord.inflight.errors import TaskError
    from trackrecord.inflight.store import InFlightStore
    from trackrecord_door.query_service import QueryService


def _tasks(service: QueryService, project: str) -> InFlightStore:
    from trackrecord.inflight.store import InFlightStore

    return InFlightStore(service.client, service.settings.keys, project, service.settings.errors)


def record_error(
    service: QueryService,
    *,
    task_id: str,
    message: str,
    type: ErrorType | None = None,  # noqa: A002 - what the rules call it
    stack_trace: str | None = None,
    tool_name: str | None = None,
    context: str | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Record an error that an attempt at a task met, for the next attempt.

    Args:
        service: has Redis.
        task_id: The task.
        message: What happened.
        type: What kind of error it is; derived from the message when not given.
        stack_trace: Where it happened.
        tool_name: The tool that was used.
        context: The activity at that time.
        project: The task's project.
    """
    from trackrecord.inflight.classification import classify_text
    from trackrecord.inflight.reports import error_report

    report = error_report(
        task_id,
        type or classify_text(message),
        message,
        stack_trace=stack_trace,
        tool_name=tool_name,
        context=context,
    )
    _tasks(service, project).write(report)
    return {"id": report.id, "task_id": report.task_id, "type": report.type}


def list_errors(
    service: QueryService,
    *,
    task_id: str | None = None,
    unresolved: bool = False,
    category: ErrorType | None = None,
    at: Moment | None = None,
    project: str,
) -> list[TaskError]:
    """Return the kept errors of tasks in flight, those that happened last first.

    Args:
        service: has Redis.
        task_id: Only errors of this task.
        unresolved: Only errors that nobody has dealt with.
        category: Only errors of this type.
        at: A past moment to answer for.
        project: The tasks' project.
    """
    from trackrecord.inflight.listing import ErrorFilter

    wanted = ErrorFilter(task_id, category, unresolved)
    return _tasks(service, project).find(wanted, at=moment_of(at))


def error_document(error: TaskError) -> dict[str, Any]:
    """Return an error as JSON."""
    from trackrecord.inflight.retry_record import error_document

    return error_document(error)


def resolve_error(service: QueryService, *, error_id: str, project: str) -> Mapping[str, Any]:
    """Mark an error as dealt with; resolving it again changes nothing.

    Args:
        service: has Redis.
        error_id: The error's id, or the beginning of it.
        project: The task's project.
    """
    from trackrecord.queries.in_flight import whole_error_id

    whole = whole_error_id(service.client, service.settings.keys, project, error_id)
    _tasks(service, project).resolve(whole)
    return {"id": whole, "resolved": True}


def error_context(
    service: QueryService,
    *,
    task_id: str,
    include_resolved: bool = False,
    lang: Language = "en",
    at: Moment | None = None,
    project: str,
) -> Mapping[str, Any]:
    """Return the text on earlier attempts for the prompt of a retry; "" without any.

    Args:
        service: has Redis.
        task_id: The task.
        include_resolved: Whether errors that have been dealt with are listed, too.
        lang: The language of the text, "en" or "zh".
        at: A past moment to answer for.
        project: The task's project.
    """
    from trackrecord.inflight.retry_text import retry_text

    task = _tasks(service, project).read(task_id, at=moment_of(at))
    rules = service.settings.errors
    errors = task.errors if include_resolved else task.unresolved
    return {
        "task_id": task_id,
        "context": retry_text(task, rules, include_resolved=include_resolved, language=lang),
        "strikes": task.strikes,
        "errors": [error_document(error) for error in errors],
    }


def error_stats(
    service: QueryService, *, task_id: str, at: Moment | None = None, project: str
) -> Mapping[str, Any]:
    """Return the counts of a task's errors.

    Args:
        service: has Redis.
        task_id: The task.
        at: A past moment to answer for.
        project: The task's project.
    """
    stats = asdict(_tasks(service, project).read(task_id, at=moment_of(at)).stats)
    stats.pop("problem")
    return stats
