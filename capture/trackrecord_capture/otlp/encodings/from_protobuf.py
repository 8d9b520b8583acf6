"""Spans and log records from OTLP's protobuf messages."""

import base64
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtoLogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from .density import held_in, is_too_dense
from .ids import SPAN_ID_DIGITS, TRACE_ID_DIGITS, usable_id
from .malformed import TOO_DENSE, Malformed
from .span import Attributes, LogRecord, Span, SpanEvent, Status

_Request = TypeVar("_Request", bound=Message)
_STATUSES: Final[dict[int, Status]] = {1: "ok", 2: "error"}
_EVENT_NAME: Final = "event.name"


def spans(body: bytes) -> Iterator[Span | None]:
    """Return the spans of a request; None for one without ids, or that is malformed.

    Raises:
        Malformed: the body is not such a request.
    """
    request = _parsed(ExportTraceServiceRequest(), body)
    if request is None:
        return (each and _span(*each) for each in _one_by_one(body, ProtoSpan))
    return (
        _span(each, scoped.scope.name, resource)
        for of_resource in request.resource_spans
        for resource in (_attributes(of_resource.resource.attributes),)
        for scoped in of_resource.scope_spans
        for each in scoped.spans
    )


def logs(body: bytes) -> Iterator[LogRecord | None]:
    """Return the log records of a request; None for one that is malformed.

    Raises:
        Malformed: the body is not such a request.
    """
    request = _parsed(ExportLogsServiceRequest(), body)
    if request is None:
        return (each and _log_record(*each) for each in _one_by_one(body, ProtoLogRecord))
    return (
        _log_record(each, scoped.scope.name, resource)
        for of_resource in request.resource_logs
        for resource in (_attributes(of_resource.resource.attributes),)
        for scoped in of_resource.scope_logs
        for each in scoped.log_records
    )


def _parsed(request: _Request, body: bytes) -> _Request | None:
    """Return the request; None if something in it is malformed."""
    if is_too_dense(body, request.DESCRIPTOR):
        raise Malformed(TOO_DENSE)
    try:
        request.ParseFromString(body)
    except DecodeError:
        return None
    return request


def _one_by_one(body: bytes, kind: type[Message]) -> list[tuple[Any, str, Attributes] | None]:
    """Return each span or record with its scope and resource; None for one that is malformed.

    A request of either kind has the same fields: groups (1) of a resource (1) and scopes (2), which
    have a name (1) and items (2).

    Raises:
        Malformed: nothing in the body is a valid item.
    """
    found: list[tuple[Any, str, Attributes] | None] = []
    try:
        for group in held_in(body, 1):
            resource = _merged(Resource(), held_in(group, 1))
            attributes = _attributes(resource.attributes)
            for scoped in held_in(group, 2):
                scope = _merged(InstrumentationScope(), held_in(scoped, 1)).name
                for item in held_in(scoped, 2):
                    with suppress(DecodeError):
                        found.append((kind.FromString(item), scope, attributes))
                        continue
                    found.append(None)
    except (DecodeError, ValueError):
        found = []
    if not any(found):
        message = "the body is not a protobuf message of this kind"
        raise Malformed(message)
    return found


def _merged(message: _Request, parts: Iterable[bytes]) -> _Request:
    for part in parts:
        message.MergeFromString(part)
    return message


def _span(span: Any, scope: str, resource: Attributes) -> Span | None:  # noqa: ANN401 - messages have no static types
    trace_id = usable_id(span.trace_id.hex(), TRACE_ID_DIGITS)
    span_id = usable_id(span.span_id.hex(), SPAN_ID_DIGITS)
    if not trace_id or not span_id:
        return None
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=usable_id(span.parent_span_id.hex(), SPAN_ID_DIGITS),
        name=span.name,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        status=_STATUSES.get(span.status.code, "unset"),
        status_message=span.status.message,
        attributes=_attributes(span.attributes),
        events=tuple(
            SpanEvent(event.name, event.time_unix_nano, _attributes(event.attributes))
            for event in span.events
        ),
        scope=scope,
        resource=resource,
    )


def _log_record(record: Any, scope: str, resource: Attributes) -> LogRecord:  # noqa: ANN401 - as above
    attributes = _attributes(record.attributes)
    return LogRecord(
        at_ns=record.time_unix_nano or record.observed_time_unix_nano,
        trace_id=usable_id(record.trace_id.hex(), TRACE_ID_DIGITS),
        span_id=usable_id(record.span_id.hex(), SPAN_ID_DIGITS),
        event_name=record.event_name or str(attributes.get(_EVENT_NAME) or ""),
        body=_value(record.body),
        attributes=attributes,
        scope=scope,
        resource=resource,
    )


def _attributes(pairs: Iterable[Any]) -> Attributes:
    return {pair.key: _value(pair.value) for pair in pairs}


# The nesting of messages is bounded by protobuf itself, at 100.
def _value(value: Any) -> Any:  # noqa: ANN401 - as above
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    held = getattr(value, kind)
    if kind == "array_value":
        return [_value(each) for each in held.values]
    if kind == "kvlist_value":
        return _attributes(held.values)
    return base64.b64encode(held).decode() if kind == "bytes_value" else held
