"""Reports on a task in flight: checked, cut to length, and ready to travel."""

import os
import re
import time
from typing import Final

import msgspec

from trackrecord.errors import InvalidErrorReport

from .errors import ERROR_TYPES, MAX_MESSAGE_CHARS, MAX_STACK_CHARS, MOST_CHARS, ErrorType

_MAX_TASK_ID: Final = 256
_MAX_TOOL: Final = 256
_DIGEST_BYTES: Final = 12
_ID = re.compile(rf"[0-9a-f]{{{28 + 2 * _DIGEST_BYTES}}}")
_LATEST: Final = 253_402_300_799.0  # the year 9999: beyond it no date can be shown


class ErrorReport(msgspec.Struct, frozen=True, tag="error", tag_field="report"):
    """An error on its way into Redis.

    Attributes:
        id: names the error and the task that it belongs to.
        task_id: the task.
        type: what kind of error it is.
        message: what happened.
        at: when it happened, seconds since the epoch.
        stack_trace: where it happened, if reported.
        tool_name: the tool that was used, if reported.
        context: the activity at that time, if reported.
        is_counted: whether an attempt that met it counts it in its outcome.
    """

    id: str
    task_id: str
    type: ErrorType
    message: str
    at: float
    stack_trace: str = ""
    tool_name: str = ""
    context: str = ""
    is_counted: bool = False

    def without_secrets(self) -> "ErrorReport":
        """Return the report with the secrets in its texts replaced."""
        from trackrecord.learning.text.redaction import redacted  # slow to import

        return msgspec.structs.replace(
            self,
            message=redacted(self.message),
            stack_trace=redacted(self.stack_trace),
            context=redacted(self.context),
        )

    def as_kept(self) -> "ErrorReport":
        """Return the report with every text cut to the length that is stored."""
        return msgspec.structs.replace(
            self,
            message=cut(self.message, MAX_MESSAGE_CHARS),
            context=cut(self.context, MAX_MESSAGE_CHARS),
            stack_trace=cut(self.stack_trace, MAX_STACK_CHARS),
        )


class AttemptEnd(msgspec.Struct, frozen=True, tag="end", tag_field="report"):
    """The end of an attempt on its way into Redis.

    Attributes:
        id: the attempt's id, without blanks; a repeated report counts once.
        task_id: the task.
        success: whether the attempt reached the task's goal.
    """

    id: str
    task_id: str
    success: bool


class Resolution(msgspec.Struct, frozen=True, tag="resolved", tag_field="report"):
    """The news that an error was dealt with, which may come before the error does.

    Attributes:
        id: the error's id.
        task_id: the task.
    """

    id: str
    task_id: str


def error_report(
    task_id: str,
    type: ErrorType,  # noqa: A002 - what the rules call it
    message: str,
    *,
    stack_trace: str | None = None,
    tool_name: str | None = None,
    context: str | None = None,
    at: float | None = None,
    is_counted: bool = False,
    error_id: str | None = None,
) -> ErrorReport:
    """Check a reported error and give it an id if it has none; texts that are too long are cut.

    Raises:
        InvalidErrorReport: the task, the type or the time is invalid.
    """
    task_id = checked_task_id(task_id)
    if type not in ERROR_TYPES:
        reason = f"an error's type is one of {', '.join(ERROR_TYPES)}"
        raise InvalidErrorReport(reason)
    moment = time.time() if at is None else at
    if not 0 <= moment <= _LATEST:  # NaN fails as well
        reason = "an error's time lies between 1970 and 9999"
        raise InvalidErrorReport(reason)
    return ErrorReport(
        id=error_id or _new_error_id(task_id),
        task_id=task_id,
        type=type,
        message=cut(clean(message), MOST_CHARS),
        at=float(moment),
        stack_trace=cut(clean(stack_trace or ""), MOST_CHARS),
        tool_name=cut(clean(tool_name or ""), _MAX_TOOL),
        context=cut(clean(context or ""), MOST_CHARS),
        is_counted=is_counted,
    )


def checked_task_id(task_id: object) -> str:
    """Return the task's id if it is valid.

    Raises:
        InvalidErrorReport: it is not a text of 1 to 256 characters that UTF-8 can encode.
    """
    if not isinstance(task_id, str) or not 1 <= len(task_id) <= _MAX_TASK_ID:
        reason = f"a task_id is a text of 1 to {_MAX_TASK_ID} characters"
        raise InvalidErrorReport(reason)
    if clean(task_id) != task_id:
        reason = "a task_id has no NUL and no lone surrogate"
        raise InvalidErrorReport(reason)
    return task_id


def checked_project(project: object) -> str | None:
    """Return the project of the task, None for the settings' own.

    Raises:
        InvalidErrorReport: it is not a text.
    """
    if project is None or isinstance(project, str):
        return project
    reason = f"a project must be a string, not {type(project).__name__}"
    raise InvalidErrorReport(reason)


def task_digest(task_id: str) -> str:
    """Return a task's digest for keys and ids: letters and digits only."""
    from hashlib import blake2b  # it loads OpenSSL, which an attempt without an error needs not

    return blake2b(task_id.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def digest_in(error_id: str) -> str | None:
    """Return the task's digest from an error's id; None if the id is malformed."""
    return error_id[-2 * _DIGEST_BYTES :] if _ID.fullmatch(error_id) else None


def _new_error_id(task_id: str) -> str:
    """Return a new id: milliseconds, 64 random bits and the task's digest, in hex.

    The bits come from the operating system, so the id is unique within a millisecond and after a
    fork. The digest tells where the error is kept.
    """
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(8).hex()}{task_digest(task_id)}"


def clean(text: str) -> str:
    """Return the text as UTF-8 can encode it, without NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def cut(text: str, most: int) -> str:
    """Return the text with at most `most` characters; an ellipsis ends a text that was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
