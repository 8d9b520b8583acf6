"""Spans and log records as exporters send them, for tests, and what the buffer makes of them."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from trackrecord_capture.agent_run import AgentRun, RunCall
from trackrecord_capture.otlp.encodings.span import LogRecord, Span, SpanEvent
from trackrecord_capture.otlp.facts.log_events import event_of
from trackrecord_capture.otlp.facts.reading import fact_of
from trackrecord_capture.otlp.runs.runs import TraceScore, runs_of

TRACE = "5b8efff798038103d269b633813fc60c"
START = 1_795_000_000
_NS = 10**9
_ids = itertools.count(1)


def span(
    name: str,
    attributes: Mapping[str, Any] | None = None,
    *,
    under: Span | str | None = None,
    at: float = 0.0,
    lasts: float = 0.1,
    status: str = "unset",
    message: str = "",
    raised: tuple[str, str] | None = None,
    events: Iterable[SpanEvent] = (),
    scope: str = "test",
    trace: str = TRACE,
    service: str = "shop",
    resource: Mapping[str, Any] | None = None,
) -> Span:
    """Return a span that starts `at` seconds into the story."""
    start = round((START + at) * _NS)
    told = list(events)
    if raised is not None:
        exception = {"exception.type": raised[0], "exception.message": raised[1]}
        told.append(SpanEvent("exception", start, exception))
    return Span(
        trace_id=trace,
        span_id=f"{next(_ids):016x}",
        parent_id=under.span_id if isinstance(under, Span) else under or "",
        name=name,
        start_ns=start,
        end_ns=start + round(lasts * _NS),
        status=status,  # type: ignore[arg-type] # a literal in every call
        status_message=message,
        attributes=dict(attributes or {}),
        events=tuple(told),
        scope=scope,
        resource={"service.name": service, **(resource or {})},
    )


def agent_span(
    name: str = "fixer", attributes: Mapping[str, Any] | None = None, **options: Any
) -> Span:
    """Return the span of an agent at work, for half a minute."""
    told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(f"invoke_agent {name}", {**told, **(attributes or {})}, **{"lasts": 30, **options})


def tool_span(
    tool: str = "run_tests", attributes: Mapping[str, Any] | None = None, **options: Any
) -> Span:
    """Return the span of a call; nothing tells how it ended."""
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    return span(f"execute_tool {tool}", {**told, **(attributes or {})}, **options)


def call_span(under: Span, tool: str = "run_tests", **options: Any) -> Span:
    """Return the span of a call that went well."""
    return tool_span(tool, {"gen_ai.tool.call.result": "done"}, under=under, **options)


def log(
    name: str,
    attributes: Mapping[str, Any] | None = None,
    *,
    body: Any = None,
    at: float = 0.0,
    trace: str = "",
    of_span: str = "",
    scope: str = "test",
) -> LogRecord:
    """Return a log record of a moment `at` seconds into the story."""
    return LogRecord(
        at_ns=round((START + at) * _NS),
        trace_id=trace,
        span_id=of_span,
        event_name=name,
        body=body,
        attributes=dict(attributes or {}),
        scope=scope,
        resource={},
    )


def runs_told(*told: Span | LogRecord, scores: Iterable[TraceScore] = ()) -> list[AgentRun]:
    """Return the runs that spans and events of one trace tell of."""
    facts = []
    for each in told:
        if isinstance(each, Span):
            facts.append(fact_of(each))
        elif (event := event_of(each)) is not None:
            facts.append(event[1])
    return [found.run for found in runs_of(TRACE, facts, list(scores))]


def run_told(*told: Span | LogRecord) -> AgentRun:
    """Return the one run that spans and events tell of."""
    (run,) = runs_told(*told)
    return run


def called(run: AgentRun) -> list[tuple[str, bool | None]]:
    """Return the tools that a run called, and whether each call succeeded."""
    return [(call.tool, call.ok) for call in run.calls]


def only_call(*told: Span | LogRecord) -> RunCall:
    """Return the one call of the one run."""
    (call,) = run_told(*told).calls
    return call
