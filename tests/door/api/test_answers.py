"""Answers over HTTP: those of the command line and of Python, in pages, with tags, and problems."""

import json
import time

import httpx
import pytest
from starlette.routing import compile_path

import trackrecord
from tests.door.api.served_store import OURS, THEIRS, ServedStore
from tests.support.no_tls import NO_TLS
from trackrecord.resources.operation.tokens import create_token
from trackrecord.wire.access_tokens import Permission
from trackrecord_cli.main import run
from trackrecord_door.api.endpoint_table import ENDPOINTS

LINES = "application/x-ndjson"
JSONL = {"content-type": LINES}
PROBLEM = "application/problem+json"


@pytest.fixture
def printed(capsys, monkeypatch, served: ServedStore):
    """Returns what a command prints as JSON about the same store."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(served.home))
    monkeypatch.setenv("TRACKRECORD_PROJECT", OURS)

    def print_(*arguments: str) -> object:
        capsys.readouterr()
        assert run([*arguments, "--json"]) in (0, 1)
        return json.loads(capsys.readouterr().out)

    return print_


def test_the_same_question_has_the_same_answer_everywhere(http, printed, served):
    """Over HTTP, from Python and from the command line; of runs and records at one moment."""
    ids = served.ids[OURS]
    at = repr(time.time())

    def over_http(path: str, **query: str) -> object:
        document = http.get(path, params=query).json()
        return document.get("items", document)

    def listed(call, **given: object) -> list:
        return [each.to_document() for each in call(**given)]

    pattern, lesson, run_id = ids["pattern_id"], ids["lesson_id"], ids["outcome_id"]
    command_id = ids["command_id"]
    with served.calls(OURS):
        for path, from_python, command in (
            ("/patterns", listed(trackrecord.list_patterns), ("patterns", "list")),
            ("/lessons", listed(trackrecord.list_lessons), ("lessons", "list")),
            ("/commands", listed(trackrecord.list_commands), ("commands", "list")),
            ("/criteria", listed(trackrecord.list_criteria), ("criteria", "list")),
            ("/memories", listed(trackrecord.list_memories), ("memories", "list")),
            (
                f"/patterns/{pattern}",
                trackrecord.show_pattern(pattern).to_document(),
                ("patterns", "show", pattern),
            ),
            (
                f"/lessons/{lesson}",
                trackrecord.show_lesson(lesson).to_document(),
                ("lessons", "show", lesson),
            ),
            (
                f"/commands/{command_id}",
                trackrecord.show_command(command_id).to_document(),
                ("commands", "show", command_id),
            ),
            (
                f"/explain/{pattern}",
                trackrecord.explain(pattern).to_document(),
                ("explain", pattern),
            ),
            ("/effect", trackrecord.effect().to_document(), ("effect",)),
            (
                "/benchmark/gate",
                trackrecord.benchmark_gate().to_document(),
                ("benchmark", "gate"),
            ),
        ):
            answered = over_http(path)
            assert answered == _about(json.loads(json.dumps(from_python))), path
            assert answered == _about(printed(*command)), path
        for path, from_python, command in (
            ("/competences", listed(trackrecord.list_competences, at=at), ("competences", "list")),
            (
                "/runs",
                listed(trackrecord.list_runs, limit=None, at=at),
                ("runs", "list", "--limit", "99"),
            ),
            (
                f"/runs/{run_id}",
                trackrecord.show_run(run_id, at=at).to_document(),
                ("runs", "show", run_id),
            ),
        ):
            answered = over_http(path, at=at)
            assert answered == _about(json.loads(json.dumps(from_python))), path
            assert answered == _about(printed(*command, "--at", at)), path


def _about(answer):
    """Return what equals an answer of shortly before: what decays has gone on."""
    if isinstance(answer, list):
        return [_about(each) for each in answer]
    if isinstance(answer, dict):
        return {name: _about(value) for name, value in answer.items()}
    return pytest.approx(answer, rel=1e-4) if isinstance(answer, float) else answer


def test_no_path_hides_an_id():
    """A pattern may be called `procedure`; the ids of competence records are digests."""
    by_id = [(each.method, compile_path(each.path)[0]) for each in ENDPOINTS if "{" in each.path]
    hidden = [
        each.path
        for each in ENDPOINTS
        if "{" not in each.path
        for method, pattern in by_id
        if method == each.method and pattern.fullmatch(each.path)
    ]
    assert hidden == ["/competences/select"]


def pages(http: httpx.Client, path: str, **query: object) -> list[list[dict]]:
    """All pages of a list."""
    found, after = [], {}
    while True:
        document = http.get(path, params={**query, **after}).json()
        found.append(document["items"])
        if document["cursor"] is None:
            return found
        after = {"after": document["cursor"]}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/runs", "outcome_id"), ("/patterns", "id"), ("/memories", "id"), ("/projects", "name"),
        ("/competences", "id"), ("/dead-letters", "id"),
    ],
)  # fmt: skip
def test_pages_have_each_entry_once(http, path, name):
    """Together they are the list."""
    whole = [each[name] for each in http.get(path).json()["items"]]
    found = pages(http, path, limit=1 if len(whole) < 10 else 7)
    assert [each[name] for page in found for each in page] == whole
    assert len(found) > 1


def test_an_answer_that_is_known_is_not_sent_again(http):
    """While nothing has changed; how old the rankings are is no change."""
    for path in ("/rankings", "/runs", "/projects", "/openapi.json"):
        answer = http.get(path)
        tag = answer.headers.get("etag")
        if path == "/openapi.json":
            continue
        assert tag
        assert "no-cache" in answer.headers["cache-control"]
        again = http.get(path, headers={"if-none-match": f'"other", {tag}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert http.get(path, headers={"if-none-match": 'W/"other"'}).status_code == 200


def test_a_cursor_of_another_list_is_refused(http):
    """Of another path, another project, another order: each says so."""
    cursor = http.get("/runs", params={"limit": 1}).json()["cursor"]
    for path, query in (
        ("/runs", {"project": THEIRS}),
        ("/runs", {"failed": "true"}),
        ("/memories", {}),
        ("/patterns", {}),
        ("/dead-letters", {}),
    ):
        refused = http.get(path, params={"after": cursor, **query})
        assert refused.status_code == 422, path
        assert "another list" in refused.json()["detail"]
    assert http.get("/runs", params={"after": cursor, "limit": 3}).status_code == 200


def test_what_is_unknown_is_named_with_the_nearest(http):
    """Parameters, fields of bodies, ids, projects and paths."""
    for status, answer, meant in (
        (400, http.get("/patterns?lmit=3"), "'limit'"),
        (400, http.get("/patterns?limit=3&limit=4"), "twice"),
        (422, http.post("/memories", json={"txt": "a"}), "'text'"),
        (422, http.post("/memories", json={"text": 3}), "text must be a string, not int"),
        (422, http.get("/memories?type=memry"), "did you mean 'memory'?"),
        (
            422,
            http.get("/memories?min_confidence=2"),
            "min_confidence must be a number from 0 to 1, not 2.0",
        ),
        (404, http.get("/patterns/quokka-splt"), "'quokka-split'"),
        (404, http.get("/runs", params={"project": "ous"}), "'ours'"),
        (404, http.get("/nothing"), "openapi.json"),
        (405, http.delete("/patterns"), "GET, HEAD"),
    ):
        assert answer.status_code == status
        assert answer.headers["content-type"] == PROBLEM
        document = answer.json()
        assert document["status"] == status
        assert meant in document["detail"]
    assert http.delete("/patterns").headers["allow"] == "GET, HEAD"
    assert http.get("/memories/x/confirm").headers["allow"] == "POST"


def test_problems_of_the_front_door_have_the_same_form(api_door):
    """Also where nobody was let in, and where nothing is below the path."""
    url = f"{api_door.address}/api/v1/patterns"
    for headers in ({}, {"authorization": "Bearer trt_nothing_like_it"}):
        answer = httpx.get(url, headers=headers, verify=NO_TLS)
        assert answer.status_code == 401
        assert answer.headers["content-type"] == PROBLEM


def test_writing_over_http_is_read_over_http(http):
    """A memory, a verdict on it, an error, an output: each is there when the answer is."""
    text = f"The {time.time_ns()} suite needs a display"
    memory = http.post("/memories", json={"text": text, "source": "a test"})
    assert memory.status_code == 201
    memory_id = memory.json()["id"]
    assert http.get(f"/memories/{memory_id}").json()["text"] == text
    assert http.post(f"/memories/{memory_id}/confirm").json()["confidence"] > 0.5
    given = http.post("/feedback", json={"verdict": "helpful", "memory": memory_id})
    assert given.status_code == 201
    listed = http.get("/feedback", params={"memory": memory_id}).json()["items"]
    assert [each["feedback_id"] for each in listed] == [given.json()["feedback_id"]]
    assert http.post(f"/memories/{memory_id}/forget").json()["forgotten"]
    assert http.get(f"/memories/{memory_id}").status_code == 404

    error = http.post("/errors", json={"task_id": "t-1", "message": "it timed out"}).json()
    assert error["type"] == "timeout"
    assert "timed out" in http.get("/errors/context", params={"task_id": "t-1"}).json()["context"]
    assert http.post(f"/errors/{error['id']}/resolve").json()["resolved"]
    assert (
        http.get("/errors", params={"task_id": "t-1", "unresolved": "true"}).json()["items"] == []
    )

    stored = http.post("/artifacts", json={"content": "a\nb\nc\n", "task_id": "t-1"}).json()
    part = http.get(f"/artifacts/{stored['id']}", params={"lines": "2:2"}).json()
    assert part["content"] == "b\n"

    decided = http.post("/patterns/file-based/deprecate", json={"reason": "slow", "by": "Ada"})
    assert decided.json()["after"] == "deprecated"
    assert http.get("/patterns/file-based").json()["history"][-1]["by"] == "Ada"
    assert http.post("/patterns/file-based/promote", json={}).status_code == 409
    assert http.post("/patterns/file-based/reset").json()["changed"]
    weighed = http.post("/criteria/weigh", json={"scores": {"quokka-clean": 1, "other": 0.5}})
    assert weighed.json()["parts"][0]["criterion"] == "quokka-clean"


@pytest.mark.parametrize("project", [OURS, None])
def test_the_history_names_the_token_that_decided(api_door, served, project):
    """By its name, or else by its id; unless the request says who decides."""
    for name in ("release  bot", "", "x" * 128):
        token = create_token(served.engine, project=project, permission=Permission.ADMIN, name=name)
        signed = f"token {'release bot' if ' ' in name else name or token.id}"[:128]
        headers = {"authorization": f"Bearer {token.token}"}
        url = f"{api_door.address}/api/v1/patterns/file-based"
        with httpx.Client(headers=headers, params={"project": OURS}, verify=NO_TLS) as bearer:
            for given, expected in (
                ({"reason": "slow"}, signed),
                ({"reason": "slow", "by": "Ada"}, "Ada"),
            ):
                decided = bearer.post(f"{url}/deprecate", json=given)
                assert decided.json()["by"] == expected
                assert bearer.get(url).json()["history"][-1]["by"] == expected
                assert bearer.post(f"{url}/reset").json()["by"] == signed


@pytest.mark.parametrize(
    ("content", "type_", "count"),
    [
        (b'{"task_id":"a","success":true}', "application/json", 1),
        (b'[{"task_id":"a","success":true},{"task_id":"b","success":null}]', "application/json", 2),
        (b'{"task_id":"a","success":true}\n{"task_id":"b","success":true}\n', LINES, 2),
    ],
)  # fmt: skip
def test_outcomes_are_with_redis_when_they_are_answered(http, served, content, type_, count):
    """One, a list, or lines; the same content has the same ids again."""
    before = served.client.xlen(served.settings.keys.outcomes)
    answer = http.post("/outcomes", content=content, headers={"content-type": type_})
    assert answer.status_code == 202
    assert served.client.xlen(served.settings.keys.outcomes) == before + count
    again = http.post("/outcomes", content=content, headers={"content-type": type_})
    assert again.json()["outcome_ids"] == answer.json()["outcome_ids"]


def test_bad_outcomes_are_named_and_bounded(http):
    """The good ones go through; a hundred of the bad ones are named, and all are counted."""
    lines = b'{"task_id":"good","success":true}\n' + b'{"task_id":1.5}\n' * 150
    document = http.post("/outcomes", content=lines, headers=JSONL).json()
    assert (document["taken"], document["bad_count"], len(document["bad"])) == (1, 150, 100)
    assert document["bad"][0]["place"] == "line 2"
    refused = http.post("/outcomes", content=b'{"x": 1}\nnothing\n', headers=JSONL)
    assert refused.status_code == 422
    assert [each["place"] for each in refused.json()["errors"]] == ["line 1", "line 2"]
    many = b'{"task_id":"good","success":true}\n' * 10_001
    assert http.post("/outcomes", content=many, headers=JSONL).status_code == 413
    assert http.post("/outcomes", content=b"", headers=JSONL).status_code == 422
    assert http.post("/outcomes", content=b"a=b").status_code == 415
