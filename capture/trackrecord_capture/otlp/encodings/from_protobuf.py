"""Spans and log records from OTLP's protobuf messages.

The wire format of protobuf, as far as bodies are looked at before or without parsing them whole.

How many messages a body holds is counted first.

An empty message takes two bytes on the wire and up to two hundred in memory. Within the largest
size of a body, that makes two gigabytes.
"""

import base64
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtoLogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from .span import TOO_DENSE, Attributes, LogRecord, Malformed, Span, WireForm

# Bodies below this size are parsed without being counted: the worst of them takes 100 MB.
_SMALL: Final = 1024 * 1024
_MOST_MESSAGES: Final = 1_000_000
_VARINT, _FIXED64, _SIZED, _FIXED32 = 0, 1, 2, 5
_WIDTHS: Final = {_FIXED64: 8, _FIXED32: 4}


def is_too_dense(body: bytes, kind: Any) -> bool:  # noqa: ANN401 - descriptors have no common static type
    """Return whether a body holds more messages than may be made of it.

    Args:
        body: the wire format; where it is malformed, the parser says so.
        kind: the descriptor of the message.
    """
    return len(body) > _SMALL and messages_in(body, kind) > _MOST_MESSAGES


def messages_in(body: bytes, kind: Any) -> int:  # noqa: ANN401 - as above
    """Return how many messages lie in a message, counted up to the most that are permitted.

    Args:
        body: as for `is_too_dense`.
        kind: as for `is_too_dense`.
    """
    count = 0
    waiting = [(0, len(body), kind)]
    while waiting and count <= _MOST_MESSAGES:
        place, end, within = waiting.pop()
        below = _messages_below(within)
        for number, start, stop in _sized(body, place, end):
            if held := below.get(number):
                count += 1
                waiting.append((start, min(stop, end), held))
                if count > _MOST_MESSAGES:
                    break
    return count


def held_in(body: bytes, number: int) -> Iterator[bytes]:
    """Return the contents of a protobuf field, as far as its values have a length.

    Raises:
        ValueError: the body is cut off, or holds what is not the wire format.
    """
    for held, start, stop in _sized(body, 0, len(body)):
        if stop > len(body):
            message = "the message is cut off"
            raise ValueError(message)
        if held == number:
            yield body[start:stop]


def _sized(body: bytes, place: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each field with a length, and where its value starts and stops.

    What is cut off, or is not the wire format, ends the message: the last value stops behind it.
    """
    while place < end:
        tag, place = _varint(body, place, end)
        wire_type = tag & 7
        if wire_type == _VARINT:
            _, place = _varint(body, place, end)
        elif wire_type == _SIZED:
            size, place = _varint(body, place, end)
            yield tag >> 3, place, place + size
            place += size
        else:
            place += _WIDTHS.get(wire_type, end + 1)
            if place > end:
                yield 0, place, place


def _mended(body: bytes, kind: Any) -> bytes:  # noqa: ANN401 - as above
    """Replace, with question marks, the bytes of a message's texts that are not UTF-8."""
    mended, waiting = bytearray(body), [(0, len(body), kind)]
    while waiting:
        place, end, within = waiting.pop()
        for number, start, stop in _sized(body, place, end):
            field = within.fields_by_number.get(number)
            value = slice(start, min(stop, end))
            if field and field.message_type:
                waiting.append((start, value.stop, field.message_type))
            elif field and field.type == field.TYPE_STRING:
                text = body[value].decode("utf-8", "surrogateescape")
                mended[value] = text.encode("utf-8", "replace")
    return bytes(mended)


@cache
def _messages_below(kind: Any) -> dict[int, Any]:  # noqa: ANN401 - as above
    """Return the fields of a message that hold messages, by number."""
    return {field.number: field.message_type for field in kind.fields if field.message_type}


def _varint(body: bytes, place: int, end: int) -> tuple[int, int]:
    """Return an integer and the place behind it; 0 and the end if it is cut off."""
    number = shift = 0
    while place < end:
        byte = body[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7
        if shift > 63:
            break
    return 0, end


_Request = TypeVar("_Request", bound=Message)
_Item = tuple[Any, str, Attributes]


def spans(body: bytes) -> Iterator[Span | None]:
    """Return the spans of a request; None for one without ids, or that is malformed.

    Raises:
        Malformed: the body is not such a request.
    """
    found = _items(body, ExportTraceServiceRequest(), ProtoSpan, ("spans", "spans"))
    return (each and _PROTOBUF.span(*each) for each in found)


def logs(body: bytes) -> Iterator[LogRecord | None]:
    """Return the log records of a request; None for one that is malformed.

    Raises:
        Malformed: the body is not such a request.
    """
    found = _items(body, ExportLogsServiceRequest(), ProtoLogRecord, ("logs", "log_records"))
    return (each and _PROTOBUF.record(*each) for each in found)


def _items(
    body: bytes, request: Message, kind: type[Message], names: tuple[str, str]
) -> Iterable[_Item | None]:
    """Return each span or record with its scope and resource; None for one that is malformed.

    Args:
        body: the wire format.
        request: what it is parsed into.
        kind: of the items.
        names: of the request's fields for their groups, and for themselves.

    Raises:
        Malformed: there are too many messages, or none is a valid item.
    """
    if is_too_dense(body, request.DESCRIPTOR):
        raise Malformed(TOO_DENSE)
    try:
        request.ParseFromString(body)
    except DecodeError:
        return _one_by_one(_mended(body, request.DESCRIPTOR), kind)
    return _PROTOBUF.items(request, *names)


def _one_by_one(body: bytes, kind: type[Message]) -> list[_Item | None]:
    """Return each span or record with its scope and resource; None for one that is malformed.

    A request of either kind has the same fields: groups (1) of a resource (1) and scopes (2), which
    have a name (1) and items (2).

    Raises:
        Malformed: nothing in the body is a valid item.
    """
    found: list[_Item | None] = []
    try:
        for group in held_in(body, 1):
            resource = _merged(Resource(), held_in(group, 1))
            attributes = _PROTOBUF.attributes(resource.attributes)
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


# The nesting of messages is bounded by protobuf itself, at 100.
def _value(value: Any) -> Any:  # noqa: ANN401 - as above
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    held = getattr(value, kind)
    if kind == "array_value":
        return [_value(each) for each in held.values]
    if kind == "kvlist_value":
        return _PROTOBUF.attributes(held.values)
    return base64.b64encode(held).decode() if kind == "bytes_value" else held


_PROTOBUF: Final = WireForm(bytes.hex, int, _value)
