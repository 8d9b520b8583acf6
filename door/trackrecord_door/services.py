"""The parts that the front door hands requests on to, built once in its process."""

import socket
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from trackrecord.daemon_settings import DaemonSettings
from trackrecord_capture.agents.door_address import DoorAddress
from trackrecord_capture.live.opening import live_of
from trackrecord_capture.otlp.span import LogRecord, Span

from .intake import Intake
from .listening import address_of

_log = structlog.get_logger(__name__)


class Counting:
    """A receiver that counts what comes, and keeps nothing of it."""

    def __init__(self) -> None:
        self._counts = {"spans": 0, "logs": 0, "scores": 0}

    def spans(self, spans: list[Span]) -> int:
        """Count spans."""
        self._counts["spans"] += len(spans)
        return 0

    def logs(self, logs: list[LogRecord]) -> int:
        """Count log records."""
        self._counts["logs"] += len(logs)
        return 0

    def langfuse_scores(self, scores: Sequence[Mapping[str, Any]]) -> int:
        """Count scores."""
        self._counts["scores"] += len(scores)
        return 0

    def close(self) -> None:
        """Log the counts."""
        _log.info("received", **self._counts)


def create_intake(settings: DaemonSettings, listener: socket.socket) -> Intake:
    """Build and start what takes requests; hooks are told where the front door is.

    Raises:
        OSError: the home cannot be written.
    """
    live = live_of(settings)
    live.start(DoorAddress(*address_of(listener), settings.http.token or ""))
    return Intake(Counting(), live.hooks, live.stop)
