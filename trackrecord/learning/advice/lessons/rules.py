"""The rules of lessons."""

from dataclasses import dataclass

from ...numbers.checks import require, require_positive


@dataclass(frozen=True)
class LessonRules:
    """The numbers by which lessons from tool calls are counted and kept.

    Attributes:
        min_tasks: distinct tasks in which something must have been seen before it is a lesson.
        established_tasks: distinct tasks from which on a lesson is established.
        half_life_days: days after which a task counts half in the strength of a lesson.
        max_lessons: maximum number of lessons of a project; the weakest ones are dropped.
        max_runs_shown: maximum number of runs that a lesson names, the newest ones.
    """

    min_tasks: int = 3
    established_tasks: int = 5
    half_life_days: float = 90.0
    max_lessons: int = 200
    max_runs_shown: int = 20

    def __post_init__(self) -> None:
        require(2 <= self.min_tasks <= 1000, "min_tasks must lie in 2..1000")
        require(
            self.min_tasks <= self.established_tasks <= 1000,
            "established_tasks must lie in min_tasks..1000",
        )
        require_positive("half_life_days", self.half_life_days)
        require(0 <= self.max_lessons <= 2000, "max_lessons must lie in 0..2000")
        require(1 <= self.max_runs_shown <= 1000, "max_runs_shown must lie in 1..1000")
