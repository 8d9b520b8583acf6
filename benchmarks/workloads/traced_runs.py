"""Agents' runs as OpenTelemetry's conventions have them, in the batches of an exporter."""

from collections.abc import Iterator
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SPANS_OF_RUN = 8
_SECOND_NS = 10**9
_ANSWER = (
    "The test fails because the fixture opens the database before the migration has run. I will "
    "move the call into the fixture, run the tests again, and look at the two others that use it. "
)
_ASKED = '[{"role":"user","parts":[{"type":"text","content":"Fix the test of orders"}]}]'
_RESULT = "FAILED tests/test_api.py::test_order - sqlite3.OperationalError: no such table: orders\n"


def batches(runs: int, spans: int, *, now_ns: int) -> Iterator[bytes]:
    """Yield the spans of runs as bodies of OTLP requests.

    Args:
        runs: the number of runs; each is a trace of its own.
        spans: the number of spans in one body.
        now_ns: when the runs began, nanoseconds since the epoch.
    """
    request, scoped = _empty()
    waiting = 0
    for trace in range(1, runs + 1):
        for place in reversed(range(SPANS_OF_RUN)):  # children come before their parents
            _add(scoped, trace, place, now_ns)
            waiting += 1
            if waiting == spans:
                yield request.SerializeToString()
                request, scoped = _empty()
                waiting = 0
    if waiting:
        yield request.SerializeToString()


def _empty() -> tuple[ExportTraceServiceRequest, Any]:
    request = ExportTraceServiceRequest()
    of_resource = request.resource_spans.add()
    for key, value in (("service.name", "fixer"), ("telemetry.sdk.language", "python")):
        of_resource.resource.attributes.add(key=key).value.string_value = value
    scoped = of_resource.scope_spans.add()
    scoped.scope.name = "the-framework"
    return request, scoped


def _add(scoped: Any, trace: int, place: int, now_ns: int) -> None:  # noqa: ANN401 - messages have no static types
    span = scoped.spans.add(
        trace_id=trace.to_bytes(16, "big"),
        span_id=(trace * SPANS_OF_RUN + place + 1).to_bytes(8, "big"),
        parent_span_id=b"" if place == 0 else (trace * SPANS_OF_RUN + 1).to_bytes(8, "big"),
        name=_names(place),
        start_time_unix_nano=now_ns + place * _SECOND_NS,
        end_time_unix_nano=now_ns + (SPANS_OF_RUN if place == 0 else place + 1) * _SECOND_NS,
    )
    for key, value in _attributes(trace, place).items():
        held = span.attributes.add(key=key).value
        if isinstance(value, int):
            held.int_value = value
        else:
            held.string_value = value


def _names(place: int) -> str:
    if place == 0:
        return "invoke_agent fixer"
    return "chat a-model" if place % 2 else "execute_tool run_tests"


def _attributes(trace: int, place: int) -> dict[str, str | int]:
    if place == 0:
        return {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "fixer",
            "gen_ai.conversation.id": f"conversation-{trace}",
            "gen_ai.input.messages": _ASKED,
        }
    if place % 2:
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "a-model",
            "gen_ai.usage.input_tokens": 1200 + place,
            "gen_ai.usage.output_tokens": 150,
            "gen_ai.output.messages": _ANSWER,
        }
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "run_tests",
        "gen_ai.tool.call.id": f"call-{trace}-{place}",
        "gen_ai.tool.call.arguments": '{"path": "tests/test_api.py"}',
        "gen_ai.tool.call.result": _RESULT * 3,
        **({"error.type": "ExitCode"} if place == 2 else {}),
    }
