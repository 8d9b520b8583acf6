"""The rules of lessons."""

from dataclasses import dataclass

from ...numbers.checks import Inner, require, require_positive


@dataclass(frozen=True)
class LessonRules:
    """The numbers by which lessons from tool calls are counted and kept.

    Attributes:
        min_tasks: distinct tasks in which something must have been seen before it is a lesson.
        established_tasks: distinct tasks from which on a lesson is established.
        half_life_days: days after which a task counts half in the strength of a lesson.
        max_lessons: maximum number of lessons of a project; the weakest ones are dropped.
    """

    min_tasks: int = 3
    established_tasks: Inner[int] = 5
    half_life_days: float = 90.0
    max_lessons: Inner[int] = 200

    def __post_init__(self) -> None:
        require(2 <= self.min_tasks <= 1000, "min_tasks must lie in 2..1000")
        require_positive("half_life_days", self.half_life_days)
