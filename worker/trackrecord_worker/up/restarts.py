"""The pauses before `up` restarts a child, and when it gives up."""

from dataclasses import dataclass

_FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
# More would be too large a number for a child that is never given up.
_DOUBLINGS = 10
# A child that lived this long was well; its next end is a first one again.
_WELL_AFTER_S = 60.0
# About seven seconds: the person who typed the command is waiting.
_MOST_BEFORE_UP = 3
# About four minutes.
_MOST_WHILE_UP = 10


@dataclass
class Restarts:
    """The ends of one child in a row, and the resulting pauses.

    Attributes:
        is_needed: whether `up` ends with a child that keeps ending; else it never gives up.
        ends: how often it ended without having lived for a minute.
    """

    is_needed: bool = True
    ends: int = 0

    def note_end(self, *, lived_s: float, was_up: bool) -> float | None:
        """Return the seconds until the child restarts; None to give up.

        Args:
            lived_s: how long it lived.
            was_up: whether everything had been up before.
        """
        self.ends = 1 if lived_s >= _WELL_AFTER_S else self.ends + 1
        if self.is_needed and self.ends > (_MOST_WHILE_UP if was_up else _MOST_BEFORE_UP):
            return None
        return min(LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(self.ends - 1, _DOUBLINGS))
