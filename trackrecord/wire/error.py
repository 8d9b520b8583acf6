"""A report on a task in flight, on the wire: an error, its resolution, or the end of an attempt.

All input from outside is checked here, once, whichever way it came.
"""

from typing import Annotated, Final, Literal

import msgspec

from trackrecord.errors import InvalidErrorReport
from trackrecord.inflight.classification import classify_text
from trackrecord.inflight.errors import ErrorType
from trackrecord.inflight.reports import AttemptEnd, ErrorReport, Resolution, error_report
from trackrecord.learning.text.project_names import DEFAULT_PROJECT, ProjectName

from .outcome import Moment, TaskId, epoch_seconds
from .small_body import SmallForm

# Redis holds ids in lists whose items a blank ends.
ReportId = Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=r"^\S+\Z")]
Label = Annotated[str, msgspec.Meta(max_length=256)]


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """A report on a task in flight.

    Attributes are those of the wire format.
    """

    task_id: TaskId
    report: Literal["error", "resolved", "ended"] = "error"
    error_id: ReportId | None = None
    message: str | None = None
    type: ErrorType | None = None
    stack_trace: str | None = None
    tool_name: Label | None = None
    context: str | None = None
    timestamp: Moment | None = None
    attempt_id: ReportId | None = None
    success: bool | None = None
    project: ProjectName = DEFAULT_PROJECT

    def __post_init__(self) -> None:
        wanted, given = {
            "error": ("message", self.message),
            "resolved": ("error_id", self.error_id),
            "ended": ("success", self.success),
        }[self.report]
        if given is None:
            message = f"field {wanted} is missing, which report {self.report!r} needs"
            raise ValueError(message)
        if self.timestamp is not None:
            epoch_seconds(self.timestamp)

    def to_report(self, entry_id: str, received_at: float) -> ErrorReport | AttemptEnd | Resolution:
        """Return the report as it is kept.

        Args:
            entry_id: stands for an id that was left out: the same whenever the entry comes again.
            received_at: when it was received, seconds since the epoch; an error of the future
                happened then.
        """
        if self.report == "ended":
            return AttemptEnd(self.attempt_id or entry_id, self.task_id, bool(self.success))
        error_id = self.error_id or entry_id
        if self.report == "resolved":
            return Resolution(error_id, self.task_id)
        message = self.message or ""
        at = received_at if self.timestamp is None else epoch_seconds(self.timestamp)
        return error_report(
            self.task_id,
            self.type or self._type_of(message),
            message,
            stack_trace=self.stack_trace,
            tool_name=self.tool_name,
            context=self.context,
            at=min(at, received_at),
            error_id=error_id,
        )

    def _type_of(self, message: str) -> ErrorType:
        found = classify_text(message)
        # Whatever else went wrong in a tool is a failure of the tool.
        return "tool_failure" if found == "unknown" and self.tool_name else found


decode_error: Final = SmallForm(
    ErrorBody, "error", InvalidErrorReport, "project task_id error_id attempt_id"
).decode
