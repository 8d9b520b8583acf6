"""The settings of how long outcomes are kept."""

from dataclasses import dataclass

from trackrecord.learning.numbers.checks import require

_LONGEST = 36_500


@dataclass(frozen=True)
class RetentionSettings:
    """Numbers of days after which outcomes are removed, a whole day in UTC at a time.

    Attributes:
        bodies_days: after how many days the texts of an outcome are removed: prompts, arguments,
            results and errors of calls. What lessons and commands are counted from stays until
            outcomes_days: the beginnings of command lines, names of files, lines of errors. If
            unset, texts are kept for ever.
        outcomes_days: after how many days an outcome is removed; what it counts for stays in the
            sums. If unset, outcomes are kept for ever.
    """

    bodies_days: int | None = None
    outcomes_days: int | None = None

    def __post_init__(self) -> None:
        for name in ("bodies_days", "outcomes_days"):
            days = getattr(self, name)
            require(
                days is None or 1 <= days <= _LONGEST,
                f"{name} must lie in 1..{_LONGEST}, not {days}",
            )
