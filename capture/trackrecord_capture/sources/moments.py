"""The moments that agents write into their logs, as seconds since the epoch."""

from datetime import UTC, datetime


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
    is_number = isinstance(millis, (int, float)) and not isinstance(millis, bool)
    return millis / 1000 if is_number and millis >= 0 else None  # type: ignore[operator] # a number
