"""Spans and log records of OTLP, independent of their encoding.

Nothing here depends on protobuf or JSON, whose messages have the same parts by the same names, and
nothing is interpreted: what an attribute means in which vocabulary comes later.
"""

import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

Attributes = dict[str, Any]
"""By name. A value is a str, int, float, bool, list, dict or None; bytes are base64 text."""

Status = Literal["unset", "ok", "error"]
_TRACE_ID_DIGITS: Final = 32
_SPAN_ID_DIGITS: Final = 16
_HEX: Final = frozenset(string.hexdigits)
# By number, as the specification says, and by name, as some exporters write it nevertheless.
_STATUSES: Final[dict[object, Status]] = {
    1: "ok",
    2: "error",
    "STATUS_CODE_OK": "ok",
    "STATUS_CODE_ERROR": "error",
}
_EVENT_NAME: Final = "event.name"
TOO_DENSE: Final = "the body holds too many values; send smaller batches"


class Malformed(Exception):
    """Raised when a body cannot be decoded; the message has the reason and no part of the body."""


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


class WireForm(NamedTuple):
    """The parts that the two encodings write differently.

    Attributes:
        digits: returns an id as hexadecimal digits.
        moment: returns nanoseconds since the epoch.
        value: returns the value of an attribute.
    """

    digits: Callable[[Any], str]
    moment: Callable[[Any], int]
    value: Callable[[Any], Any]

    def attributes(self, pairs: Iterable[Any] | None) -> Attributes:
        """Return attributes by name."""
        return {pair.key: self.value(pair.value) for pair in pairs or ()}

    def items(
        self,
        request: Any,  # noqa: ANN401 - of either encoding
        group: str,
        name: str,
    ) -> Iterator[tuple[Any, str, Attributes]]:
        """Yield the spans or records of a request, each with its scope and its resource."""
        for of_resource in getattr(request, f"resource_{group}") or ():
            sender = of_resource.resource
            resource = self.attributes(sender.attributes if sender else ())
            for scoped in getattr(of_resource, f"scope_{group}") or ():
                scope = (scoped.scope.name or "") if scoped.scope else ""
                for each in getattr(scoped, name) or ():
                    yield each, scope, resource

    def span(self, span: Any, scope: str, resource: Attributes) -> Span | None:  # noqa: ANN401 - as above
        """Return a span; None for one without ids."""
        trace_id, span_id = self._trace_id(span), self._span_id(span.span_id)
        if not trace_id or not span_id:
            return None
        code = span.status.code if span.status else None
        return Span(
            trace_id=trace_id,
            span_id=span_id,
            parent_id=self._span_id(span.parent_span_id),
            name=span.name or "",
            start_ns=self.moment(span.start_time_unix_nano),
            end_ns=self.moment(span.end_time_unix_nano),
            status=_STATUSES.get(code, "unset"),
            status_message=(span.status.message or "") if span.status else "",
            attributes=self.attributes(span.attributes),
            events=tuple(map(self._event, span.events or ())),
            scope=scope,
            resource=resource,
        )

    def record(self, record: Any, scope: str, resource: Attributes) -> LogRecord:  # noqa: ANN401 - as above
        """Return a log record."""
        attributes = self.attributes(record.attributes)
        observed = self.moment(record.observed_time_unix_nano)
        return LogRecord(
            at_ns=self.moment(record.time_unix_nano) or observed,
            trace_id=self._trace_id(record),
            span_id=self._span_id(record.span_id),
            event_name=record.event_name or str(attributes.get(_EVENT_NAME) or ""),
            body=self.value(record.body),
            attributes=attributes,
            scope=scope,
            resource=resource,
        )

    def _event(self, event: Any) -> SpanEvent:  # noqa: ANN401 - as above
        at_ns = self.moment(event.time_unix_nano)
        return SpanEvent(event.name or "", at_ns, self.attributes(event.attributes))

    def _trace_id(self, of: Any) -> str:  # noqa: ANN401 - as above
        return _usable_id(self.digits(of.trace_id), _TRACE_ID_DIGITS)

    def _span_id(self, written: Any) -> str:  # noqa: ANN401 - as above
        return _usable_id(self.digits(written), _SPAN_ID_DIGITS)


def _usable_id(text: str, digits: int) -> str:
    """Return an id in lower case; "" if it is missing, malformed or all zeros."""
    if len(text) != digits or not text.strip("0") or not _HEX.issuperset(text):
        return ""
    return text.lower()
