"""The answers of OTLP/HTTP: in the type of the request, with the status that clients act upon."""

import json

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}


def spans(*names: str, trace: int = 1) -> ExportTraceServiceRequest:
    """A request with one span of each name; the one named "lost" has no ids."""
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    for number, name in enumerate(names, start=1):
        span = scoped.spans.add(name=name)
        if name != "lost":
            span.trace_id = trace.to_bytes(16, "big")
            span.span_id = number.to_bytes(8, "big")
    return request


def in_json(*names: str) -> dict:
    """The same in OTLP's JSON."""
    listed = [
        {"name": name}
        | ({"traceId": f"{1:032X}", "spanId": f"{number:016x}"} if name != "lost" else {})
        for number, name in enumerate(names, start=1)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]}


def taken_since(door, kind: str, before: int) -> list:
    return door.taken(kind)[before:]


def test_protobuf_is_answered_in_protobuf(http, lasting_door):
    """All taken: 200 and an empty message."""
    before = len(lasting_door.taken("span"))
    answer = http.post("/v1/traces", content=spans("a", "b").SerializeToString(), headers=PROTOBUF)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"
    assert [span["name"] for span in taken_since(lasting_door, "span", before)] == ["a", "b"]


def test_json_is_answered_in_json(http, lasting_door):
    """All taken: 200 and an empty object, whatever parameters the type has."""
    before = len(lasting_door.taken("span"))
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    answer = http.post("/v1/traces", content=json.dumps(in_json("a")), headers=headers)
    assert (answer.status_code, answer.json()) == (200, {})
    assert answer.headers["content-type"] == "application/json"
    (span,) = taken_since(lasting_door, "span", before)
    assert span["trace_id"] == f"{1:032x}"


def test_partial_success(http, lasting_door):
    """Spans without ids, and those that the receiver rejects, are counted and not sent again."""
    names = ("a", "lost", "unwanted", "b")
    answer = http.post("/v1/traces", content=spans(*names).SerializeToString(), headers=PROTOBUF)
    assert answer.status_code == 200
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert partial.rejected_spans == 2
    assert partial.error_message.startswith("2 spans ")
    answer = http.post("/v1/traces", content=json.dumps(in_json(*names)), headers=JSON)
    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "2"


def test_a_malformed_span_costs_none_of_its_neighbours(http, lasting_door):
    """They are taken; it is counted as rejected."""
    before = len(lasting_door.taken("span"))
    document = in_json("a", "b", "c")
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["endTimeUnixNano"] = "soon"
    answer = http.post("/v1/traces", content=json.dumps(document), headers=JSON)
    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert [each["name"] for each in taken_since(lasting_door, "span", before)] == ["a", "c"]


def test_logs(http, lasting_door):
    """Log records are taken as spans are, in both encodings; those without a trace, too."""
    before = len(lasting_door.taken("log"))
    request = ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add(event_name="e")
    record.body.string_value = "said"
    answer = http.post("/v1/logs", content=request.SerializeToString(), headers=PROTOBUF)
    assert answer.status_code == 200
    assert ExportLogsServiceResponse.FromString(answer.content) == ExportLogsServiceResponse()
    document = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"eventName": "f"}]}]}]}
    assert http.post("/v1/logs", content=json.dumps(document), headers=JSON).json() == {}
    first, second = taken_since(lasting_door, "log", before)
    assert (first["event_name"], first["body"], second["event_name"]) == ("e", "said", "f")


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs"])
@pytest.mark.parametrize("headers", [PROTOBUF, JSON])
def test_a_malformed_body_is_refused_for_good(http, path, headers):
    """400, which no client retries, with a google.rpc.Status in the request's type."""
    answer = http.post(path, content=b"\xff\xff nonsense", headers=headers)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == headers["content-type"]
    if headers is PROTOBUF:
        status = Status.FromString(answer.content)
        assert (status.code, bool(status.message)) == (3, True)
    else:
        assert answer.json()["code"] == 3
    assert "nonsense" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "multipart/form-data; boundary=a"},
        JSON | {"content-encoding": "br"},
        PROTOBUF | {"content-encoding": "gzip, gzip"},
    ],
)
def test_types_and_encodings_that_are_not_supported(http, headers):
    """415, with what is supported."""
    answer = http.post("/v1/traces", content=b"{}", headers=headers)
    assert answer.status_code == 415


def test_a_full_receiver_is_tried_again(emptied_door):
    """503 and when to try again; what came through before is there once it is."""
    emptied_door.switch("full", on=True)
    with emptied_door.client() as client:
        body = spans("a").SerializeToString()
        answer = client.post("/v1/traces", content=body, headers=PROTOBUF)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert Status.FromString(answer.content).code == 14
        emptied_door.switch("full", on=False)
        assert client.post("/v1/traces", content=body, headers=PROTOBUF).status_code == 200
    assert [span["name"] for span in emptied_door.taken("span")] == ["a"]


def test_a_full_disk_is_tried_again(emptied_door):
    """What cannot be stored is not answered with 200; the log says why."""
    emptied_door.switch("lost", on=True)
    body = spans("a").SerializeToString()
    with emptied_door.client() as client:
        answer = client.post("/v1/traces", content=body, headers=PROTOBUF)
    assert answer.status_code == 503
    emptied_door.switch("lost", on=False)
    assert "No space left on device" in emptied_door.log


def test_a_mistake_of_the_receiver(emptied_door):
    """500 in the request's type; the log has the mistake, and the next request is taken."""
    emptied_door.switch("broken", on=True)
    body = spans("a").SerializeToString()
    with emptied_door.client() as client:
        answer = client.post("/v1/traces", content=body, headers=PROTOBUF)
        assert (answer.status_code, Status.FromString(answer.content).code) == (500, 13)
        emptied_door.switch("broken", on=False)
        assert client.post("/v1/traces", content=body, headers=PROTOBUF).status_code == 200
    assert "RuntimeError" in emptied_door.log


def test_hooks(http, lasting_door):
    """A known agent's hook is handed on; it gets what the hook returns, or 204."""
    before = len(lasting_door.taken("hook"))
    answer = http.post("/hooks/tester", content=b'{"a": 1}', headers=JSON)
    assert (answer.status_code, answer.json()) == (200, {"a": 1})
    answer = http.post("/hooks/quiet", content=b'{"b": 2}', headers=JSON)
    assert (answer.status_code, answer.content) == (204, b"")
    assert taken_since(lasting_door, "hook", before) == ['{"a": 1}', '{"b": 2}']
    assert http.post("/hooks/nobody", content=b"{}", headers=JSON).status_code == 404
    plain = {"content-type": "text/plain"}
    assert http.post("/hooks/tester", content=b"{}", headers=plain).status_code == 415


def test_health_and_what_is_not_there(http):
    """GET /health answers; other paths and methods are refused in JSON."""
    assert http.get("/health").json() == {"status": "ok"}
    assert http.get("/nothing").status_code == 404
    assert http.get("/v1/traces").status_code == 405
    assert http.get("/nothing").json()["code"] == 5
