"""Classify the exceptions that end attempts."""

from trackrecord.inflight.classification import classify_failure

CANCELLED = "cancelled"


def mode_of(error: BaseException) -> str:
    """Return the failure mode of an attempt that ended with an exception."""
    try:
        return classify_failure(error)
    except Exception:  # noqa: BLE001 - an agent's own exceptions may be of any making
        return "unknown"


def is_clean_exit(error: BaseException) -> bool:
    """Return whether an exception is the normal end of a program or a generator."""
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    return isinstance(error, GeneratorExit)
