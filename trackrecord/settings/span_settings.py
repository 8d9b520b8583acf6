"""The settings of the spans that workers send about themselves."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from trackrecord.learning.numbers.checks import require, require_positive


@dataclass(frozen=True)
class SpanSettings:
    """The destination of spans about workers' own work.

    Attributes:
        url: base URL of an OpenTelemetry collector that takes OTLP over HTTP, for example
            `http://collector:4318`; workers send it a span for each batch and each consolidation.
            If unset, none are sent. It must not be the address of trackrecord's own HTTP server.
        timeout_s: maximum time for one request to the collector.
    """

    url: str | None = None
    timeout_s: float = 5.0

    def __post_init__(self) -> None:
        require(self.url is None or _is_url(self.url), "url must be an http:// or https:// URL")
        require_positive("timeout_s", self.timeout_s)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
