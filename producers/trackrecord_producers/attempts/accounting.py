"""The account of one attempt: its recorded events so far, and the resulting outcome."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import msgspec

from ..bodies.scalars import as_flag

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
