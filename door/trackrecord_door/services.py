"""The parts that the front door hands requests on to, built once in its process."""

import socket

import structlog

from trackrecord.daemon_settings import DaemonSettings
from trackrecord_capture.agents.door_address import DoorAddress
from trackrecord_capture.live.opening import live_of
from trackrecord_capture.otlp.span import LogRecord, Span

from .intake import Intake
from .listening import reached_at

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


def create_intake(settings: DaemonSettings, listener: socket.socket) -> Intake:
    """Build and start what takes requests; hooks are told where the front door is.

    Raises:
        OSError: the home cannot be written.
    """
    live = live_of(settings)
    live.start(DoorAddress(*reached_at(listener), settings.http.token or ""))
    return Intake(Counting(), live.hooks, live.stop)
