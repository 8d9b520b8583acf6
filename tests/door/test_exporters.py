"""OpenTelemetry's own exporters for Python, against a real front door."""

import threading
import time

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.trace import Status, StatusCode


class Watched(OTLPSpanExporter):
    """The exporter, and whether it succeeded; a busy machine is not a reason to give up."""

    def __init__(self, **given) -> None:
        super().__init__(timeout=120, **given)
        self.results: list[SpanExportResult] = []

    def export(self, spans):
        result = super().export(spans)
        self.results.append(result)
        return result


def tracer_of(exporter):
    provider = TracerProvider(resource=Resource({"service.name": "fixer", "tags": ["a", "b"]}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("the-scope")


@pytest.mark.parametrize("compression", list(Compression))
def test_spans_of_an_exporter(emptied_door, compression):
    """Every field arrives as the program set it, compressed or not."""
    exporter = Watched(endpoint=f"{emptied_door.url}/v1/traces", compression=compression)
    tracer = tracer_of(exporter)
    with tracer.start_as_current_span("invoke_agent fixer") as root:
        root.set_attribute("gen_ai.agent.name", "fixer")
        with tracer.start_as_current_span("execute_tool run_tests") as child:
            child.set_attribute("n", 2**62)
            child.set_attribute("share", 0.5)
            child.set_attribute("seen", [True, False])
            child.add_event("exception", {"exception.type": "ValueError"})
            child.set_status(Status(StatusCode.ERROR, "it failed"))
    assert exporter.results == [SpanExportResult.SUCCESS] * 2
    tool, agent = emptied_door.taken("span")
    assert (agent["name"], agent["parent_id"]) == ("invoke_agent fixer", "")
    assert agent["trace_id"] == f"{root.get_span_context().trace_id:032x}"
    assert (tool["parent_id"], tool["trace_id"]) == (agent["span_id"], agent["trace_id"])
    assert tool["attributes"] == {"n": 2**62, "share": 0.5, "seen": [True, False]}
    assert (tool["status"], tool["status_message"]) == ("error", "it failed")
    (event,) = tool["events"]
    assert (event["name"], event["attributes"]) == ("exception", {"exception.type": "ValueError"})
    assert (tool["scope"], agent["status"]) == ("the-scope", "unset")
    assert tool["resource"] == {"service.name": "fixer", "tags": ["a", "b"]}
    assert tool["start_ns"] >= agent["start_ns"] > 10**18
    assert agent["end_ns"] >= tool["end_ns"]


def test_an_exporter_retries_while_the_receiver_is_full(emptied_door):
    """503 with Retry-After makes it wait and send the same spans again: nothing is lost."""
    emptied_door.switch("full", on=True)
    exporter = Watched(endpoint=f"{emptied_door.url}/v1/traces")
    tracer = tracer_of(exporter)

    def run() -> None:
        with tracer.start_as_current_span("kept"):
            pass

    agent = threading.Thread(target=run)
    agent.start()
    time.sleep(0.5)  # long enough for a first refusal; if it is not, the test still holds
    emptied_door.switch("full", on=False)
    agent.join(200)
    assert exporter.results == [SpanExportResult.SUCCESS]
    assert [span["name"] for span in emptied_door.taken("span")] == ["kept"]
