"""`/mcp` of the front door: who may use it, what it refuses, and what it costs the others."""

import json
from contextlib import contextmanager

import anyio
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware

from tests.mcp_server.mcp_served import HELLO
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_door.mcp_server.routes import McpRoutes
from trackrecord_door.protocol.answers import RequestRefused, refused
from trackrecord_door.protocol.callers import OWNER, Caller, Permission
from trackrecord_door.query_service import QueryService

ACCEPTED = {"accept": "application/json, text/event-stream"}


def asked(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def called(tool, arguments):
    return asked("tools/call", name=tool, arguments=arguments)


@pytest.fixture(scope="module")
def http(served):
    """A client of the front door."""
    with httpx.Client(base_url=served.url, timeout=120, headers=ACCEPTED) as client:
        yield client


class _Bears:
    """In place of `Access`: every request is of one caller."""

    def __init__(self, app, caller):
        self._app, self._caller = app, caller

    async def __call__(self, scope, receive, send):
        await self._app({**scope, "caller": self._caller}, receive, send)


@contextmanager
def of_caller(home, caller):
    """Asks the routes as one caller; a function of query, method and parameters."""
    service = QueryService(DaemonSettings(home=home, project="usual"))
    app = Starlette(
        routes=McpRoutes(service).routes(),
        middleware=[Middleware(_Bears, caller=caller)],
        exception_handlers={RequestRefused: lambda request, error: refused(request, error)},
    )

    def ask(query, method, **params):
        async def post():
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://door") as client:
                body = asked(method, **params)
                return await client.post(f"/mcp?{query}", json=body, headers=ACCEPTED)

        return anyio.run(post)

    yield ask
    service.close()


@pytest.mark.parametrize(
    ("caller", "query", "status", "tools"),
    [
        (OWNER, "", 200, {"recall", "remember", "report_outcome"}),
        (OWNER, "project=any", 200, {"recall", "remember", "report_outcome"}),
        (OWNER, "tools=remember", 200, {"remember"}),
        (Caller("shop", Permission.WRITE), "", 200, {"recall", "remember", "report_outcome"}),
        (Caller("shop", Permission.READ), "", 200, {"recall"}),
        (Caller("shop", Permission.READ), "tools=remember", 200, set()),
        (Caller("shop", Permission.ADMIN), "project=any", 403, None),
        (Caller("shop", Permission.READ), "project=usual", 403, None),
        (OWNER, "tools=recall,no_such", 400, None),
        (OWNER, "project=%00", 400, None),
        (OWNER, f"project={'x' * 129}", 400, None),
    ],
)
def test_a_caller_sees_one_project_and_the_tools_it_may_use(home, caller, query, status, tools):
    """A token of one project is never answered with another's; to read is not to write."""
    with of_caller(home, caller) as ask:
        answer = ask(query, "tools/list")
        assert answer.status_code == status, answer.text
        if tools is not None:
            assert {tool["name"] for tool in answer.json()["result"]["tools"]} == tools
        else:
            assert "\n" not in answer.json()["message"]


def test_who_may_only_read_records_nothing(home):
    """Neither by a tool that writes, nor under the id of a task that is not theirs."""
    with of_caller(home, Caller("shop", Permission.READ)) as ask:
        written = {"name": "remember", "arguments": {"text": "The cart rounds to whole cents"}}
        named = {"name": "recall", "arguments": {"task": "fix it", "task_id": "of-others"}}
        for params in (written, named):
            assert ask("", "tools/call", **params).json()["result"]["isError"]


def test_what_is_no_request_is_refused(http):
    """As the protocol says; the server goes on."""
    for method in ("GET", "DELETE", "PUT"):
        assert http.request(method, "/mcp").status_code == 405
    assert (
        http.post("/mcp", content=b"{", headers={"content-type": "text/plain"}).status_code == 400
    )
    json_type = {"content-type": "application/json"}
    assert http.post("/mcp", content=b"{", headers=json_type).status_code == 400
    assert http.post("/mcp", content=b"[1]", headers=json_type).status_code == 400
    large = json.dumps(called("remember", {"text": "x" * 2_000_000})).encode()
    assert http.post("/mcp", content=large, headers=json_type).status_code == 413
    assert http.post("/mcp", json=asked("no/such")).json()["error"]["code"] == -32601
    assert http.post("/mcp", json=asked("ping")).json()["result"] == {}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example.com"}, 401),
        ({"origin": "http://evil.example.com"}, 403),
        ({}, 401),
    ],
)
def test_web_pages_may_not_use_it(http, served, headers, status):
    """A page that the person visits can post to loopback; it has no credential."""
    body = asked("initialize", **HELLO)
    given = {**ACCEPTED, **headers}
    assert httpx.post(f"{served.address}/mcp", json=body, headers=given).status_code == status
    assert http.post("/mcp", json=body).status_code == 200


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_NAMES = st.sampled_from(
    ["task", "budget", "task_id", "text", "success", "outcome_source", "strategy",
     "failure_details", "memory_ids", "project"]
)  # fmt: skip
_LIKELY = st.sampled_from(["", "x", "fix it", "\0", "true", "800", "-1", 0, 60, True, [], ["m"]])


@settings(max_examples=30)
@given(
    tool=st.sampled_from(["recall", "remember", "report_outcome"]) | st.text(),
    arguments=st.dictionaries(_NAMES | st.text(), _LIKELY | _JSON, max_size=6),
)
def test_arguments_of_any_kind_are_answered_or_refused_in_one_line(http, tool, arguments):
    """No argument makes a tool fail, or a message of more than a line."""
    answer = http.post("/mcp?project=fuzzed", json=called(tool, arguments)).json()
    if "error" in answer:  # a lone surrogate is no text
        assert answer["error"]["code"] in (-32700, -32602, -32600)
        return
    result = answer["result"]
    text = result["content"][0]["text"]
    if result["isError"]:
        assert len(text.splitlines()) == 1
        assert "it failed" not in text
        assert "structuredContent" not in result
    else:
        assert result["structuredContent"]["project"] == "fuzzed"


def test_a_model_does_not_speak_for_a_person(http):
    """What it reports is its own word or a check's; only others' reports have an evaluator."""
    said = {"task_id": "t", "success": True, "outcome_source": "evaluator"}
    refused = http.post("/mcp", json=called("report_outcome", said)).json()["result"]
    assert refused["isError"]
    assert "outcome_source" in refused["content"][0]["text"]
