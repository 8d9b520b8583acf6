"""The numbers of errors in flight."""

from dataclasses import dataclass
from typing import Final

from trackrecord.learning.numbers.checks import require

# The length of a task's log of ends; more strikes than this in a row are not distinguished.
MOST_STRIKES: Final = 20
# Reports are bounded before the settings are known, which bound them further.
MOST_CHARS: Final = 16_384
_FEWEST_CHARS: Final = 16


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
        max_in_context: maximum number of errors listed in the text for a retry; the newest are
            listed.
        max_message_chars: maximum length of a stored message, and of a stored context; longer ones
            are cut.
        max_stack_chars: maximum length of a stored stack trace; longer ones are cut.
        max_message_in_context: maximum length of a message, and of a context, in the text for a
            retry; longer ones are cut.
        max_stack_in_context: maximum length of a stack trace in the text for a retry; longer ones
            are cut.
    """

    strikes: int = 3
    retention_s: int = 604_800
    max_per_task: int = 1000
    max_per_project: int = 20_000
    max_in_context: int = 50
    max_message_chars: int = 1000
    max_stack_chars: int = 4000
    max_message_in_context: int = 200
    max_stack_in_context: int = 100

    def __post_init__(self) -> None:
        require(
            1 <= self.strikes <= MOST_STRIKES,
            f"strikes must lie in 1..{MOST_STRIKES}, not {self.strikes}",
        )
        require(
            1 <= self.retention_s <= 10**9,
            f"retention_s must lie in 1..1000000000, not {self.retention_s}",
        )
        require(self.max_per_task >= 1, "max_per_task must be at least 1")
        require(
            self.max_per_project > self.max_per_task,
            "max_per_project must be above max_per_task",
        )
        require(self.max_in_context >= 1, "max_in_context must be at least 1")
        for kept, shown in (
            ("max_message_chars", "max_message_in_context"),
            ("max_stack_chars", "max_stack_in_context"),
        ):
            most, here = getattr(self, kept), getattr(self, shown)
            require(
                _FEWEST_CHARS <= most <= MOST_CHARS,
                f"{kept} must lie in {_FEWEST_CHARS}..{MOST_CHARS}, not {most}",
            )
            require(here >= _FEWEST_CHARS, f"{shown} must be at least {_FEWEST_CHARS}")
            require(here <= most, f"{shown} must not lie above {kept}: no more is kept")
