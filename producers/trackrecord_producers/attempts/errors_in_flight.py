"""The functions for agents on the errors of a task in flight.

Recording never raises and hardly waits; reading waits no longer than the settings allow.

Write reports on tasks in flight from the agent to Redis, in the background.

Like publishing, but without a spool: old errors do not help a later attempt, so reports that cannot
be delivered before the process ends are dropped and counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from trackrecord.errors import InvalidErrorReport, TrackrecordError
from trackrecord.inflight.errors import (
    ERROR_TYPES,
    MOST_CHARS,
    ErrorFilter,
    ErrorStats,
    ErrorType,
    TaskError,
    TaskInFlight,
    newest_errors,
)
from trackrecord.inflight.reports import (
    AttemptEnd,
    ErrorReport,
    checked_project,
    checked_task_id,
    error_report,
)
from trackrecord.learning.text.language import Language, known_language
from trackrecord.process.forking import not_while_forking

from ..bodies.safe_text import describe, describe_error, where
from ..bodies.scalars import as_text
from ..delivery import exit_hooks
from ..delivery.background_writer import START_WAIT_S, BackgroundWriter, Policy, load_settings
from ..delivery.diversion import current_diversion
from ..delivery.drops import REPORT_ADVICE, Drops, ReportReason, WriterReason, reason_of
from ..delivery.fork_hooks import HookStep, renew_in_child
from ..delivery.ids import new_id
from ..delivery.notices import Notices
from ..delivery.waiting import WaitingItem
from .current import count_in_attempt

if TYPE_CHECKING:
    from trackrecord.inflight.rules import ErrorRules
    from trackrecord.settings.agent_settings import AgentSettings

    from .inflight_delivery import InFlightDelivery
    from .inflight_reader import InFlightReader


Report = ErrorReport | AttemptEnd

_POLICY: Final = Policy(
    thread_name="trackrecord-in-flight",
    queue_max=2000,
    queue_max_bytes=8 * 1024 * 1024,
    batch=100,
    batch_bytes=1024 * 1024,
    # The publisher may take the most of the time that there is when the process ends.
    closes_last=True,
)
# Counted from the first step that is taken when the process ends.
_EXIT_WAIT_S: Final = 2.5
_POLL_S: Final = 0.05
_GRACE_S: Final = 0.5

_encode = msgspec.json.Encoder().encode


class InFlightWriter:
    """Write reports for one process and, after a fork, for each child on its own.

    Args:
        load: returns the settings; called once, by the writing thread.
    """

    def __init__(self, load: Callable[[], AgentSettings] = load_settings) -> None:
        self._load = load
        self.begin_in_child()
        renew_in_child(HookStep.WRITERS, self)

    def begin_in_child(self) -> None:
        """Start again: a new process has no thread, and the queue is its parent's."""
        self._notices = Notices()
        self.drops: Drops[ReportReason] = Drops(
            self._notices, "reports on tasks in flight", REPORT_ADVICE
        )
        self._delivery: InFlightDelivery | None = None
        self._is_prompt = True
        self._writer = BackgroundWriter(
            _POLICY,
            open_delivery=self._open_delivery,
            drops=self.drops,
            notices=self._notices,
            take_rest=self._drop_rest,
            close=self.close,
        )

    def write(self, project: str | None, report: Report, *, wait_s: float = 0.0) -> bool:
        """Accept a report; never raises.

        Args:
            project: the task's project; the settings' project when not given.
            report: an error, or the end of an attempt.
            wait_s: how long to wait until Redis has it; not at all while Redis is known not to
                answer promptly.

        Returns:
            Whether it was accepted.
        """
        try:
            item = WaitingItem(_encode((project, report)), names_project=True, kind="error")
            accepted = self._writer.accept(item) and not self._writer.is_leaving
            if accepted and wait_s > 0:
                self.flush(wait_s)
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.drops.count("internal_error", detail=type(error).__name__)
            return False
        return accepted

    def flush(self, timeout_s: float) -> bool:
        """Wait until all reports accepted before are with Redis, or were dropped.

        Returns:
            Whether that happened in time. If not, no caller waits again until Redis responds.
        """
        if not len(self._writer.queue):
            return True
        if not self._answers_promptly() or self._writer.is_this_thread:
            return False
        self._writer.wait_until_ready(START_WAIT_S)
        in_time = self._writer.queue.wait_until_done(timeout_s)
        self._is_prompt = in_time
        return in_time

    def _answers_promptly(self) -> bool:
        delivery = self._delivery
        return self._is_prompt and not (delivery and delivery.is_away)

    def _open_delivery(self) -> InFlightDelivery:
        from .inflight_delivery import InFlightDelivery

        settings = self._load()
        self._delivery = InFlightDelivery(
            settings,
            self.drops,
            self._notices,
            wait=self._writer.queue.wait,
            gives_up=lambda: self._writer.is_leaving,
            on_answer=self._note_answer,
        )
        return self._delivery

    def _note_answer(self) -> None:
        self._is_prompt = True

    def close(self) -> None:
        """Deliver everything before the process ends, if Redis is available; never raises."""
        try:
            self._wait_for_redis()
            self._writer.leave()
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.drops.count("internal_error", detail=type(error).__name__)

    def _wait_for_redis(self) -> None:
        if not len(self._writer.queue):
            return
        self._writer.wait_until_ready(START_WAIT_S)
        deadline = max(exit_hooks.began_at() + _EXIT_WAIT_S, time.monotonic() + _GRACE_S)
        while time.monotonic() < deadline and not (self._delivery and self._delivery.is_away):
            if self._writer.queue.wait_until_done(_POLL_S):
                return

    def _drop_rest(self, rest: Sequence[WaitingItem]) -> None:
        self.drops.count("unsent", len(rest), detail="the process is ending")


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
    except Exception as mistake:  # noqa: BLE001 - nothing may reach the agent
        _drop(*reason_of(mistake))
        return None
    return report.id if _write(project, report, wait_s=wait_s) else None


def _type_of(error: object, message: str, *, of_tool: bool) -> ErrorType:
    # Its expressions take long to compile, and most attempts meet no error.
    from trackrecord.inflight.classification import classify, classify_text

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
        _drop(*reason_of(refusal))
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
    from trackrecord.inflight.retry_text import retry_text

    return retry_text(
        known.task,
        known.rules,
        include_resolved=bool(include_resolved),
        language=known_language(lang),
    )


class KnownErrors(msgspec.Struct, frozen=True):
    """The record of a task in flight, or the reason why it is unknown."""

    task: TaskInFlight = TaskInFlight()
    rules: ErrorRules | None = None
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


def _drop(reason: WriterReason, detail: str) -> None:
    diversion = current_diversion()
    if diversion is not None:
        diversion.drop_report(reason, detail)
    else:
        _writer.drops.count(reason, detail=detail)
