"""Report by tracing alone, without a line of trackrecord: `python examples/traced_agent.py`.

It needs opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http. Agent frameworks write such
spans by themselves; then OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS are all that is
needed, as docs/capture.md has them.
"""

import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

os.environ.setdefault("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
os.environ.setdefault("OTEL_RESOURCE_ATTRIBUTES", "trackrecord.project=default")


def call_tool(tracer: trace.Tracer, tool: str, arguments: str) -> None:
    """One call of a tool, as a span of the GenAI conventions."""
    with tracer.start_as_current_span(f"execute_tool {tool}") as span:
        span.set_attribute("gen_ai.operation.name", "execute_tool")
        span.set_attribute("gen_ai.tool.name", tool)
        span.set_attribute("gen_ai.tool.call.arguments", arguments)


def main() -> None:
    """One run of an agent, judged by an evaluation at its end."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("example")
    with tracer.start_as_current_span("invoke_agent mender") as run:
        run.set_attribute("gen_ai.operation.name", "invoke_agent")
        run.set_attribute("gen_ai.agent.name", "mender")
        call_tool(tracer, "read_file", '{"path": "build.log"}')
        call_tool(tracer, "edit_file", '{"path": "build.toml"}')
        run.add_event(
            "gen_ai.evaluation.result",
            {"gen_ai.evaluation.name": "build is green", "gen_ai.evaluation.score.label": "pass"},
        )
    provider.shutdown()  # sends what is still on its way


if __name__ == "__main__":
    main()
