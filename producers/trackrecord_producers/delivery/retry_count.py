"""Track the tasks at which this process has failed: a further attempt at one is a retry."""

import threading
from collections import OrderedDict
from typing import Final

from .fork_hooks import HookStep, renew_in_child

# A task by its project, None for the settings' own, and its id.
Task = tuple[object, str]

_MAX_TASKS: Final = 1000


class RetryCounts:
    """Failed attempts in a row by task, for the tasks that failed last."""

    def __init__(self) -> None:
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
                if len(self._counts) > _MAX_TASKS:
                    self._counts.popitem(last=False)
