"""The parts that the front door hands requests on to, built once in its process."""

import structlog

from trackrecord.daemon_settings import DaemonSettings
from trackrecord_capture.otlp.span import LogRecord, Span

from .intake import Intake

_log = structlog.get_logger(__name__)


class Counting:
    """A receiver that counts what comes, and keeps nothing of it."""

    def __init__(self) -> None:
        self._spans = 0
        self._logs = 0

    def spans(self, spans: list[Span]) -> int:
        """Count spans."""
        self._spans += len(spans)
        return 0

    def logs(self, logs: list[LogRecord]) -> int:
        """Count log records."""
        self._logs += len(logs)
        return 0

    def close(self) -> None:
        """Log the counts."""
        _log.info("received", spans=self._spans, logs=self._logs)


def create_intake(_settings: DaemonSettings) -> Intake:
    """Build what takes requests."""
    return Intake(Counting(), {})
