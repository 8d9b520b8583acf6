"""The nightly housekeeping."""

import structlog

from trackrecord.artifacts.store import prune_artifacts
from trackrecord.settings import Settings

_log = structlog.get_logger(__name__)


def forget_artifacts(settings: Settings, *, now: float) -> None:
    """Delete this home's artifacts whose retention time is over; log a failing disk."""
    try:
        removed = prune_artifacts(settings.home, settings.artifacts.retention_s, now=now)
    except OSError as error:
        _log.warning("artifacts_not_pruned", reason=error.strerror or str(error))
        return
    if removed:
        _log.info("artifacts_pruned", count=removed)
