"""Divert a test's reports before any thread or server is involved, and count failed attempts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, Protocol

from trackrecord.process.scoped import Scoped

from .fork_hooks import HookStep, renew_in_child

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trackrecord.inflight.errors import TaskInFlight
    from trackrecord.inflight.reports import AttemptEnd, ErrorReport

    from .stats import Stats
    from .waiting import WaitingItem

# A task by its project, None for the settings' own, and its id.
Task = tuple[object, str]

_MAX_TASKS: Final = 1000


class RetryCounts:
    """Failed attempts in a row by task, for the tasks that failed last.

    Args:
        max_tasks: how many tasks are remembered.
    """

    def __init__(self, max_tasks: int = _MAX_TASKS) -> None:
        self._max_tasks = max_tasks
        self._counts: OrderedDict[Task, int] = OrderedDict()
        self._lock = threading.RLock()
        renew_in_child(HookStep.COUNTS, self)

    def begin_in_child(self) -> None:
        """Keep the counts in a child process."""
        # Another thread may have held it while this process was forked.
        self._lock = threading.RLock()

    def count(self, task: Task) -> int:
        """Return how many attempts at the task have failed since the last success."""
        with self._lock:
            return self._counts.get(task, 0)

    def note(self, task: Task, *, success: bool) -> None:
        """Note that an attempt at the task has ended."""
        with self._lock:
            failed = self._counts.pop(task, 0)
            if not success:
                self._counts[task] = failed + 1
                if len(self._counts) > self._max_tasks:
                    self._counts.popitem(last=False)


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
