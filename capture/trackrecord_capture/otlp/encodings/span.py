"""Spans and log records of OTLP, independent of their encoding.

Nothing here depends on protobuf or JSON, and nothing is interpreted: what an attribute means in
which vocabulary comes later.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Attributes = dict[str, Any]
"""By name. A value is a str, int, float, bool, list, dict or None; bytes are base64 text."""

Status = Literal["unset", "ok", "error"]


class SpanEvent(msgspec.Struct, frozen=True):
    """Something that happened within a span.

    Attributes:
        name: the event's name, for example "exception".
        at_ns: nanoseconds since the epoch; 0 if unknown.
        attributes: what the event says.
    """

    name: str
    at_ns: int
    attributes: Attributes


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One span. The same span may come again: exporters repeat posts without an answer.

    Attributes:
        trace_id: 32 lower-case hexadecimal digits, not all zero.
        span_id: 16 lower-case hexadecimal digits, not all zero.
        parent_id: the parent's span_id; "" for a root.
        name: the span's name.
        start_ns: nanoseconds since the epoch; 0 if unknown.
        end_ns: as `start_ns`.
        status: as the exporter says it, which is often wrong.
        status_message: the status's description; "" if there is none.
        attributes: what the span says.
        events: in the order of the exporter.
        scope: the name of the instrumentation; "" if unknown.
        resource: the attributes of what sent it, for example `service.name`. Spans of one request
            share the object: do not change it.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    status: Status
    status_message: str
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    scope: str
    resource: Mapping[str, Any]


class LogRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One log record or event.

    Attributes:
        at_ns: nanoseconds since the epoch, when it happened or else when it was seen; 0 if unknown.
        trace_id: as a span's; "" if it belongs to none.
        span_id: as a span's; "" if it belongs to none.
        event_name: the name of an event, for example "gen_ai.evaluation.result"; "" for a message.
        body: the body, as an attribute's value.
        attributes: what the record says.
        scope: the name of the instrumentation; "" if unknown.
        resource: as a span's.
    """

    at_ns: int
    trace_id: str
    span_id: str
    event_name: str
    body: Any
    attributes: Attributes
    scope: str
    resource: Mapping[str, Any]
