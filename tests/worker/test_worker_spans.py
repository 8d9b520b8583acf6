"""Spans of a worker's own work, received by a collector."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import redis
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from structlog.testing import capture_logs

from tests.worker.working import body, process, publish, until
from trackrecord.errors import SettingsError
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_worker.app import create_app
from trackrecord_worker.services import Services
from trackrecord_worker.spans import Spans
from trackrecord_worker.up.daemon import worker_command


class Collector(ThreadingHTTPServer):
    """Keeps the spans that are posted to it."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, ExportTraceServiceRequest]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for _, request in list(self.requests)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Collector)
        self.server.requests.append((self.path, ExportTraceServiceRequest.FromString(content)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A running collector."""
    with Collector() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sent_to(settings: Settings, url: str, **others: Any) -> Settings:
    """The same settings, with a collector."""
    return load_settings(home=settings.home, spans={"url": url}, drain_block_s=0.01, **others)


def counts_of(span: Span) -> dict[str, int]:
    """The counts that a span tells."""
    return {each.key.removeprefix("trackrecord."): each.value.int_value for each in span.attributes}


def test_a_batch_is_a_span(
    worker_of: Callable[[Settings], Services],
    settings: Settings,
    client: redis.Redis,
    collector: Collector,
) -> None:
    """With its counts, and nothing of its content."""
    worker = worker_of(sent_to(settings, collector.url))
    publish(client, settings, body(1), body(2), b"nonsense")
    worker.drain.run()
    worker.spans.close()
    (span,) = collector.spans
    assert span.name == "learn batch"
    assert span.end_time_unix_nano > span.start_time_unix_nano
    counts = counts_of(span)
    assert (counts["entries"], counts["recorded"], counts["refused"]) == (3, 2, 1)
    ((path, request),) = collector.requests
    assert path == "/v1/traces"
    resource = {
        each.key: each.value.string_value for each in request.resource_spans[0].resource.attributes
    }
    assert resource["service.name"] == "trackrecord-worker"
    assert b"feature" not in request.SerializeToString()


def test_a_batch_that_the_database_refuses_is_a_span_that_failed(
    worker_of: Callable[[Settings], Services],
    settings: Settings,
    client: redis.Redis,
    collector: Collector,
) -> None:
    """As is a consolidation."""
    worker = worker_of(sent_to(settings, collector.url))
    publish(client, settings, body(1))
    _ = worker.drain
    worker.engine.dispose()
    (settings.home / "trackrecord.db").write_bytes(b"damaged" * 1000)
    worker.drain.run()
    worker.spans.close()
    (span,) = collector.spans
    assert span.status.code == span.status.STATUS_CODE_ERROR


def test_a_real_worker_sends_its_last_spans_when_it_ends(
    settings: Settings, client: redis.Redis, collector: Collector, tmp_path: Path
) -> None:
    """From the processes that it forked."""
    traced = sent_to(settings, collector.url, worker_concurrency=1)
    publish(client, settings, body(1))
    with process(worker_command(traced), traced, tmp_path / "worker.log"):
        create_app(traced).send_task("trackrecord.drain")
        until(lambda: client.exists(settings.keys.counters))
    assert [span.name for span in collector.spans] == ["learn batch"]


def test_a_collector_that_is_away_holds_nothing_up(
    worker_of: Callable[[Settings], Services], settings: Settings, client: redis.Redis
) -> None:
    """What is to be learnt is learnt."""
    worker = worker_of(sent_to(settings, "http://127.0.0.1:9"))
    publish(client, settings, body(1))
    worker.drain.run()
    assert client.xlen(settings.keys.outcomes) == 0


def test_without_a_collector_nothing_is_imported(home: Path) -> None:
    """A worker that sends no spans does not pay for them."""
    # redis-py imports other parts of OpenTelemetry wherever they are installed.
    script = (
        "import sys, pathlib; from trackrecord.settings.settings import load_settings; "
        "from trackrecord_worker.app import create_app; "
        "from trackrecord_worker.services import Services; "
        f"settings = load_settings(home=pathlib.Path({str(home)!r})); "
        "spans = Services(settings, create_app(settings)).spans; "
        "spans.note('learn batch', 0.0, entries=1); spans.close(); "
        "sys.exit('opentelemetry.exporter' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_package_that_is_missing_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, with what to install; the worker goes on without."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with capture_logs() as lines:
        Spans(sent_to(settings, "http://collector:4318")).note("learn batch", 0.0)
    (line,) = lines
    assert line["event"] == "spans_not_sent"
    assert "trackrecord[spans]" in line["reason"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "door.internal"])
def test_our_own_front_door_is_no_collector(settings: Settings, host: str) -> None:
    """It would take the spans for an agent's."""
    own = sent_to(settings, f"http://{host}:4321", http={"port": 4321, "names": ["door.internal"]})
    with capture_logs() as lines:
        Spans(own)
    assert [line["event"] for line in lines] == ["spans_not_sent"]


@pytest.mark.parametrize("url", ["collector:4318", "ftp://collector", "http://", "http://x:99999"])
def test_what_is_not_a_url_is_refused(settings: Settings, url: str) -> None:
    """When the settings are read."""
    with pytest.raises(SettingsError, match="url"):
        sent_to(settings, url)
