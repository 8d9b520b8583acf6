"""Spans and log records from OTLP bodies: protobuf and JSON alike, and anything that is neither."""

import base64
import json
import math
from contextlib import suppress

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtoLogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from trackrecord_capture.otlp.encodings.decoding import Malformed, decode_logs, decode_spans
from trackrecord_capture.otlp.encodings.from_protobuf import messages_in
from trackrecord_capture.otlp.encodings.span import LogRecord, Span

TRACE = "5b8efff798038103d269b633813fc60c"
SPAN = "eee19b7ec3c1b174"

texts = st.text(max_size=20)
uint64s = st.integers(0, 2**64 - 1)
plain_values = st.one_of(
    st.none().map(lambda _: AnyValue()),
    texts.map(lambda text: AnyValue(string_value=text)),
    st.booleans().map(lambda truth: AnyValue(bool_value=truth)),
    st.integers(-(2**63), 2**63 - 1).map(lambda number: AnyValue(int_value=number)),
    st.floats(allow_nan=False).map(lambda number: AnyValue(double_value=number)),
    st.binary(max_size=20).map(lambda data: AnyValue(bytes_value=data)),
)


def _list_of(values):
    made = AnyValue()
    made.array_value.values.extend(values)
    return made


def _mapping_of(pairs):
    made = AnyValue()
    made.kvlist_value.values.extend(pairs)
    return made


def _pairs_of(values):
    return st.lists(
        st.builds(lambda key, value: KeyValue(key=key, value=value), texts, values), max_size=3
    )


values = st.recursive(
    plain_values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(_list_of), _pairs_of(inner).map(_mapping_of)
    ),
    max_leaves=5,
)
pairs = _pairs_of(values)


@st.composite
def trace_requests(draw):
    request = ExportTraceServiceRequest()
    for _ in range(draw(st.integers(0, 2))):
        of_resource = request.resource_spans.add()
        of_resource.resource.attributes.extend(draw(pairs))
        scoped = of_resource.scope_spans.add()
        scoped.scope.name = draw(texts)
        for _ in range(draw(st.integers(0, 3))):
            span = scoped.spans.add(
                trace_id=draw(
                    st.one_of(st.binary(min_size=16, max_size=16), st.binary(max_size=17))
                ),
                span_id=draw(st.one_of(st.binary(min_size=8, max_size=8), st.binary(max_size=9))),
                parent_span_id=draw(st.one_of(st.just(b""), st.binary(min_size=8, max_size=8))),
                name=draw(texts),
                start_time_unix_nano=draw(uint64s),
                end_time_unix_nano=draw(uint64s),
            )
            span.attributes.extend(draw(pairs))
            span.status.code = draw(st.integers(0, 2))
            span.status.message = draw(texts)
            event = span.events.add(name=draw(texts), time_unix_nano=draw(uint64s))
            event.attributes.extend(draw(pairs))
    return request


@st.composite
def logs_requests(draw):
    request = ExportLogsServiceRequest()
    of_resource = request.resource_logs.add()
    of_resource.resource.attributes.extend(draw(pairs))
    scoped = of_resource.scope_logs.add()
    scoped.scope.name = draw(texts)
    for _ in range(draw(st.integers(0, 3))):
        record = scoped.log_records.add(
            time_unix_nano=draw(uint64s), observed_time_unix_nano=draw(uint64s),
            severity_number=draw(st.integers(0, 24)), event_name=draw(texts),
            trace_id=draw(st.binary(max_size=17)), span_id=draw(st.binary(min_size=8, max_size=8)),
            body=draw(values),
        )  # fmt: skip
        record.attributes.extend(draw(pairs))
    return request


def as_otlp_json(request) -> bytes:
    """The request in OTLP's JSON: as protobuf's, but with ids in hexadecimal digits."""

    def with_hex_ids(node):
        if isinstance(node, list):
            return [with_hex_ids(each) for each in node]
        if not isinstance(node, dict):
            return node
        return {
            key: _hex(value)
            if key in ("traceId", "spanId", "parentSpanId")
            else with_hex_ids(value)
            for key, value in node.items()
        }

    document = MessageToDict(request, use_integers_for_enums=True)
    return json.dumps(with_hex_ids(document)).encode()


def _hex(base64_text):
    return base64.b64decode(base64_text).hex().upper()


@given(trace_requests())
def test_protobuf_and_json_give_the_same_spans(request):
    """The same request in both encodings is decoded to equal spans."""
    from_protobuf = list(decode_spans(request.SerializeToString(), "protobuf"))
    assert list(decode_spans(as_otlp_json(request), "json")) == from_protobuf
    sent = [
        span
        for of_resource in request.resource_spans
        for scoped in of_resource.scope_spans
        for span in scoped.spans
    ]
    assert len(from_protobuf) == len(sent)
    for span, decoded in zip(sent, from_protobuf, strict=True):
        usable = len(span.trace_id) == 16 and any(span.trace_id)
        usable = usable and len(span.span_id) == 8 and any(span.span_id)
        assert (decoded is not None) == usable
        if decoded is not None:
            assert decoded.trace_id == span.trace_id.hex()
            assert decoded.start_ns == span.start_time_unix_nano


def _messages_below(message) -> int:
    held = 0
    for field, value in message.ListFields():
        if field.message_type is not None:
            repeated = value if field.is_repeated else [value]
            held += sum(1 + _messages_below(each) for each in repeated)
    return held


@given(trace_requests() | logs_requests())
def test_messages_are_counted_before_they_are_parsed(request):
    """The count from the wire is that of the parsed message; damage cannot make it fail."""
    body = request.SerializeToString()
    assert messages_in(body, request.DESCRIPTOR) == _messages_below(request)
    for damaged in (body[:-1], body[1:], bytes(reversed(body))):
        assert messages_in(damaged, request.DESCRIPTOR) >= 0


def _sized(tag: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size >= 128:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([tag]) + length + bytes([size]) + content


def test_a_dense_protobuf_body():
    """Millions of empty messages would take gigabytes: they are refused unparsed."""
    body = _sized(0x0A, _sized(0x12, _sized(0x12, b"\x5a\x00" * 1_000_001)))
    with pytest.raises(Malformed, match="smaller batches"):
        decode_spans(body, "protobuf")


def test_a_dense_json_body():
    """Millions of empty objects, likewise."""
    body = b'{"resourceSpans":[' + b"{}," * 5_000_000 + b"{}]}"
    with pytest.raises(Malformed, match="smaller batches"):
        decode_spans(body, "json")


def test_a_large_body_of_usual_spans():
    """A body of the largest size is decoded if it holds what spans usually hold."""
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    said = AnyValue(string_value="what it says " * 5)
    attributes = [KeyValue(key=f"gen_ai.attribute.{place}", value=said) for place in range(12)]
    for number in range(1, 15_001):
        scoped.spans.add(
            trace_id=b"t" * 16, span_id=number.to_bytes(8, "big"), name="a tool",
            attributes=attributes,
        )  # fmt: skip
    body = request.SerializeToString()
    assert len(body) > 15 * 1024 * 1024
    assert sum(1 for span in decode_spans(body, "protobuf") if span is not None) == 15_000


@given(logs_requests())
def test_protobuf_and_json_give_the_same_log_records(request):
    """The same request in both encodings is decoded to equal log records."""
    from_protobuf = list(decode_logs(request.SerializeToString(), "protobuf"))
    assert list(decode_logs(as_otlp_json(request), "json")) == from_protobuf
    assert len(from_protobuf) == len(request.resource_logs[0].scope_logs[0].log_records)


OTLP_NAMES = [
    "resourceSpans", "resourceLogs", "scopeSpans", "scopeLogs", "spans", "logRecords",
    "resource", "attributes", "key", "value", "traceId", "spanId", "status", "code", "events",
    "startTimeUnixNano", "intValue", "doubleValue", "arrayValue", "name", "kvlistValue",
    "values", "body", "severityNumber", "scope",
]  # fmt: skip

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(OTLP_NAMES), inner, max_size=4)
    ),
    max_leaves=20,
)


def only_malformed(body: bytes, encoding) -> None:
    for decode, kind in ((decode_spans, Span), (decode_logs, LogRecord)):
        with suppress(Malformed):
            decoded = list(decode(body, encoding))
            assert all(each is None or isinstance(each, kind) for each in decoded)


@given(st.binary(max_size=200))
@example(b"\x0a\x04\x12\x02\x12\x00")
@example(b"\xff" * 20)
def test_any_bytes_are_decoded_or_malformed(body):
    """Whatever is posted, the decoder answers with spans or `Malformed`, in both encodings."""
    only_malformed(body, "protobuf")
    only_malformed(body, "json")


@given(trace_requests(), st.data())
def test_a_damaged_request_is_decoded_or_malformed(request, data):
    """A request with one byte changed or an end cut off never raises anything but `Malformed`."""
    body = bytearray(request.SerializeToString() or b"\x0a\x00")
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] = data.draw(st.integers(0, 255))
    only_malformed(bytes(body), "protobuf")
    only_malformed(bytes(body[:place]), "protobuf")
    text = as_otlp_json(request)
    only_malformed(text[: data.draw(st.integers(0, len(text)))], "json")


@given(json_values)
def test_json_of_any_shape_is_decoded_or_malformed(document):
    """JSON with OTLP's names in wrong places never raises anything but `Malformed`."""
    only_malformed(json.dumps(document).encode(), "json")
    only_malformed(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [document]}]}]}).encode(), "json"
    )
    only_malformed(
        json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [document]}]}]}).encode(), "json"
    )


def _one_span(**fields) -> bytes:
    span = {"traceId": TRACE.upper(), "spanId": SPAN, **fields}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def _attribute(value: dict) -> bytes:
    return _one_span(attributes=[{"key": "a", "value": value}])


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"intValue": "9007199254740993"}, 9007199254740993), ({"intValue": 7}, 7),
        ({"intValue": 7.0}, 7), ({"doubleValue": "Infinity"}, math.inf), ({"doubleValue": 1}, 1.0),
        ({"bytesValue": "AAE="}, "AAE="), ({"stringValue": ""}, ""), ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "b", "value": {"boolValue": False}}]}}, {"b": False}),
        ({}, None), (None, None),
    ],
)  # fmt: skip
def test_values_as_exporters_write_them(written, read):
    """Numbers may be texts, empty values are None, lists and mappings nest."""
    (span,) = decode_spans(_attribute(written), "json")
    assert span.attributes == {"a": read}


def test_what_json_leaves_open():
    """Ids of any case, moments as texts or numbers, unknown fields, names of enums, nulls."""
    body = _one_span(
        startTimeUnixNano="1544712660000000000", endTimeUnixNano=1544712661000000000,
        status={"code": "STATUS_CODE_ERROR", "message": None}, parentSpanId=None,
        newField={"any": ["thing"]},
    )  # fmt: skip
    (span,) = decode_spans(body, "json")
    assert (span.trace_id, span.span_id, span.parent_id) == (TRACE, SPAN, "")
    assert (span.start_ns, span.end_ns) == (1544712660000000000, 1544712661000000000)
    assert (span.status, span.status_message) == ("error", "")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b'{"resourceSpans": {}}', b'{"resourceSpans": [' + b"[" * 100_000,
        b'{"unknown": ' + b"[" * 100_000, json.dumps({"resourceSpans": []}).encode("utf-16"),
    ],
)  # fmt: skip
def test_malformed_json(body):
    """What is not a request is named as such and repeats nothing that was posted."""
    with pytest.raises(Malformed):
        list(decode_spans(body, "json"))


def test_values_that_nest_without_end():
    """A value nested thousands of times is rejected and does not end the process."""
    value: dict = {"stringValue": "deep"}
    for _ in range(150):
        value = {"arrayValue": {"values": [value]}}
    assert list(decode_spans(_attribute(value), "json")) == [None]


@pytest.mark.parametrize(
    "malformed",
    [
        {"startTimeUnixNano": "9" * 40}, {"startTimeUnixNano": "soon"}, {"timeUnixNano": "soon"},
        {"attributes": [{"key": "a", "value": {"doubleValue": "much"}}]}, {"attributes": 7},
        {"name": 7, "eventName": 7}, [],
    ],
)  # fmt: skip
def test_a_malformed_item_of_json_costs_no_other_one(malformed):
    """Only it is rejected, wherever it stands."""
    good = {"traceId": TRACE, "spanId": SPAN, "name": "good", "eventName": "good"}
    if "name" not in malformed and malformed != [] and "attributes" not in malformed:
        malformed = {**malformed, "traceId": TRACE, "spanId": SPAN}
    for decode, group, scope, items in (
        (decode_spans, "resourceSpans", "scopeSpans", "spans"),
        (decode_logs, "resourceLogs", "scopeLogs", "logRecords"),
    ):
        if items == "spans" and "timeUnixNano" in malformed:
            continue
        if items == "logRecords" and "startTimeUnixNano" in malformed:
            continue
        whole = {group: [{scope: [{items: [good, malformed, good]}]}]}
        first, second, third = decode(json.dumps(whole).encode(), "json")
        assert (first, second) == (third, None)
        assert first is not None


@pytest.mark.parametrize("damage", [b"\x2a\x7f", b"\x0a"])
def test_a_malformed_item_of_protobuf_costs_no_other_one(damage):
    """A length beyond the end, a field without anything."""
    good = ProtoSpan(trace_id=b"t" * 16, span_id=b"s" * 8, name="good").SerializeToString()
    items = b"".join(_sized(0x12, each) for each in (good, good + damage, good))
    resource = Resource(attributes=[KeyValue(key="a", value=AnyValue(int_value=1))])
    scope = InstrumentationScope(name="of it").SerializeToString()
    group = _sized(0x0A, resource.SerializeToString()) + _sized(0x12, _sized(0x0A, scope) + items)
    first, second, third = decode_spans(_sized(0x0A, group), "protobuf")
    assert (first, second) == (third, None)
    assert first is not None
    assert (first.name, first.scope, first.resource) == ("good", "of it", {"a": 1})


def test_a_text_of_protobuf_that_is_no_text_costs_its_wrong_bytes_alone():
    """In a name or deep in an attribute; what is beside it stays as it was sent."""
    span = ProtoSpan(trace_id=b"\xff" * 16, span_id=b"s" * 8, name="né!!")
    span.attributes.add(key="a").value.array_value.values.add(string_value="caf!")
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.append(span)
    body = request.SerializeToString().replace(b"!!", b"\xed\xa0").replace(b"f!", b"f\xe9")
    (decoded,) = decode_spans(body, "protobuf")
    assert decoded is not None
    assert (decoded.name, decoded.attributes) == ("né??", {"a": ["caf?"]})
    assert decoded.trace_id == "ff" * 16


def test_a_malformed_record_of_protobuf_costs_no_other_one():
    """Of logs as of spans."""
    good = ProtoLogRecord(event_name="good").SerializeToString()
    items = b"".join(_sized(0x12, each) for each in (good, good + b"\x62\x7f", good))
    first, second, third = decode_logs(_sized(0x0A, _sized(0x12, items)), "protobuf")
    assert (first, second) == (third, None)
    assert first is not None
    assert first.event_name == "good"


def test_an_event_is_named_by_its_attribute_too():
    """Older exporters put the name of an event into the attribute `event.name`."""
    record = {
        "attributes": [{"key": "event.name", "value": {"stringValue": "claude_code.tool_result"}}]
    }
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
    (decoded,) = decode_logs(body, "json")
    assert decoded.event_name == "claude_code.tool_result"
    assert decoded.trace_id == ""
