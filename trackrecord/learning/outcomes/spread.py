"""The spread of a count over tasks: an average hides the one task that only retried."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# Higher counts are not told apart, so that a spread has a bounded number of lines.
MOST_COUNTED: Final = 10_000
WORST_NAMED: Final = 10


@dataclass(frozen=True)
class TaskCount:
    """A task with the highest count that an outcome of it reports.

    Attributes:
        task_id: the task.
        count: the count.
    """

    task_id: str
    count: int


@dataclass(frozen=True)
class Spread:
    """How a count is spread over outcomes.

    Attributes:
        outcomes_by_count: how many outcomes have each count, lowest first; a count above
            MOST_COUNTED counts as one more than that.
        worst: the tasks with the highest counts above 0, highest first, at most WORST_NAMED.
    """

    outcomes_by_count: Mapping[int, int] = field(default_factory=dict)
    worst: tuple[TaskCount, ...] = ()

    @property
    def highest(self) -> int | None:
        """The highest count of all; None without outcomes."""
        if self.worst:
            return self.worst[0].count
        return 0 if self.outcomes_by_count else None

    def over(self, limit: float) -> int:
        """Return how many outcomes have a count above a limit, which is at most MOST_COUNTED."""
        counts = self.outcomes_by_count.items()
        return sum(outcomes for count, outcomes in counts if count > limit)

    def share_over(self, limit: float) -> float | None:
        """Return the share of outcomes with a count above a limit; None without outcomes."""
        outcomes = sum(self.outcomes_by_count.values())
        return self.over(limit) / outcomes if outcomes else None

    def worst_over(self, limit: float) -> tuple[TaskCount, ...]:
        """Return those of the worst tasks whose count is above a limit."""
        return tuple(task for task in self.worst if task.count > limit)


class SpreadCounter:
    """Count outcomes one by one, in any order, in a bounded amount of memory."""

    def __init__(self) -> None:
        self._outcomes: Counter[int] = Counter()
        self._worst: dict[str, int] = {}
        self._lowest_named = 1

    def add(self, task_id: str, count: int) -> None:
        """Count one outcome."""
        self._outcomes[min(count, MOST_COUNTED + 1)] += 1
        if count >= self._lowest_named:
            self._worst[task_id] = max(count, self._worst.get(task_id, 0))
            if len(self._worst) > 2 * WORST_NAMED:
                self._worst = {task.task_id: task.count for task in self._named()}
                self._lowest_named = min(self._worst.values())

    def spread(self) -> Spread:
        """Return the spread of a count."""
        return Spread(dict(sorted(self._outcomes.items())), self._named())

    def _named(self) -> tuple[TaskCount, ...]:
        tasks = sorted(self._worst.items(), key=lambda task: (-task[1], task[0]))
        return tuple(TaskCount(*task) for task in tasks[:WORST_NAMED])
