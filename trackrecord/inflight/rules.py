"""The numbers of errors in flight."""

from dataclasses import dataclass
from typing import Final

from trackrecord.learning.numbers.checks import Inner, require

# The length of a task's log of ends; more strikes than this in a row are not distinguished.
MOST_STRIKES: Final = 20
# Listed in the text for a retry; the newest ones.
MAX_IN_CONTEXT: Final = 50


@dataclass(frozen=True)
class ErrorRules:
    """Limits on the kept errors of tasks in flight, and when a design review is due.

    Attributes:
        strikes: number of failed attempts in a row after which the text for a retry asks for a
            review of the design.
        retention_s: how long the errors of a task are kept after its last news.
        max_per_task: maximum number of errors kept for one task; older errors are only counted.
        max_per_project: maximum number of errors kept for one project; beyond it the tasks that
            have been silent the longest are forgotten.
    """

    strikes: int = 3
    retention_s: int = 604_800
    max_per_task: Inner[int] = 1000
    max_per_project: Inner[int] = 20_000

    def __post_init__(self) -> None:
        require(
            1 <= self.strikes <= MOST_STRIKES,
            f"strikes must lie in 1..{MOST_STRIKES}, not {self.strikes}",
        )
        require(
            1 <= self.retention_s <= 10**9,
            f"retention_s must lie in 1..1000000000, not {self.retention_s}",
        )
