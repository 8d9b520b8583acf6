"""A token for one project sees nothing of another one; one that may read changes nothing.

Every endpoint of the table is asked, so that a new one cannot be forgotten.
"""

import json

import httpx
import pytest

from tests.door.api.served_store import MARKS, OURS, THEIRS, ServedStore
from tests.door.running_door import Door
from tests.support.no_tls import NO_TLS
from trackrecord_door.api.endpoint import Endpoint
from trackrecord_door.api.endpoint_table import ENDPOINTS
from trackrecord_door.protocol.callers import Permission

READING = [each for each in ENDPOINTS if each.permission is Permission.READ]
CHANGING = [each for each in ENDPOINTS if each.permission is not Permission.READ]
THEIR_MARK = MARKS[THEIRS]
# What an endpoint asks for that has no default.
GIVEN = {"task_id": "{mark}-1", "tools": "{mark}-grep", "scores": {"{mark}-clean": 0.5}}


def name_of(endpoint: Endpoint) -> str:
    """Return the name of an endpoint's test."""
    return f"{endpoint.method} {endpoint.path}"


def ask(client: httpx.Client, endpoint: Endpoint, served: ServedStore, whose: str, **query: str):
    """Ask an endpoint for what one of the projects has."""
    ids = served.ids[whose]
    mark = MARKS[whose]
    path = endpoint.path.replace(":path", "").format(**ids)
    required = {
        each.name: GIVEN.get(each.name, f"mend the {mark} test port in module 1")
        for each in endpoint.parameters.values()
        if each.is_required and each.place != "path"
    }
    said = json.loads(json.dumps(required).replace("{mark}", mark))
    if endpoint.method == "GET":
        return client.get(path, params={**said, **query})
    return client.post(path, json=said, params=query)


@pytest.mark.parametrize("endpoint", READING, ids=name_of)
def test_nothing_of_another_project_is_seen(bearer, http, served, endpoint):
    """Not by our names, not by theirs, not by naming the project, not in what is wrong."""
    client = bearer["read"]
    ours = ask(client, endpoint, served, OURS)
    assert ours.status_code == 200
    assert THEIR_MARK not in ours.text
    # What is asked for is repeated where it is unknown; what is not ours is not answered with.
    by_their_ids = ask(client, endpoint, served, THEIRS)
    asked = served.ids[THEIRS]
    shown = by_their_ids.text
    if endpoint.path.partition("{")[1] and "procedure" not in endpoint.path:
        assert by_their_ids.status_code == 404
        assert "did you mean" not in shown or THEIR_MARK not in shown.partition("did you mean")[2]
    elif by_their_ids.status_code == 200:
        document = by_their_ids.json()
        answered = json.dumps(document.get("items", document))
        assert asked["memory_id"] not in answered
        assert f"{THEIR_MARK}-run" not in answered
    if endpoint.scope != "none":
        refused = ask(client, endpoint, served, OURS, project=THEIRS)
        assert refused.status_code == 403
        assert THEIR_MARK not in refused.text
    # And what is asked for is there: whoever may sees it.
    if endpoint.scope == "project" and endpoint.path != "/context/preview":
        theirs = ask(http, endpoint, served, THEIRS, project=THEIRS)
        assert theirs.status_code == 200, theirs.text


@pytest.mark.parametrize("endpoint", CHANGING, ids=name_of)
def test_whoever_may_read_changes_nothing(bearer, served, endpoint):
    """Neither in its own project nor in another one; and whoever may write does not decide."""
    for query in ({}, {"project": OURS}, {"project": THEIRS}):
        assert ask(bearer["read"], endpoint, served, OURS, **query).status_code == 403
    assert ask(bearer["admin"], endpoint, served, THEIRS, project=THEIRS).status_code == 403
    if endpoint.permission is Permission.ADMIN:
        assert ask(bearer["write"], endpoint, served, OURS).status_code == 403


def test_every_endpoint_asks_for_a_permission():
    """All that are posted change something, but for three that only compute."""
    only_compute = {"/context/preview", "/criteria/weigh"}
    posted = {each.path for each in READING if each.method == "POST"}
    assert posted == only_compute
    assert all(each.method == "POST" for each in CHANGING)


def test_a_list_of_projects_is_of_ones_own(bearer, http):
    """A token for one project is told of it alone."""
    own = bearer["read"].get("/projects").json()["items"]
    assert [each["name"] for each in own] == [OURS]
    everything = http.get("/projects").json()["items"]
    assert {OURS, THEIRS} <= {each["name"] for each in everything}


def test_the_status_says_nothing_of_the_server_or_of_others(bearer, http, served):
    """Counts are those of the project, dead letters as well."""
    own = bearer["read"].get("/status").json()
    assert (own["home"], own["redis"], own["database"]) == (None, None, None)
    assert own["outcomes"] == 36
    everything = http.get("/status").json()
    assert everything["home"] == str(served.home)
    # Other tests of the served store may add letters of either project.
    assert 1 <= own["dead_letters"] < everything["dead_letters"]
    assert everything["outcomes"] >= 72


def test_dead_letters_of_others_cannot_be_decided_about(bearer, http, served):
    """They are unknown, also to whoever decides about all of one's own."""
    theirs = served.ids[THEIRS]["letter"]
    for action in ("replay", "discard"):
        refused = bearer["admin"].post(f"/dead-letters/{action}", json={"ids": [theirs]})
        assert refused.status_code == 404
    discarded = served.set_aside("it is wrong", b'{"project": "ours"}')
    assert bearer["admin"].post("/dead-letters/discard", json={"ids": [discarded]}).json() == {
        "discarded": 1
    }
    assert theirs in {each["id"] for each in http.get("/dead-letters").json()["items"]}


def test_outcomes_of_others_are_refused_line_by_line(bearer):
    """Those of one's own are taken; a line that names another project is named."""
    lines = b'{"task_id":"a","success":true}\n{"task_id":"b","success":true,"project":"theirs"}\n'
    taken = bearer["write"].post(
        "/outcomes", content=lines, headers={"content-type": "application/x-ndjson"}
    )
    assert taken.status_code == 202
    document = taken.json()
    assert len(document["outcome_ids"]) == 1
    (bad,) = document["bad"]
    assert bad["place"] == "line 2"
    assert "alone" in bad["reason"]
    assert bearer["read"].post("/outcomes", json={}).status_code == 403


def test_a_project_that_is_not_there_yet_names_no_other_one(api_door: Door, served):
    """The nearest project is somebody else's."""
    from trackrecord.resources.operation.tokens import create_token

    token = create_token(served.engine, project="thiers", permission=Permission.READ).token
    answer = httpx.get(
        f"{api_door.address}/api/v1/patterns",
        headers={"authorization": f"Bearer {token}"},
        verify=NO_TLS,
    )
    assert answer.status_code == 404
    assert THEIRS not in answer.text
