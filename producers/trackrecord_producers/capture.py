"""The reports that a test captures: checked as on the way to Redis, and kept in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from trackrecord.errors import UnknownId
from trackrecord.inflight.errors import TaskError, TaskInFlight
from trackrecord.inflight.reports import AttemptEnd, ErrorReport
from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.wire.exposure import ExposureBody
from trackrecord.wire.feedback import FeedbackBody
from trackrecord.wire.hint import HintBody
from trackrecord.wire.kinds import decoder_of
from trackrecord.wire.memory import MemoryBody
from trackrecord.wire.outcome import Outcome, decode_outcome
from trackrecord.wire.recall import RecallBody

from .bodies.body import build_body
from .delivery.drops import reason_of
from .delivery.retry_count import RetryCounts
from .delivery.stats import Stats
from .delivery.waiting import WaitingItem


class Captured:
    """Everything that an agent reported in a `captured()` block, in its order.

    Attributes:
        outcomes: as the worker reads them.
        bodies: the same outcomes as plain dicts, with the fields that were sent.
        memories: the memories stored with `remember()`.
        exposures: what tasks were handed by `rankings(task_id=…)` and `context(task_id=…)`.
        recalls: the memories that `rankings()` and `context()` handed out without a task id.
        hints: what `after_failure()` told, or did not, for the trial of hints.
        feedback: the verdicts on single things given with `feedback()`.
        errors: the errors of tasks in flight, from attempts and from `record_error()`.
        dropped: one line for each report that would have been lost, with the reason.
        remarks: what the log would have said of fields that are not quite right: misspelt ones, and
            values whose coercion loses something.
        failed_before: the tasks that failed in the block.
    """

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.bodies: list[dict[str, Any]] = []
        self.memories: list[MemoryBody] = []
        self.exposures: list[ExposureBody] = []
        self.feedback: list[FeedbackBody] = []
        self.recalls: list[RecallBody] = []
        self.hints: list[HintBody] = []
        self.errors: list[ErrorReport] = []
        self.dropped: list[str] = []
        self.remarks: list[str] = []
        self.failed_before = RetryCounts()
        self._dropped_outcomes: Counter[str] = Counter()
        self._dropped_reports: Counter[str] = Counter()
        self._reports: dict[str, list[Any]] = {
            "memory": self.memories,
            "exposure": self.exposures,
            "recall": self.recalls,
            "hint": self.hints,
            "feedback": self.feedback,
        }
        self._tasks: dict[tuple[str, str], TaskInFlight] = {}

    def publish(self, fields: dict[str, Any]) -> str | None:
        """Keep an outcome; return None if it is not a valid one."""
        try:
            outcome_id, body = build_body(fields)
            outcome = decode_outcome(body)
        except Exception as error:  # noqa: BLE001 - as for an agent: nothing is raised
            self.count_fault(error)
            return None
        self.outcomes.append(outcome)
        self.bodies.append(msgspec.json.decode(body))
        return outcome_id

    def accept(self, item: WaitingItem) -> bool:
        """Keep a report that is encoded already, as a memory or an exposure is."""
        self._reports[item.kind].append(decoder_of(item.kind)(item.body))
        return True

    def count_fault(self, error: Exception) -> None:
        """Note a report that could not be written."""
        reason, detail = reason_of(error)
        self._dropped_outcomes[reason] += 1
        self.dropped.append(f"{reason}: {detail}")

    def remark(self, message: str) -> None:
        """Keep a remark, unless it was made before."""
        if message not in self.remarks:
            self.remarks.append(message)

    def report(self, project: str | None, report: ErrorReport | AttemptEnd) -> bool:
        """Keep a report on a task in flight."""
        if isinstance(report, ErrorReport):
            self.errors.append(report)
        key = (project or DEFAULT_PROJECT, report.task_id)
        self._tasks[key] = _after(self._tasks.get(key, TaskInFlight()), report)
        return True

    def drop_report(self, reason: str, detail: str) -> None:
        """Note a report that could not be made."""
        self._dropped_reports[reason] += 1
        self.dropped.append(f"{reason}: {detail}")

    def task(self, project: str | None, task_id: str) -> TaskInFlight:
        """Return the record of a task in flight."""
        return self._tasks.get((project or DEFAULT_PROJECT, task_id), TaskInFlight())

    def tasks(self, project: str | None) -> Iterable[TaskInFlight]:
        """Return the records of the tasks in flight of a project."""
        owner = project or DEFAULT_PROJECT
        return [task for (name, _), task in self._tasks.items() if name == owner]

    def resolve(self, project: str | None, error_id: str) -> None:
        """Mark an error as dealt with.

        Raises:
            UnknownId: the project has no error with this id.
        """
        owner = project or DEFAULT_PROJECT
        for (name, task_id), task in self._tasks.items():
            if name == owner and any(error.id == error_id for error in task.errors):
                errors = tuple(
                    replace(error, resolved=error.resolved or error.id == error_id)
                    for error in task.errors
                )
                self._tasks[name, task_id] = replace(task, errors=errors)
                return
        message = f"no error {error_id!r} is on record in project {owner!r}"
        raise UnknownId(message)

    def stats(self) -> Stats:
        """Return the counts of publishing: all accepted items count as sent."""
        accepted = sum(map(len, (self.outcomes, *self._reports.values())))
        return Stats(
            published=accepted, waiting=0, sent=accepted, spooled=0, forwarded=0,
            dropped=dict(self._dropped_outcomes),
        )  # fmt: skip

    def dropped_reports(self) -> dict[str, int]:
        """Return how many reports on tasks in flight were lost, by reason."""
        return dict(self._dropped_reports)


def _after(task: TaskInFlight, report: ErrorReport | AttemptEnd) -> TaskInFlight:
    """Return a task as Redis has it after a report: success resolves its errors."""
    if isinstance(report, ErrorReport):
        error = msgspec.convert(report, TaskError, from_attributes=True)
        return replace(task, errors=(*task.errors, error))
    if report.success:
        errors = tuple(replace(error, resolved=True) for error in task.errors)
        return replace(task, errors=errors, strikes=0)
    return replace(task, strikes=task.strikes + 1)
