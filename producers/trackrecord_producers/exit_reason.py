"""What an exception that ends an attempt says about it."""

from trackrecord.inflight.classification import classify_failure

CANCELLED = "cancelled"


def mode_of(error: BaseException) -> str:
    """How the attempt failed."""
    try:
        return classify_failure(error)
    except Exception:  # noqa: BLE001 - an agent's own exceptions may be of any making
        return "unknown"


def is_clean_exit(error: BaseException) -> bool:
    """Whether this is a program or a generator that ends as it should."""
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    return isinstance(error, GeneratorExit)
