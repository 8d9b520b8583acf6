"""The tracer provider of a program that has none, and the exporter to the front door.

Loaded by `trackrecord_tracing` when a framework was imported and OpenTelemetry is installed.
"""

import copy
import http.client
import os
import sys
import time
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

_TIMEOUT_S = 2.0
_DELAY_MS = 1000
_TRIES = 3
_AGAIN = (429, 502, 503, 504)
_NAMELESS = ("", "-c", "-m", "__main__")


def make_provider(state):
    """Return the tracer provider; it is the program's, unless the program has or gets another."""
    exporter = _Exporter(state)
    provider = _Provider(exporter, resource=_resource(state))
    current = trace.get_tracer_provider()
    if hasattr(current, "add_span_processor"):
        provider.adopt(current)
    else:
        trace.set_tracer_provider(provider)
        _follow(provider)
    return provider


def _resource(state):
    told = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    if os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in told:
        return Resource.create({})
    argv = getattr(sys, "argv", None) or [""]
    stem = os.path.splitext(os.path.basename(argv[0]))[0]
    name = state.project or "agent" if stem in _NAMELESS else stem
    return Resource.create({"service.name": name})


def _follow(provider):
    """Let the program set a tracer provider of its own later, as if there had been none."""
    original = trace.set_tracer_provider

    def set_tracer_provider(theirs):
        if trace.get_tracer_provider() is not provider:
            original(theirs)
            return
        provider.adopt(theirs)
        trace._TRACER_PROVIDER = theirs

    trace.set_tracer_provider = set_tracer_provider


class _Provider(TracerProvider):
    """The tracer provider of a program that has none; steps back when it sets its own."""

    def __init__(self, exporter, **options):
        super().__init__(**options)
        self.adopted = None
        self._exporter = exporter
        self.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=_DELAY_MS))

    def get_tracer(self, *arguments, **options):
        return _Tracer(self, arguments, options)

    def get_own_tracer(self, *arguments, **options):
        return super().get_tracer(*arguments, **options)

    def adopt(self, theirs):
        """Move all spans to another provider, and send those recorded so far to the front door."""
        add = getattr(theirs, "add_span_processor", None)
        if theirs is self or theirs is self.adopted or add is None:
            return
        add(BatchSpanProcessor(self._exporter, schedule_delay_millis=_DELAY_MS))
        self.adopted = theirs


class _Tracer(trace.Tracer):
    """Starts spans of whichever provider the program has at that moment."""

    def __init__(self, provider, arguments, options):
        self._provider = provider
        self._arguments = arguments
        self._options = options
        self._of = (None, None)

    def _tracer(self):
        current = self._provider.adopted or self._provider
        if self._of[0] is not current:
            get = current.get_own_tracer if current is self._provider else current.get_tracer
            self._of = (current, get(*self._arguments, **self._options))
        return self._of[1]

    def start_span(self, *arguments, **options):
        return self._tracer().start_span(*arguments, **options)

    def start_as_current_span(self, *arguments, **options):
        return self._tracer().start_as_current_span(*arguments, **options)

    def __getattr__(self, name):
        return getattr(self._tracer(), name)


class _Exporter(SpanExporter):
    """Posts to the front door: quietly, past all proxies, and never for long."""

    def __init__(self, state):
        extra = {"trackrecord.folder": state.folder, "trackrecord.project": state.project}
        self._extra = Resource({name: value for name, value in extra.items() if value})
        self._address = urlsplit(state.endpoint)
        self._headers = {"Content-Type": "application/x-protobuf"}
        if state.token:
            self._headers["Authorization"] = f"Bearer {state.token}"

    def export(self, spans):
        try:
            self._post(encode_spans(self._told(spans)).SerializeToString())
        except Exception:  # noqa: BLE001 - the program must not notice
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def _told(self, spans):
        """Return copies of spans with the project and the folder added."""
        told = [copy.copy(span) for span in spans]
        resources = {}
        for span in told:
            known = span.resource
            if id(known) not in resources:
                resources[id(known)] = (known, known.merge(self._extra))
            span._resource = resources[id(known)][1]
        return told

    def _post(self, body):
        """Post spans; a front door that is busy gets them again, for a few seconds at most."""
        path = f"{self._address.path.rstrip('/')}/v1/traces"
        for attempt in range(1, _TRIES + 1):
            connection = http.client.HTTPConnection(
                self._address.hostname, self._address.port or 80, timeout=_TIMEOUT_S
            )
            try:
                connection.request("POST", path, body, self._headers)
                if connection.getresponse().status not in _AGAIN or attempt == _TRIES:
                    return
            finally:
                connection.close()
            time.sleep(0.3 * attempt)

    def shutdown(self):
        """Do nothing: no connection is open between two posts."""

    def force_flush(self, timeout_millis=30000):  # noqa: ARG002 - OpenTelemetry's signature
        return True
