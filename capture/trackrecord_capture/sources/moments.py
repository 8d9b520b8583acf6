"""The moments that agents write into their logs, as seconds since the epoch."""

from datetime import UTC, datetime
from typing import Final

# The end of the year 9999: a larger number is no moment.
_LAST: Final = 253_402_300_799.0


def seconds_of(moment: object) -> float | None:
    """Return the seconds since the epoch of an ISO 8601 text; None if it is not one."""
    if not isinstance(moment, str):
        return None
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def seconds_of_millis(millis: object) -> float | None:
    """Return the seconds of a count of milliseconds since the epoch; None if it is not one."""
    if not isinstance(millis, (int, float)) or isinstance(millis, bool):
        return None
    return millis / 1000 if 0 <= millis <= _LAST * 1000 else None
