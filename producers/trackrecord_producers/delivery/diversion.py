"""Divert an agent's reports to a test, before any thread or server is involved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from trackrecord.process.scoped import Scoped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trackrecord.inflight.errors import TaskInFlight
    from trackrecord.inflight.reports import AttemptEnd, ErrorReport

    from .retry_count import RetryCounts
    from .stats import Stats
    from .waiting import WaitingItem


class Diversion(Protocol):
    """The interface that replaces the background threads and Redis."""

    @property
    def failed_before(self) -> RetryCounts:
        """Return which tasks have failed since it was opened."""

    def publish(self, fields: dict[str, Any]) -> str | None:
        """Take in an outcome."""

    def accept(self, item: WaitingItem) -> bool:
        """Take in a memory, an exposure or a recall."""

    def count_fault(self, error: Exception) -> None:
        """Note a memory, an exposure or a recall that could not be written."""

    def remark(self, message: str) -> None:
        """Note a remark on a call that is not quite right."""

    def report(self, project: str | None, report: ErrorReport | AttemptEnd) -> bool:
        """Take in a report on a task in flight."""

    def drop_report(self, reason: str, detail: str) -> None:
        """Note a report that could not be made."""

    def task(self, project: str | None, task_id: str) -> TaskInFlight:
        """Return the record of a task in flight."""

    def tasks(self, project: str | None) -> Iterable[TaskInFlight]:
        """Return the records of the tasks in flight of a project."""

    def resolve(self, project: str | None, error_id: str) -> None:
        """Mark an error as dealt with."""

    def stats(self) -> Stats:
        """Return the counts of publishing."""

    def dropped_reports(self) -> dict[str, int]:
        """Return how many reports on tasks in flight were lost, by reason."""


diversions: Final = Scoped[Diversion]("trackrecord_diversion")

# The diversion that takes reports here; None if they go their usual way.
current_diversion: Final = diversions.get
