"""Spans of a worker's own work, sent to an OpenTelemetry collector where one is set.

A process makes its spans after it was forked, and a thread of OpenTelemetry's sends them, so that
no batch waits for the collector. Without a collector, nothing of OpenTelemetry is imported.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import structlog

from trackrecord import __version__
from trackrecord.redis.signs_of_life import unique_name
from trackrecord.settings.daemon_settings import DaemonSettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_log = structlog.get_logger(__name__)

_PATH: Final = "/v1/traces"
_NS: Final = 1_000_000_000
_LAST_SPANS_MS: Final = 5_000
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Spans:
    """The spans of one process.

    Args:
        settings: where spans go.
    """

    def __init__(self, settings: DaemonSettings) -> None:
        self._provider = _provider_of(settings)
        self._tracer = self._provider.get_tracer(__name__) if self._provider else None

    def note(
        self, name: str, started: float, *, failed: str | None = None, **attributes: int
    ) -> None:
        """Send a span that ends now, soon.

        Args:
            name: its name.
            started: when it began, by the performance counter.
            failed: why the work failed; None if it did not.
            attributes: its counts.
        """
        if self._tracer is None:
            return
        from opentelemetry.context import Context
        from opentelemetry.trace import Status, StatusCode

        end = time.time_ns()
        span = self._tracer.start_span(
            name,
            context=Context(),
            start_time=end - int((time.perf_counter() - started) * _NS),
            attributes={f"trackrecord.{key}": number for key, number in attributes.items()},
        )
        if failed is not None:
            span.set_status(Status(StatusCode.ERROR, failed))
        span.end(end)

    def close(self) -> None:
        """Send remaining spans, for a few seconds at most."""
        if self._provider is not None:
            self._provider.force_flush(_LAST_SPANS_MS)
            self._provider.shutdown()


def _provider_of(settings: DaemonSettings) -> TracerProvider | None:
    url = settings.spans.url
    if url is None:
        return None
    if _is_own_door(url, settings):
        _log.error("spans_not_sent", reason="TRACKRECORD_SPANS__URL is our own HTTP server")
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        reason = f"{error.name} is not installed: pip install 'trackrecord[spans]'"
        _log.error("spans_not_sent", reason=reason)
        return None
    # Each try that fails would be a line; that spans are lost is one.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    resource = Resource.create(
        {
            "service.name": "trackrecord-worker",
            "service.version": __version__,
            "service.instance.id": unique_name(),
        }
    )
    exporter = OTLPSpanExporter(url.rstrip("/") + _PATH, timeout=settings.spans.timeout_s)
    # `close` is called in order; what OpenTelemetry does at exit comes too late in a worker.
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _is_own_door(url: str, settings: DaemonSettings) -> bool:
    """Return whether spans would come back as something to learn from."""
    parts = urlsplit(url)
    names = {*_LOOPBACK, settings.http.host, *settings.http.names}
    return parts.port == settings.http.port and parts.hostname in names
