"""Spans of CrewAI's crews, agents and calls, made from the events of its own bus.

Loaded by `trackrecord_tracing` when CrewAI was imported: its instrumentations have no spans of
calls. Handlers run in threads of the bus and may overtake each other, so a call's span is made
when it ends.
"""

import collections
import threading
import traceback

from opentelemetry import trace

_MOST_SCOPES = 10_000
_MOST_TEXT = 65_536


def listen(provider):
    """Make spans of whatever happens on CrewAI's event bus from now on."""
    from crewai import events

    spans = _Spans(provider.get_tracer("trackrecord.crewai"))
    handlers = {
        "CrewKickoffStartedEvent": lambda event: spans.begin(event, "crew_name"),
        "FlowStartedEvent": spans.begin_flow,
        "AgentExecutionStartedEvent": lambda event: spans.begin(event, "agent_role"),
        "LiteAgentExecutionStartedEvent": spans.begin_agent,
        "TaskStartedEvent": spans.begin_task,
        "MethodExecutionStartedEvent": spans.pass_through,
        "ToolUsageFinishedEvent": spans.call,
        "ToolUsageErrorEvent": spans.call,
    }
    for scope in ("CrewKickoff", "Flow", "AgentExecution", "LiteAgentExecution"):
        for how in ("Completed", "Finished", "Failed", "Error"):
            handlers[f"{scope}{how}Event"] = spans.end
    for name, handler in handlers.items():
        kind = getattr(events, name, None)
        if kind is not None:
            events.crewai_event_bus.on(kind)(_quietly(handler))


def _quietly(handler):
    def handle(source, event):  # noqa: ARG001 - the bus calls handlers so
        try:
            handler(event)
        except Exception:  # noqa: BLE001 - the program must not notice
            return

    return handle


class _Spans:
    """Open spans by the id of the event that began them.

    Events name the event around them. Of what is no agent's work the span around it is kept.
    """

    def __init__(self, tracer):
        self._tracer = tracer
        self._lock = threading.Lock()
        self._scopes = collections.OrderedDict()

    def begin(self, event, name_in):
        """Begin a run, or the part of an agent in it."""
        name = getattr(event, name_in, None) or "crew"
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": str(name)}
        self._keep(event, self._started(f"invoke_agent {name}", event, attributes))

    def begin_flow(self, event):
        """Begin a flow of the program's own: in an agent, it is how CrewAI runs that agent."""
        if event.parent_event_id is None:
            self.begin(event, "flow_name")
        else:
            self.pass_through(event)

    def begin_agent(self, event):
        """Begin an agent that works without a crew."""
        role = event.agent_info.get("role") or "agent"
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": str(role)}
        span = self._started(f"invoke_agent {role}", event, attributes)
        asked = event.messages
        asked = [asked] if isinstance(asked, str) else [m.get("content") for m in asked]
        span.set_attribute("user_prompt", _text(asked[-1] if asked else ""))
        self._keep(event, span)

    def begin_task(self, event):
        """A run was asked its first task."""
        span = self.pass_through(event)
        task = getattr(event, "task", None)
        if span is not None and task is not None and "user_prompt" not in (span.attributes or {}):
            span.set_attribute("user_prompt", _text(task.description))

    def pass_through(self, event):
        """Note what is around an event that has no span of its own; return its span."""
        span = self._around(event.parent_event_id)
        self._keep(event, span)
        return span

    def end(self, event):
        """End a run, or the part of an agent in it."""
        span = self._around(getattr(event, "started_event_id", None))
        if span is None or not span.is_recording():
            return
        _fail(span, getattr(event, "error", None))
        span.end(_nanoseconds(event.timestamp))

    def call(self, event):
        """Make the span of a call that has ended."""
        began = getattr(event, "started_at", None) or event.timestamp
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.tool_name,
            "gen_ai.tool.call.id": getattr(event, "started_event_id", None) or event.event_id,
            "gen_ai.tool.call.arguments": _json(event.tool_args),
        }
        if getattr(event, "output", None) is not None:
            attributes["gen_ai.tool.call.result"] = _text(event.output)
        span = self._started(f"execute_tool {event.tool_name}", event, attributes, began)
        _fail(span, getattr(event, "error", None) or getattr(event, "failure", None))
        span.end(_nanoseconds(event.timestamp))

    def _started(self, name, event, attributes, began=None):
        around = self._around(event.parent_event_id)
        # The bus calls handlers in the context of the event: a span of the program's own counts.
        context = None if around is None else trace.set_span_in_context(around)
        start = _nanoseconds(began or event.timestamp)
        return self._tracer.start_span(name, context, attributes=attributes, start_time=start)

    def _around(self, event_id):
        with self._lock:
            return self._scopes.get(event_id)

    def _keep(self, event, span):
        with self._lock:
            self._scopes[event.event_id] = span
            while len(self._scopes) > _MOST_SCOPES:
                self._scopes.popitem(last=False)


def _fail(span, error):
    if error is None:
        return
    message = getattr(error, "message", None) or error
    if isinstance(error, BaseException):
        message = traceback.format_exception_only(error)[-1].strip()
        span.set_attribute("error.type", type(error).__name__)
    span.set_status(trace.StatusCode.ERROR, _text(message))


def _json(arguments):
    import json

    return _text(arguments if isinstance(arguments, str) else json.dumps(arguments, default=str))


def _text(value):
    """Return the text of a value: of a long one, the beginning and the end."""
    text = str(value)
    half = _MOST_TEXT // 2
    return text if len(text) <= _MOST_TEXT else f"{text[:half]}\n{text[-half:]}"


def _nanoseconds(moment):
    return int(moment.timestamp() * 1e9)
