"""Spans and log records from OTLP's JSON, which differs from protobuf's own JSON.

Ids are hexadecimal and not base64, enums are numbers, 64-bit integers are texts or numbers, and
unknown fields are ignored: they are never built in memory, because the shapes below have no place
for them.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from trackrecord.wire.storable import decoded as storable_decoded

from .span import TOO_DENSE, Attributes, LogRecord, Malformed, Span, WireForm

_Integer = int | float | str | None
_Request = TypeVar("_Request")
_Item = TypeVar("_Item")
_Built = TypeVar("_Built")
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


class _Event(_Attributed):
    time_unix_nano: _Integer = None
    name: str | None = None


class _Span(_Attributed):
    trace_id: str | None = None
    span_id: str | None = None
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: _Integer = None
    end_time_unix_nano: _Integer = None
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


class _Record(_Attributed):
    time_unix_nano: _Integer = None
    observed_time_unix_nano: _Integer = None
    event_name: str | None = None
    body: _Value | None = None
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
    items = _JSON.items(_decoded(_TRACES, body), "spans", "spans")
    return (_built(_SPAN, _JSON.span, *each) for each in items)


def logs(body: bytes) -> Iterator[LogRecord | None]:
    """Return the log records of a request; None for one that is malformed.

    Raises:
        Malformed: the body is not such a request.
    """
    items = _JSON.items(_decoded(_LOGS, body), "logs", "log_records")
    return (_built(_RECORD, _JSON.record, *each) for each in items)


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


def _built(
    decoder: "msgspec.json.Decoder[_Item]",
    build: Callable[[_Item, str, Attributes], _Built],
    item: msgspec.Raw,
    scope: str,
    resource: Attributes,
) -> _Built | None:
    try:
        return build(storable_decoded(item, decoder), scope, resource)
    except (ValueError, RecursionError, Malformed):
        return None


def _value(value: _Value | None, depth: int = 0) -> Any:  # noqa: ANN401 - of many types
    if value is None:
        return None
    if depth > _DEEPEST:
        message = f"a value is nested more than {_DEEPEST} times"
        raise Malformed(message)
    if value.array_value is not None:
        return [_value(each, depth + 1) for each in value.array_value.values or ()]
    if value.kvlist_value is not None:
        pairs = value.kvlist_value.values or ()
        return {pair.key: _value(pair.value, depth + 1) for pair in pairs}
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


_JSON: Final = WireForm(lambda written: written or "", _moment, _value)
