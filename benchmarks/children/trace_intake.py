"""Turn posted spans into outcomes, from protobuf bodies to what is published; prints JSON.

The first argument says how many spans, the second which folder may be written to.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from trackrecord.settings.daemon_settings import TraceRules
from trackrecord_capture.otlp.encodings.decoding import decode_spans
from trackrecord_capture.otlp.traces.opening import TraceBuffer
from trackrecord_capture.outcome import outcome_of

_SPANS_OF_A_TRACE = 10
_TRACES_OF_A_BODY = 50
_SLICE = 512
_TOOLS = ("read_file", "search", "edit_file", "run_tests")
_NS = 10**9
_PROMPT = json.dumps(
    [{"role": "user", "parts": [{"type": "text", "content": "Fix the failing build " * 20}]}]
)


class Counted:
    """Takes outcomes, as a publisher does that is never slow."""

    outcomes = 0

    def publish(self, fields: dict[str, Any]) -> None:
        """Count one."""
        self.outcomes += 1 if fields["tool_graph"] else 0

    def settle(self) -> int:
        """Do nothing: everything was published at once."""
        return 0


def main() -> None:
    """Take all spans by the processor time of this process, decoded alone and then in full."""
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    bodies = list(_bodies(count))
    decoding = -time.process_time()
    spans = sum(1 for body in bodies for _ in decode_spans(body, "protobuf"))
    decoding += time.process_time()
    before = psutil.Process().memory_info().rss
    counted, now = Counted(), [time.time()]
    buffer = TraceBuffer(
        folder / "traces.db", outcome_of, counted, rules=TraceRules(), clock=lambda: now[0]
    )
    taking = -time.process_time()
    for body in bodies:
        taken = [span for span in decode_spans(body, "protobuf") if span is not None]
        for start in range(0, len(taken), _SLICE):
            buffer.spans(taken[start : start + _SLICE])
        now[0] += 1
        buffer.publish_due()
    now[0] += 100
    buffer.publish_due()
    taking += time.process_time()
    after = psutil.Process().memory_info().rss
    buffer.close()
    print(
        json.dumps(
            {
                "spans": spans,
                "lost": spans // _SPANS_OF_A_TRACE - counted.outcomes,
                "decoded_per_s": spans / decoding,
                "taken_per_s": spans / taking,
                "mib": (after - before) / 1024**2,
                "whole_mib": after / 1024**2,
            }
        )
    )


def _bodies(count: int) -> Iterator[bytes]:
    traces = count // _SPANS_OF_A_TRACE
    for first in range(0, traces, _TRACES_OF_A_BODY):
        request = ExportTraceServiceRequest()
        resource = request.resource_spans.add()
        resource.resource.attributes.append(_told("service.name", "shop"))
        scope = resource.scope_spans.add()
        scope.scope.name = "pydantic-ai"
        for trace in range(first, min(first + _TRACES_OF_A_BODY, traces)):
            _add_trace(scope.spans, trace + 1)
        yield request.SerializeToString()


def _add_trace(spans: Any, trace: int) -> None:  # noqa: ANN401 - messages have no static types
    """Add a run: its root, and a request to a model before each of its calls."""
    start = int(time.time()) * _NS
    for number in range(_SPANS_OF_A_TRACE):
        span = spans.add()
        span.trace_id = trace.to_bytes(16, "big")
        span.span_id = (number + 1).to_bytes(8, "big")
        span.start_time_unix_nano = start + number * _NS
        span.end_time_unix_nano = start + (number + 1) * _NS
        if number == 0:
            told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"}
        elif number % 2:
            told = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "100"}
            told |= {"gen_ai.input.messages": _PROMPT, "gen_ai.output.messages": _PROMPT}
        else:
            told = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": _TOOLS[number // 2 - 1],
                "gen_ai.tool.call.id": f"call_{number}",
                "gen_ai.tool.call.arguments": '{"path": "tests/test_orders.py"}',
                "gen_ai.tool.call.result": "12 passed in 0.32s " * 20,
            }
        if number:
            span.parent_span_id = (1).to_bytes(8, "big")
        span.attributes.extend(_told(name, value) for name, value in told.items())


def _told(name: str, value: str) -> KeyValue:
    return KeyValue(key=name, value=AnyValue(string_value=value))


if __name__ == "__main__":
    main()
