"""The settings of notifications: the receivers, and the news for them."""

from dataclasses import dataclass
from typing import Final

from trackrecord.learning.numbers.checks import require

# The names that `operation/news.py` gives them; a test compares both.
EVENTS: Final = (
    "pattern.proven",
    "pattern.broke",
    "pattern.warning",
    "pattern.lifted",
    "lesson.appeared",
    "defect.began",
    "defect.ended",
    "consolidation.failed",
    "dead-letters.grew",
)


@dataclass(frozen=True)
class NotifySettings:
    """The receivers of notifications, and the news that they get.

    Attributes:
        command: program that is started for each piece of news, with its arguments; it reads a
            JSON document from its standard input, and exit status 0 means that it was told.
        events: names of the events that are told: pattern.proven, pattern.broke, pattern.warning,
            pattern.lifted, lesson.appeared, defect.began, defect.ended, consolidation.failed,
            dead-letters.grew.
        timeout_s: how long the end of the command is waited for.
    """

    command: tuple[str, ...] = ()
    events: tuple[str, ...] = EVENTS
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        require(
            all(self.command) and not any("\0" in word for word in self.command),
            "command must be a JSON array of texts that are not empty",
        )
        # The processes that would start it have a working folder of their own.
        require(
            "/" not in "".join(self.command[:1]) or self.command[0].startswith("/"),
            "command must begin with a program's name or its absolute path",
        )
        unknown = sorted(set(self.events) - set(EVENTS))
        require(
            not unknown,
            f"events must be some of {', '.join(EVENTS)}, not {', '.join(unknown)!r:.80}",
        )
        require(0.1 <= self.timeout_s <= 60, "timeout_s must lie in 0.1..60")
