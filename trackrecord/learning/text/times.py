"""Moments in time as people write them and as they are shown."""

from datetime import UTC, datetime
from math import inf
from typing import Annotated, Final

from trackrecord.errors import InvalidTime


class _Marked:
    """Marks a number that is a moment."""


MOMENT: Final = _Marked()
# Seconds since the epoch; ISO 8601 in JSON.
Instant = Annotated[float, MOMENT]

# 9999-12-31: beyond it no calendar date can be shown.
_LATEST = 253_402_300_799.0
# The clocks of two machines may differ by this much.
_CLOCKS_DIFFER_S: Final = 60.0
# What is computed from a project is computed again at the latest when it is this old.
_OLDEST_S: Final = 6 * 3600.0


def believed_age(age_s: float) -> float:
    """Return an age in seconds that was computed by the clock on the wall.

    What seems to come from the future was recorded before the clock was set back: its age is
    infinite, so that nothing waits until the clock has caught up.
    """
    return age_s if age_s >= -_CLOCKS_DIFFER_S else inf


def age_limit_s(max_age_s: float, *, made_at: float, changed_at: float) -> float:
    """Return the age up to which something computed from a project is shown.

    Evidence loses half of its weight in many days. The longer ago a project changed, the less what
    is computed anew differs from the last time.

    Args:
        max_age_s: the limit where the project changed lately.
        made_at: when it was computed, seconds since the epoch.
        changed_at: when the project changed last.
    """
    return max(max_age_s, min(made_at - changed_at, _OLDEST_S))


def parse_moment(text: str) -> float:
    """Parse ISO 8601 or a number of seconds into seconds since the epoch; the default is UTC.

    Raises:
        InvalidTime: the text is not a time, or it lies before 1970 or after 9999.
    """
    try:
        moment = float(text)
    except ValueError:
        moment = _from_iso(text)
    if not 0 <= moment <= _LATEST:  # NaN fails as well
        message = f"{text!r} is not a time between 1970 and 9999"
        raise InvalidTime(message)
    return moment


def _from_iso(text: str) -> float:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        message = (
            f"{text!r} is not a valid time: write 2026-11-21T03:00:00Z or seconds since the epoch"
        )
        raise InvalidTime(message) from None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def iso(moment: float | None) -> str | None:
    """Return the moment as ISO 8601 in UTC, to the millisecond."""
    if moment is None:
        return None
    text = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
