"""What retention has removed is said wherever an answer lacks it: over HTTP and on the page.

Every endpoint and every page of the tables is asked, so that a new one cannot be forgotten.
"""

import time
from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from tests.door.api.served_store import MARKS, OURS, ServedStore
from tests.door.running_door import Door
from tests.store.teaching import learn_reports
from trackrecord.settings.daemon_settings import RetentionSettings
from trackrecord_consolidation.retention import remove_old
from trackrecord_door.api.endpoint_table import ENDPOINTS
from trackrecord_door.api.openapi import openapi_document
from trackrecord_door.page.table import VIEWS

DAY = 86_400.0
TODAY = time.time() // DAY * DAY
FIRST, SECOND = TODAY - 40 * DAY, TODAY - 39 * DAY


@pytest.fixture(scope="module")
def thinned_out(fresh_store: ServedStore) -> ServedStore:
    """A store of whose outcomes those of two days are removed, and their texts before."""
    rules = fresh_store.settings.rules
    mark = MARKS[OURS]
    # The outcome that was recorded last is always kept.
    when = (FIRST + DAY / 4, SECOND + DAY / 4, TODAY - 15 * DAY, time.time())
    for number, received in enumerate(when):
        fields = {
            "outcome_id": f"{mark}-old-{number}", "task_id": f"{mark}-old-{number}",
            "project": OURS, "success": True, "strategy": f"{mark}-split", "timestamp": received,
            "criteria": {f"{mark}-clean": "helpful"}, "instruction": f"mend the {mark}",
        }  # fmt: skip
        learn_reports(fresh_store.engine, [fields], rules, now=received)
    settings = RetentionSettings(outcomes_days=20, bodies_days=10)
    done = remove_old(fresh_store.engine, settings, rules, OURS, now=time.time())
    assert done.outcomes == 2
    return fresh_store


@pytest.fixture(scope="module")
def client(thinned_out: ServedStore) -> Iterator[httpx.Client]:
    """A client of a front door on that store."""
    with Door(thinned_out.home, project=OURS) as door, door.client() as client:
        yield client


def day(moment: float) -> str:
    """Return the day of a moment."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def test_a_page_of_the_newest_is_whole(client) -> None:
    """The last page of a list says what is no longer there; so does another order; no other one."""
    first = client.get("/api/v1/runs", params={"limit": 20}).json()
    assert first["cursor"] is not None
    assert "removed" not in first
    last = client.get("/api/v1/runs", params={"limit": 20, "after": first["cursor"]}).json()
    assert (last["cursor"], "only those that are left" in last["removed"]) == (None, True)
    assert "removed" in client.get("/api/v1/runs", params={"limit": 20, "sort": "ended"}).json()
    searched = client.get("/api/v1/runs", params={"text": "module 1"}).json()
    assert f"texts of outcomes received before {day(TODAY - 10 * DAY)}" in searched["removed"]
    counted = client.post("/api/v1/benchmark/runs", json={"since": repr(TODAY - 30 * DAY)}).json()
    assert "only those that are left" in counted["removed"]
    counted = client.post("/api/v1/benchmark/runs", json={"since": repr(TODAY - 20 * DAY)}).json()
    assert "removed" not in counted


def test_each_endpoint_says_what_its_answer_rests_on() -> None:
    """The document of HTTP says that it may be lacking."""
    schemas = openapi_document()["components"]["schemas"]
    said = sum("removed" in each.get("properties", {}) for each in schemas.values())
    assert said >= len({each.path for each in ENDPOINTS if each.rests_on}) > 2


def test_runs_of_the_past_are_lacking_from_the_first_removed_day_on(client) -> None:
    """What was not there yet lacks nothing."""
    for at, is_lacking in ((SECOND + DAY, True), (FIRST - 1, False)):
        answer = client.get("/api/v1/runs", params={"at": repr(at)}).json()
        assert ("removed" in answer) == is_lacking, at


def test_pages_say_what_they_lack(client) -> None:
    """The list of runs, and no other page."""
    for view in VIEWS:
        if "{" in view.path:
            continue
        answer = client.get(view.path, params={"project": OURS})
        assert answer.status_code == 200, (view.path, answer.text)
        says = f'<p class="past">Outcomes received before {day(TODAY - 20 * DAY)} are removed'
        assert (says in unescape(answer.text)) == bool(view.rests_on), view.path
