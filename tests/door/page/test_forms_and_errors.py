"""Forms are taken from the page's own pages alone; mistakes end in a page that says what to do."""

import pytest

from tests.door.page.shown_store import FLEET
from tests.door.running_door import Door
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import ensure_projects
from trackrecord_door.page.table import ACTIONS

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BROWSER = {"Accept": "text/html,application/xhtml+xml"}
OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize("path", [action.path for action in ACTIONS])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://elsewhere.invalid"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
    ids=str,
)
def test_forms_of_other_pages_are_refused(http, path, headers):
    """And those that do not say where they come from: a browser always does."""
    answer = http.post(path, params={"project": FLEET}, data={"confirmed": "yes"}, headers=headers)
    assert answer.status_code == 403


def test_a_page_of_another_port_is_another_page(http, page_door):
    """The origin has the port in it."""
    other = page_door.address.replace(str(page_door.port), "1")
    answer = http.post("/effect/holdout", data={"percent": "10"}, headers={"Origin": other})
    assert answer.status_code == 403
    answer = http.post(
        "/effect/holdout",
        params={"project": FLEET},
        data={"percent": "10"},
        headers={"Origin": page_door.address},
    )
    assert answer.status_code == 200
    assert "Withhold advice from 10%" in answer.text


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"json": {"percent": 10}}, 415),
        ({"content": b"percent=%FF", "headers": FORM}, 400),
        ({"content": b"&".join(b"a=1" for _ in range(3000)), "headers": FORM}, 400),
        ({"content": b"a=" + b"x" * 300_000, "headers": FORM}, 413),
        ({"data": {"percent": "many"}}, 422),
        ({"data": {"percent": "nan", "confirmed": "yes"}}, 422),
        ({"data": {"percent": "inf", "confirmed": "yes"}}, 422),
        ({"data": {"percent": "95", "confirmed": "yes"}}, 422),
        ({"content": b"", "headers": FORM}, 422),
        ({"data": {"percent": "10", "confirmed": "yes", "reason": "x" * 2000}}, 422),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_forms_are_refused_in_one_sentence(http, given, status):
    """On a page, with the status that fits."""
    headers = OWN | given.pop("headers", {})
    answer = http.post("/effect/holdout", params={"project": FLEET}, headers=headers, **given)
    assert answer.status_code == status, answer.text
    assert 'class="problem"' in answer.text


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("/memories?type=fact", "type must be one of memory, anti-pattern"),
        ("/memories?min_confidence=7", "min_confidence must be a number from 0 to 1"),
        ("/lessons?kind=falls", "kind must be one of fails"),
        ("/lessons?state=sean", "did you mean"),
        ("/patterns?state=provn", "did you mean"),
    ],
)
def test_a_filter_that_there_is_not_is_refused_in_one_sentence(http, query, says):
    """As on the command line and over HTTP, and never as an error of ours."""
    path, _, filters = query.partition("?")
    answer = http.get(f"{path}?project={FLEET}&{filters}", headers=BROWSER)
    assert answer.status_code == 422
    assert says in answer.text


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nothing-here", 404, "To the overview"),
        ("/?project=unknown-project", 404, "does not exist"),
        ("/?project=" + "x" * 200, 422, "a project"),
        ("/effect/holdout", 405, "To the overview"),
    ],
)
def test_mistakes_are_said_on_a_page(http, path, status, says):
    """In one sentence, with a way back."""
    answer = http.get(path, headers=BROWSER)
    assert answer.status_code == status
    assert says in answer.text
    assert answer.headers["content-type"].startswith("text/html")


@pytest.fixture(scope="module")
def without_redis(tmp_path_factory):
    """A client of a front door that has no Redis, but a store with very many projects."""
    with Door(tmp_path_factory.mktemp("without-redis")) as door:
        engine = connect_store(DaemonSettings(home=door.home).effective_database_url)
        migrate(engine)
        with writing(engine) as connection:
            ensure_projects(connection, [f"p{number}" for number in range(201)])
        engine.dispose()
        with door.client(headers=BROWSER) as client:
            yield client


def test_without_redis_the_rest_is_shown(without_redis):
    """The overview says that Redis cannot be reached, and shows what the store knows."""
    answer = without_redis.get("/")
    assert answer.status_code == 200
    assert 'class="problem"' in answer.text
    assert "How tasks went" in answer.text
    assert without_redis.get("/dead-letters").status_code == 503


def test_every_answer_has_the_policy(http):
    """Nothing runs but the page's own script, nothing is fetched from elsewhere, nothing framed."""
    for path in ("/", f"/effect?project={FLEET}", "/nothing-here"):
        headers = http.get(path, headers=BROWSER).headers
        policy = dict(each.split(" ", 1) for each in headers["content-security-policy"].split("; "))
        assert policy == {
            "default-src": "'none'",
            "style-src": "'self'",
            "script-src": "'self'",
            "img-src": "'self'",
            "form-action": "'self'",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
        }
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
