"""Spans and log records from OTLP's JSON, which differs from protobuf's own JSON.

Ids are hexadecimal and not base64, enums are numbers, 64-bit integers are texts or numbers, and
unknown fields are ignored: they are never built in memory, because the shapes below have no place
for them.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import msgspec

from trackrecord.wire.storable import decoded as storable_decoded

from .ids import SPAN_ID_DIGITS, TRACE_ID_DIGITS, usable_id
from .malformed import TOO_DENSE, Malformed
from .span import Attributes, LogRecord, Span, SpanEvent, Status

_Integer = int | float | str | None
_Request = TypeVar("_Request")
# By number, as the specification says, and by name, as some exporters write it nevertheless.
_STATUSES: Final[dict[object, Status]] = {
    1: "ok",
    2: "error",
    "STATUS_CODE_OK": "ok",
    "STATUS_CODE_ERROR": "error",
}
_EVENT_NAME: Final = "event.name"
_MOST_DIGITS: Final = 32
_MOST_OBJECTS: Final = 1_500_000
_DEEPEST: Final = 100


class _Shape(msgspec.Struct, rename="camel", gc=False):
    """A JSON object of which only the declared fields are read."""


class _Value(_Shape):
    string_value: str | None = None
    bool_value: bool | None = None
    int_value: _Integer = None
    double_value: float | str | None = None
    array_value: "_Values | None" = None
    kvlist_value: "_Pairs | None" = None
    bytes_value: str | None = None


class _Values(_Shape):
    values: list[_Value | None] | None = None


class _Pair(_Shape):
    key: str = ""
    value: _Value | None = None


class _Pairs(_Shape):
    values: list[_Pair] | None = None


class _Attributed(_Shape):
    attributes: list[_Pair] | None = None


class _Scope(_Shape):
    name: str | None = None


class _Status(_Shape):
    code: int | str | None = None
    message: str | None = None


class _Event(_Shape):
    time_unix_nano: _Integer = None
    name: str | None = None
    attributes: list[_Pair] | None = None


class _Span(_Shape):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: _Integer = None
    end_time_unix_nano: _Integer = None
    attributes: list[_Pair] | None = None
    events: list[_Event] | None = None
    status: _Status | None = None


class _ScopeSpans(_Shape):
    scope: _Scope | None = None
    # Each is decoded alone, so that a malformed one costs none of the others.
    spans: list[msgspec.Raw] | None = None


class _ResourceSpans(_Shape):
    resource: _Attributed | None = None
    scope_spans: list[_ScopeSpans] | None = None


class _TraceRequest(_Shape):
    resource_spans: list[_ResourceSpans] | None = None


class _Record(_Shape):
    time_unix_nano: _Integer = None
    observed_time_unix_nano: _Integer = None
    event_name: str | None = None
    body: _Value | None = None
    attributes: list[_Pair] | None = None
    trace_id: str | None = None
    span_id: str | None = None


class _ScopeLogs(_Shape):
    scope: _Scope | None = None
    log_records: list[msgspec.Raw] | None = None


class _ResourceLogs(_Shape):
    resource: _Attributed | None = None
    scope_logs: list[_ScopeLogs] | None = None


class _LogsRequest(_Shape):
    resource_logs: list[_ResourceLogs] | None = None


_TRACES = msgspec.json.Decoder(_TraceRequest)
_LOGS = msgspec.json.Decoder(_LogsRequest)
_SPAN = msgspec.json.Decoder(_Span)
_RECORD = msgspec.json.Decoder(_Record)


def spans(body: bytes) -> Iterator[Span | None]:
    """Return the spans of a request; None for one without ids, or that is malformed.

    Raises:
        Malformed: the body is not such a request.
    """
    request = _decoded(_TRACES, body)
    return (
        _span(each, _scope(scoped.scope), resource)
        for of_resource in request.resource_spans or ()
        for resource in (_resource(of_resource.resource),)
        for scoped in of_resource.scope_spans or ()
        for each in scoped.spans or ()
    )


def logs(body: bytes) -> Iterator[LogRecord | None]:
    """Return the log records of a request; None for one that is malformed.

    Raises:
        Malformed: the body is not such a request.
    """
    request = _decoded(_LOGS, body)
    return (
        _log_record(each, _scope(scoped.scope), resource)
        for of_resource in request.resource_logs or ()
        for resource in (_resource(of_resource.resource),)
        for scoped in of_resource.scope_logs or ()
        for each in scoped.log_records or ()
    )


def _decoded(decoder: "msgspec.json.Decoder[_Request]", body: bytes) -> _Request:
    # Each object takes a hundred bytes in memory, and three in the body if it is empty.
    if body.count(b"{") > _MOST_OBJECTS:
        raise Malformed(TOO_DENSE)
    try:
        return storable_decoded(body, decoder)
    except msgspec.ValidationError as error:
        message = f"the body is not a request of this kind: {error}"
        raise Malformed(message) from None
    except (ValueError, RecursionError):  # msgspec's DecodeError and broken UTF-8 are ValueErrors
        message = "the body is not JSON in UTF-8"
        raise Malformed(message) from None


def _decoded_alone(decoder: "msgspec.json.Decoder[_Request]", item: msgspec.Raw) -> _Request:
    try:
        return storable_decoded(item, decoder)
    except (ValueError, RecursionError):
        message = "an item is not of its kind"
        raise Malformed(message) from None


def _scope(scope: _Scope | None) -> str:
    return (scope.name or "") if scope is not None else ""


def _resource(resource: _Attributed | None) -> Attributes:
    return _attributes(resource.attributes) if resource is not None else {}


def _span(item: msgspec.Raw, scope: str, resource: Attributes) -> Span | None:
    try:
        return _whole_span(_decoded_alone(_SPAN, item), scope, resource)
    except Malformed:
        return None


def _whole_span(span: _Span, scope: str, resource: Attributes) -> Span | None:
    trace_id = usable_id(span.trace_id or "", TRACE_ID_DIGITS)
    span_id = usable_id(span.span_id or "", SPAN_ID_DIGITS)
    if not trace_id or not span_id:
        return None
    status = span.status or _Status()
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=usable_id(span.parent_span_id or "", SPAN_ID_DIGITS),
        name=span.name or "",
        start_ns=_moment(span.start_time_unix_nano),
        end_ns=_moment(span.end_time_unix_nano),
        status=_STATUSES.get(status.code, "unset"),
        status_message=status.message or "",
        attributes=_attributes(span.attributes),
        events=tuple(
            SpanEvent(
                event.name or "", _moment(event.time_unix_nano), _attributes(event.attributes)
            )
            for event in span.events or ()
        ),
        scope=scope,
        resource=resource,
    )


def _log_record(item: msgspec.Raw, scope: str, resource: Attributes) -> LogRecord | None:
    try:
        return _whole_record(_decoded_alone(_RECORD, item), scope, resource)
    except Malformed:
        return None


def _whole_record(record: _Record, scope: str, resource: Attributes) -> LogRecord:
    attributes = _attributes(record.attributes)
    return LogRecord(
        at_ns=_moment(record.time_unix_nano) or _moment(record.observed_time_unix_nano),
        trace_id=usable_id(record.trace_id or "", TRACE_ID_DIGITS),
        span_id=usable_id(record.span_id or "", SPAN_ID_DIGITS),
        event_name=record.event_name or str(attributes.get(_EVENT_NAME) or ""),
        body=_value(record.body),
        attributes=attributes,
        scope=scope,
        resource=resource,
    )


def _attributes(pairs: list[_Pair] | None, depth: int = 0) -> Attributes:
    return {pair.key: _value(pair.value, depth) for pair in pairs or ()}


def _value(value: _Value | None, depth: int = 0) -> Any:  # noqa: ANN401 - of many types
    if value is None:
        return None
    if depth > _DEEPEST:
        message = f"a value is nested more than {_DEEPEST} times"
        raise Malformed(message)
    if value.array_value is not None:
        return [_value(each, depth + 1) for each in value.array_value.values or ()]
    if value.kvlist_value is not None:
        return _attributes(value.kvlist_value.values, depth + 1)
    return _plain_value(value)


def _plain_value(value: _Value) -> str | int | float | bool | None:
    if value.string_value is not None:
        return value.string_value
    if value.bool_value is not None:
        return value.bool_value
    if value.int_value is not None:
        return _integer(value.int_value)
    if value.double_value is not None:
        return _number(value.double_value)
    return value.bytes_value


def _moment(written: _Integer) -> int:
    read = _integer(written)
    return max(read, 0)


def _integer(written: _Integer) -> int:
    """Read an integer that JavaScript may have written as a text or with an exponent."""
    if isinstance(written, str) and len(written) > _MOST_DIGITS:
        message = "an integer has too many digits"
        raise Malformed(message)
    try:
        return int(written or 0)
    except (ValueError, OverflowError):
        message = "an integer is not a whole number"
        raise Malformed(message) from None


def _number(written: float | str) -> float:
    try:
        return float(written)  # "NaN" and "Infinity" are texts in JSON
    except ValueError:
        message = "a double is not a number"
        raise Malformed(message) from None
