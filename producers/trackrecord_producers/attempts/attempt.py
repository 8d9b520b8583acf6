"""An attempt at a task, observed from its start to any kind of end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Never, Self, TypeVar, Unpack

import msgspec

from trackrecord.inflight.errors import ErrorType
from trackrecord.learning.text.language import Language
from trackrecord.wire.outcome import encode_body

from ..bodies.outcome_fields import AttemptFields
from ..bodies.remarks import remark
from ..bodies.safe_text import describe, describe_error
from ..bodies.scalars import as_flag, as_text
from ..bodies.tool_calls import renamed_arguments
from ..delivery.diversion import current_diversion
from ..delivery.ids import new_id
from ..delivery.retry_count import RetryCounts, Task
from ..publishing.publish import publish_fields
from .current import current_attempt as current_attempt  # handed on to agents from here
from .current import make_current
from .decorating import observed
from .errors_in_flight import error_context, report_end, report_error

MAX_TOOL_CALLS: Final = 1000
# Arguments and errors of all calls together; an outcome has 1 MiB.
_MAX_PARTICULARS_BYTES: Final = 512 * 1024


class Account:
    """Everything recorded of an attempt since its start; safe to use from several threads.

    Args:
        failed_before: attempts at the task that failed before this one.

    Attributes:
        started: when it began, on the monotonic clock.
        noted: fields of the wire format that were added to the outcome.
        failure: mode and details of how it failed; None as long as it has not.
    """

    def __init__(self, failed_before: int = 0) -> None:
        self._lock = threading.RLock()
        self._failed_before = failed_before
        self._tools: list[dict[str, Any]] = []
        self._errors = 0
        self._retries = 0
        self._room = _MAX_PARTICULARS_BYTES
        self._counted: BaseException | None = None
        self.noted: dict[str, Any] = {}
        self.failure: tuple[str, str | None] | None = None
        self.started = time.monotonic()

    def count_error(self, error: object) -> bool:
        """Count an error; False when it is the exception that was counted last."""
        with self._lock:
            if isinstance(error, BaseException):
                if error is self._counted:
                    return False
                self._counted = error
            self._errors += 1
            return True

    def count_retry(self) -> None:
        """Count a retry."""
        with self._lock:
            self._retries += 1

    def add_call(self, call: dict[str, Any], particulars: dict[str, msgspec.Raw]) -> None:
        """Add a call of a tool, with its particulars unless they make the outcome too large."""
        with self._lock:
            if len(self._tools) >= MAX_TOOL_CALLS:
                return
            size = sum(len(bytes(each)) for each in particulars.values())
            if size <= self._room:
                self._room -= size
                call |= particulars
            self._tools.append(call)

    def fail(self, mode: str, details: str | None) -> None:
        """Note that the task did not reach its goal; the last call wins."""
        with self._lock:
            self.failure = mode, details

    def note(self, fields: dict[str, Any]) -> None:
        """Add fields to the outcome."""
        with self._lock:
            self.noted |= fields

    def outcome(self, task_id: str | None, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the outcome as of now.

        Args:
            task_id: the task.
            fields: fields of the wire format that hold unless the account has noted others.
        """
        duration_ms = round((time.monotonic() - self.started) * 1000)
        with self._lock:
            outcome: dict[str, Any] = {
                "duration_ms": duration_ms,
                "error_count": self._errors,
                "retry_count": max(self._retries, self._failed_before),
            }
            if self._tools:
                outcome["tool_graph"] = self._tools
            if self.failure is not None:
                outcome["failure_mode"], outcome["failure_details"] = self.failure
            outcome |= fields | self.noted
            outcome["task_id"] = task_id
            outcome["success"] = self.success(fields)
            return outcome

    def success(self, fields: dict[str, Any]) -> object:
        """Return whether the task reached its goal, as a value that the wire takes or refuses.

        An explicit `success` wins over a body that ended without an exception, never over a
        failure; the last noted value wins over the first given one.
        """
        if self.failure is not None:
            return False
        told = self._told(fields)
        return True if told is None else as_flag(told)

    def is_contradicted(self, fields: dict[str, Any]) -> bool:
        """Return whether success was reported for an attempt that failed."""
        return self.failure is not None and as_flag(self._told(fields)) is True

    def _told(self, fields: dict[str, Any]) -> object:
        return (fields | self.noted).get("success")

    def close(self) -> None:
        """Release the last exception, which keeps the frames that it came through."""
        self._counted = None


F = TypeVar("F", bound=Callable[..., Any])

_MAX_LABEL = 256
_OF_TOOL: Final = ("ok", "args", "error", "duration_ms")

_failed_before = RetryCounts()
CANCELLED = "cancelled"
MAX_DETAILS = 2000
_MAX_PARTICULAR_BYTES = 16 * 1024


def attempt(task_id: str | None = None, **fields: Unpack[AttemptFields]) -> Attempt:
    """Observe an attempt at a task, and publish how it went when it ends.

    Use it as `with`, as `async with`, or as a decorator of functions, coroutine functions and
    generators. What it surrounds returns and raises as if it were not there.

    Args:
        task_id: the task. Given none, a decorator names the task after the function, so that all
            its calls are attempts at one task, and `with` makes up a name that is used once.
        **fields: any other field of the wire format, published as it is. With `success=False`
            the task counts as failed unless `note(success=True)` says otherwise before the end.
    """
    given: Any = fields
    # As publish() would read it, so that the outcome and the errors name one task.
    read_as: Any = as_text(task_id)
    return Attempt(read_as, given)


class Attempt:
    """One attempt, which collects the fields of its outcome. None of its methods raises.

    Attributes:
        task_id: the task; None until the attempt begins when none was given.
    """

    def __init__(self, task_id: str | None, fields: dict[str, Any], *, named: bool = True) -> None:
        self.task_id = task_id
        self._fields = fields
        # A task that is only named after a function: its attempts need not be tries at one thing.
        self._named = named
        self._depth = 0
        self._outer: Attempt | None = None
        # The errors that an attempt inside this one, at the same task, has recorded already.
        self._recorded: BaseException | None = None
        self._account = Account()

    def error(
        self,
        error: object = None,
        *,
        type: ErrorType | None = None,  # noqa: A002 - what the rules call it
        tool_name: str | None = None,
        context: str | None = None,
    ) -> None:
        """Count an error that the attempt met, and record it for the next attempt.

        An exception that ends the attempt is counted and recorded by itself.

        Args:
            error: what happened: an exception or a text.
            type: what kind of error it is; by default it is classified.
            tool_name: the tool that was used.
            context: the activity at that time.
        """
        if self._account.count_error(error) and (error is None or error is not self._recorded):
            report_error(
                self.task_id,
                type,
                "" if error is None else error,
                tool_name=tool_name,
                context=context,
                project=self.project,
                is_counted=True,
            )

    def count_for(self, task_id: str, error: object) -> bool:
        """Count an error in the innermost attempt at this task, this one or one around it.

        Returns:
            Whether such an attempt exists.
        """
        ongoing = self._at(task_id)
        if ongoing is not None:
            ongoing._account.count_error(error)
        return ongoing is not None

    def _at(self, task_id: str | None) -> Attempt | None:
        ongoing: Attempt | None = self
        while ongoing is not None and ongoing.task_id != task_id:
            ongoing = ongoing._outer
        return ongoing

    def error_context(
        self,
        include_resolved: bool = False,
        lang: Language = "en",
    ) -> str:
        """Return the text on all errors met so far at the task, for the prompt of a retry.

        Works as `trackrecord.error_context` for this attempt's task.
        """
        if self.task_id is None:
            return ""
        return error_context(self.task_id, include_resolved, lang, project=self.project)

    async def aerror_context(
        self,
        include_resolved: bool = False,
        lang: Language = "en",
    ) -> str:
        """Return the text of `error_context` without blocking the event loop."""
        if self.task_id is None:
            return ""
        # Imports asyncio, which is there already where this is awaited.
        from trackrecord.process.async_calls import beside

        return await beside(self.error_context, include_resolved, lang)

    @property
    def project(self) -> str | None:
        """Return the task's project; None for the settings' project."""
        project = self._account.noted.get("project", self._fields.get("project"))
        return project if isinstance(project, str) else None

    def retry(self) -> None:
        """Count a retry.

        A further attempt at a task that this process has failed at is counted as a retry by itself.
        """
        self._account.count_retry()

    def tool(
        self,
        name: str,
        *,
        ok: bool | None = None,
        args: object = None,
        error: object = None,
        duration_ms: float | None = None,
        **others: Never,
    ) -> None:
        """Record a call of a tool; calls stay in the order in which they are recorded.

        Args:
            name: the tool.
            ok: whether the call succeeded; a failed one counts as an error. By default it did
                unless there is an error.
            args: the arguments as they are now; left out when they take more than 16 KiB.
            error: what went wrong: an exception or a text.
            duration_ms: how long it took.
            others: none; `arguments`, `success` and the like are taken for the parameter that is
                meant, and any other one is logged: nothing of a report is raised into the agent.
        """
        if others:
            meant = renamed_arguments(others, _OF_TOOL, remark)
            ok = meant.get("ok") if ok is None else ok
            args = meant.get("args") if args is None else args
        if ok is None:
            ok = error is None
        tool = describe(name, _MAX_LABEL)
        call: dict[str, Any] = {"tool": tool, "ok": ok}
        if duration_ms is not None:
            call["duration_ms"] = duration_ms
        if not ok:
            self.error(f"{tool} failed" if error is None else error, tool_name=tool)
        self._account.add_call(call, call_details(args, error))

    def fail(self, mode: str, details: object = None) -> None:
        """Mark the task as failed, though nothing is raised.

        Args:
            mode: the kind of failure, a short label.
            details: what happened: an exception or a text.
        """
        described = None if details is None else describe(details, MAX_DETAILS)
        self._account.fail(describe(mode, _MAX_LABEL), described)

    def note(self, **fields: Unpack[AttemptFields]) -> None:
        """Add fields of the wire format to the outcome; later values win.

        `success=False` says that the task did not reach its goal, though nothing is raised.
        `success=True` does not make up for an exception or for `fail`: the attempt failed, and the
        log of "trackrecord" says that the two contradict each other.
        """
        given: Any = fields
        self._account.note(given)

    def start(self) -> None:
        """Start again; `with` and the decorator call this."""
        if self.task_id is None:
            self.task_id = f"attempt-{new_id()}"
        self._outer, self._recorded = current_attempt(), None
        self._account = Account()
        if self._named:
            self._account = Account(_process_failures().count(self._task))

    @property
    def _task(self) -> Task:
        return self.project, str(self.task_id)

    def finish(self, error: BaseException | None = None) -> None:
        """Publish how the attempt went; `with` and the decorator call this.

        Args:
            error: what ended the attempt, if it was an exception.
        """
        account = self._account
        if error is not None and not is_clean_exit(error):
            self._end_by(error)
        around = self._outer._at(self.task_id) if self._outer is not None else None
        self._say_contradictions()
        counts = "error_count" not in self._fields | account.noted
        publish_fields(
            account.outcome(self.task_id, self._fields),
            # An attempt around this one, at the same task, reports the errors of its own.
            adopts_since=account.started if counts and around is None else None,
        )
        if around is None:
            self._tell_end()
        else:
            around._recorded = error
        # An exception holds on to the frames that it came through.
        self._outer = self._recorded = None
        account.close()

    def _say_contradictions(self) -> None:
        if self._account.is_contradicted(self._fields):
            remark(
                "success of a failed attempt",
                "an attempt got success=True but failed, by an exception or by "
                "fail(): it is published as failed",
            )
        if "task_id" in self._account.noted:
            remark(
                "task_id of an attempt",
                "an attempt's task_id cannot be changed by note(): give it to attempt()",
            )

    def _end_by(self, error: BaseException) -> None:
        self.error(error)
        if self._account.failure is None:
            self.fail(mode_of(error), describe_error(error, MAX_DETAILS))

    def _tell_end(self) -> None:
        """Count failures in a row, except cancelled attempts."""
        failure = self._account.failure
        success = self._account.success(self._fields)
        # Neither true nor false is nothing to count; the outcome itself is dropped, and that said.
        if isinstance(success, bool) and (failure is None or failure[0] != CANCELLED):
            _process_failures().note(self._task, success=success)
            report_end(self.task_id, success=success, project=self.project)

    def __enter__(self) -> Self:
        if self._depth == 0:
            self.start()
            make_current(self)
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            make_current(self._outer)
            self.finish(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)

    def __call__(self, function: F) -> F:
        """Decorate a function: each of its calls is an attempt of its own."""
        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(self(function.__func__))
        task_id = self.task_id or _name_of(function)
        named = self.task_id is not None
        return observed(function, lambda: Attempt(task_id, self._fields, named=named))


def _process_failures() -> RetryCounts:
    diversion = current_diversion()
    return _failed_before if diversion is None else diversion.failed_before


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return describe(f"{function.__module__}.{name}", _MAX_LABEL)


def mode_of(error: BaseException) -> str:
    """Return the failure mode of an attempt that ended with an exception."""
    try:
        from trackrecord.inflight.classification import classify_failure

        return classify_failure(error)
    except Exception:  # noqa: BLE001 - an agent's own exceptions may be of any making
        return "unknown"


def is_clean_exit(error: BaseException) -> bool:
    """Return whether an exception is the normal end of a program or a generator."""
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    return isinstance(error, GeneratorExit)


def call_details(args: object, error: object) -> dict[str, msgspec.Raw]:
    """Return arguments and error as they are now: the agent may change them later."""
    given: dict[str, object] = {}
    if args is not None:
        given["args"] = args
    if error is not None:
        given["error"] = describe(error, MAX_DETAILS)
    particulars: dict[str, msgspec.Raw] = {}
    for name, value in given.items():
        # Values that cannot be written, or are too long, are left out: the call itself counts.
        with suppress(Exception):
            written = encode_body({name: value})[len(name) + 4 : -1]
            if len(written) <= _MAX_PARTICULAR_BYTES:
                particulars[name] = msgspec.Raw(written)
    return particulars
