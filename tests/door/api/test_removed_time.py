"""What retention has removed is said wherever an answer lacks it: over HTTP and on the page.

Every endpoint and every page of the tables is asked, so that a new one cannot be forgotten.
"""

import json
import time
from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from tests.door.api.served_store import MARKS, OURS, ServedStore
from tests.door.api.test_isolation import ask, name_of
from tests.door.running_door import Door
from tests.support.no_tls import NO_TLS
from trackrecord.settings.http_settings import HttpSettings
from trackrecord.settings.retention_settings import RetentionSettings
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.intake import learn
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import scorer_of
from trackrecord_consolidation.retention import remove_old
from trackrecord_door.api.endpoint import Endpoint
from trackrecord_door.api.endpoint_table import ENDPOINTS
from trackrecord_door.api.openapi import openapi_document
from trackrecord_door.page.table import VIEWS

DAY = 86_400.0
TODAY = time.time() // DAY * DAY
FIRST, SECOND = TODAY - 40 * DAY, TODAY - 39 * DAY
INSIDE, BETWEEN, BEFORE = SECOND + DAY / 2, SECOND + DAY, FIRST - 1
# What these answer with is kept, whatever retention removes.
KEPT = {
    "GET /artifacts", "GET /benchmark/gate", "GET /benchmark/runs", "GET /dead-letters",
    "GET /errors", "GET /errors/context", "GET /errors/stats", "GET /feedback", "GET /memories",
    "GET /memories/{memory_id:path}", "GET /recall", "POST /recall", "GET /runs/{outcome_id:path}",
}  # fmt: skip
# What is not there in a past whose outcomes are removed.
GONE = {"/commands/{command_id}", "/lessons/{lesson_id}", "/runs/{outcome_id:path}/explanation",
        "/competences/{competence_id:path}"}  # fmt: skip
PAST = [each for each in ENDPOINTS if "at" in each.parameters]
SAYING = [each for each in PAST if each.rests_on]


@pytest.fixture(scope="module")
def thinned_out(fresh_store: ServedStore) -> ServedStore:
    """A store of whose outcomes those of two days are removed, and their texts before."""
    rules = fresh_store.settings.rules
    mark, scorer = MARKS[OURS], scorer_of(rules)
    # The outcome that was recorded last is always kept.
    when = (FIRST + DAY / 4, SECOND + DAY / 4, TODAY - 15 * DAY, time.time())
    for number, received in enumerate(when):
        fields = {
            "outcome_id": f"{mark}-old-{number}", "task_id": f"{mark}-old-{number}",
            "project": OURS, "success": True, "strategy": f"{mark}-split", "timestamp": received,
            "criteria": {f"{mark}-clean": "helpful"}, "instruction": f"mend the {mark}",
        }  # fmt: skip
        body = json.dumps(fields).encode()
        outcome = scorer.score(decode_outcome(body), body, received_at=received, outcome_id="none")
        with writing(fresh_store.engine) as connection:
            learn(connection, [outcome], rules, now=received)
    settings = RetentionSettings(outcomes_days=20, bodies_days=10)
    done = remove_old(fresh_store.engine, settings, rules, OURS, now=time.time())
    assert done.outcomes == 2
    return fresh_store


@pytest.fixture(scope="module")
def client(thinned_out: ServedStore) -> Iterator[httpx.Client]:
    """A client of a front door on that store."""
    door = Door(thinned_out.home, HttpSettings(port=0), project=OURS)
    with httpx.Client(base_url=door.url, timeout=60, verify=NO_TLS) as client:
        yield client
    door.end()


def day(moment: float) -> str:
    """Return the day of a moment."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def is_lacking(rests_on: tuple[str, ...], at: float | None) -> bool:
    """Return whether an answer of a moment lacks something."""
    if at == BEFORE:
        return False
    if at == INSIDE:
        return bool(rests_on)
    return "outcomes" in rests_on or (at == BETWEEN and "runs" in rests_on)


def test_each_endpoint_about_the_past_says_what_its_answer_rests_on() -> None:
    """Or all of that is kept; and the document of HTTP says that it may be lacking."""
    assert {name_of(each) for each in PAST if not each.rests_on} == KEPT
    schemas = openapi_document()["components"]["schemas"]
    assert sum("removed" in each.get("properties", {}) for each in schemas.values()) > 15


@pytest.mark.parametrize("endpoint", SAYING, ids=name_of)
def test_answers_over_http_say_what_they_lack(client, thinned_out, endpoint: Endpoint) -> None:
    """Within a removed day, at its end, before the first one, and now."""
    client.base_url = httpx.URL(str(client.base_url).partition("/api")[0]).join("/api/v1")
    for at in (INSIDE, BETWEEN, BEFORE, None):
        given = {} if at is None else {"at": repr(at)}
        if endpoint.method == "POST":
            answer = client.post(endpoint.path, json={"scores": {"x": 0.5}, **given})
        else:
            answer = ask(client, endpoint, thinned_out, OURS, **given)
        if answer.status_code == 404 and at is not None:
            assert at == BEFORE or endpoint.path in GONE, answer.text
            says = "outcomes received before" in answer.json()["detail"]
            assert says or at == BEFORE or not is_lacking(endpoint.rests_on, at), answer.text
            continue
        assert answer.status_code == 200, answer.text
        removed = answer.json().get("removed")
        assert (removed is not None) == is_lacking(endpoint.rests_on, at), (at, removed)
        if removed is not None:
            assert f"outcomes received before {day(TODAY - 20 * DAY)} are removed" in removed
            sums = f"numbers are those of the beginning of {day(SECOND)} in UTC"
            assert (sums in removed) == ("sums" in endpoint.rests_on and at == INSIDE)


def test_a_page_of_the_newest_is_whole(client) -> None:
    """The last page of a list says what is no longer there; so does another order; no other one."""
    client.base_url = httpx.URL(str(client.base_url).partition("/api")[0]).join("/api/v1")
    first = client.get("/runs", params={"limit": 20}).json()
    assert first["cursor"] is not None
    assert "removed" not in first
    last = client.get("/runs", params={"limit": 20, "after": first["cursor"]}).json()
    assert (last["cursor"], "only those that are left" in last["removed"]) == (None, True)
    assert "removed" in client.get("/runs", params={"limit": 20, "sort": "ended"}).json()
    searched = client.get("/runs", params={"text": "module 1"}).json()
    assert f"texts of outcomes received before {day(TODAY - 10 * DAY)}" in searched["removed"]
    counted = client.post("/benchmark/runs", json={"since": repr(TODAY - 30 * DAY)}).json()
    assert "only those that are left" in counted["removed"]
    counted = client.post("/benchmark/runs", json={"since": repr(TODAY - 20 * DAY)}).json()
    assert "removed" not in counted


def test_pages_say_what_they_lack(client) -> None:
    """Each page of the past that shows what is removed, and no other one."""
    client.base_url = httpx.URL(str(client.base_url).partition("/api")[0])
    shown = 0
    for view in VIEWS:
        path = view.path
        if "{" in path:
            if not path.startswith("/patterns"):
                continue
            path = f"/patterns/{MARKS[OURS]}-split"
        for at in (INSIDE, BETWEEN, None):
            query = {"project": OURS} if at is None else {"project": OURS, "at": repr(at)}
            answer = client.get(path, params=query)
            assert answer.status_code == 200, (path, answer.text)
            says = f'<p class="past">Outcomes received before {day(TODAY - 20 * DAY)} are removed'
            assert (says in unescape(answer.text)) == is_lacking(view.rests_on, at), (path, at)
            shown += says in unescape(answer.text)
    assert shown > 15
