"""What nobody should ask is refused in one line: never a failure, never another project's data."""

import base64

import pytest

from tests.door.api.served_store import OURS

PROBLEM = "application/problem+json"
JSON = {"content-type": "application/json"}
HUGE = "9" * 400
SURROGATE = "%ED%A0%80"


@pytest.mark.parametrize(
    "query",
    [
        "limit=0", "limit=-1", "limit=1001", f"limit={HUGE}", "limit=1e3", "limit=", "limit=%D9%A1",
        "limit=1.5", "limit=true", "after=", "after=%00", f"after={SURROGATE}", "after=x",
        "at=yesterday", "at=nan", "at=-1", f"at={HUGE}", "at=9999-99-99", "at=%00", "project=",
        "project=%00", f"project={'p' * 129}", "project=a&project=b", "sort=", "sort=--id",
        "sort=score%00", "state=prooven", "only_anti=perhaps", "lang=fr", "%00=1", "tag=%00",
        f"{'x' * 5000}=1",
    ],
)  # fmt: skip
def test_parameters_that_cannot_be_used_are_refused(http, query):
    """In one line, whatever they hold."""
    answer = http.get(f"/patterns?{query}")
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == PROBLEM
    assert "\n" not in answer.json()["detail"]


@pytest.mark.parametrize(
    ("status", "path"),
    [
        (422, "/patterns/%00"), (422, "/memories/%20"), (422, f"/runs/{'x' * 2000}"),
        (422, "/commands?kind=tests"), (422, "/runs?verdict=good"), (404, "/runs?ground=foo"),
        (404, "/runs?task_id=foo"), (200, "/runs?ground=crashed"), (200, "/runs?source=foo"),
    ],
)  # fmt: skip
def test_ids_and_filters_that_cannot_be_are_refused(http, status, path):
    """Most before the database sees them; what may exist one day is an empty list."""
    assert http.get(path).status_code == status


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, b"{"),
        (400, b'{"text": "\xff"}'),
        (400, b'{"nobody": 1'),
        (400, b'{"nobody": {"x": [1, '),
        (400, b'{"nobody": 1} {'),
        (400, b'{"nobody": 1, "text": "\xff"}'),
        (400, b'{"text": 1, "x": ' + b"[" * 100_000),
        (422, b"[]"),
        (422, b"null"),
        (422, b'"text"'),
        (422, b'{"text": 1}'),
        (422, b'{"text": null}'),
        (422, b'{"text": ""}'),
        (422, b'{"text": " "}'),
        (422, b'{"nobody": 1}'),
        (422, b'{"text": "' + b"x" * 70_000 + b'"}'),
        (422, b'{"text": "x", "force": "yes"}'),
        (422, b'{"text": "x", "by": "Ada"}'),
    ],
)
def test_bodies_that_cannot_be_used_are_refused(http, status, body):
    """Whatever is wrong with them."""
    answer = http.post("/memories", content=body, headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)


@pytest.mark.parametrize(
    "place",
    [
        b"[]", b"{}", b"null", b"[1,2,3]", b'["x"]', b'["x","y",-1]', b'["x","y",1e400]',
        b'["x","\\u0000",1]', b"[" * 3000,
    ],
)  # fmt: skip
def test_cursors_that_were_made_up_are_refused(http, place):
    """Of each kind of list."""
    cursor = base64.urlsafe_b64encode(place).decode().rstrip("=")
    for path in ("/runs", "/patterns", "/memories", "/dead-letters", "/criteria/quokka-clean"):
        answer = http.get(path, params={"after": cursor})
        assert answer.status_code == 422, path


def test_a_cursor_with_another_place_in_it_says_nothing_of_others(bearer):
    """The place may be anywhere: the list is that of the project all the same."""
    client = bearer["read"]
    cursor = client.get("/runs", params={"limit": 1}).json()["cursor"]
    question = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).split(b'"')[1].decode()
    for inner in (
        "[0,0]",
        "[1e308,9223372036854775807]",
        "[-1,1]",
        '["a",1]',
        "[1,99999999999999999999]",
    ):
        inside = base64.urlsafe_b64encode(inner.encode()).decode().rstrip("=")
        place = f'["{question}","{inside}",0]'.encode()
        made_up = base64.urlsafe_b64encode(place).decode().rstrip("=")
        answer = client.get("/runs", params={"after": made_up})
        assert answer.status_code in (200, 422)
        if answer.status_code == 200:
            assert {each["project"] for each in answer.json()["items"]} <= {OURS}
