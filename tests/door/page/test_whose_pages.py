"""Whose pages: the bearer of a token sees the project of the token, and does what it permits."""

import pytest

from tests.door.page.addresses import addresses
from tests.door.page.shown_store import FLEET, HOSTILE
from trackrecord.resources.operation.tokens import create_token
from trackrecord.wire.access_tokens import Permission
from trackrecord_door.page.table import ACTIONS

OWN = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}


@pytest.fixture
def bearing(shown_store, page_door):
    """Makes a client with a token of one project, as a browser sends it: as a password."""
    clients = []

    def client(permission, project=FLEET, name=""):
        token = create_token(shown_store.engine, project=project, permission=permission, name=name)
        clients.append(
            page_door.stranger(auth=("anybody", token.token), headers=OWN, timeout=200)
        )  # fmt: skip
        return clients[-1]

    yield client
    for each in clients:
        each.close()


def test_a_token_of_one_project_shows_that_one(bearing, shown_store):
    """On every page of the table; of the others not even the names."""
    client = bearing(Permission.READ)
    for address in addresses(shown_store, FLEET):
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert f">{HOSTILE}<" not in answer.text, address
    for address in addresses(shown_store, HOSTILE):
        answer = client.get(address)
        assert answer.status_code == 403, address
        assert "alone" in answer.text
    # Without a project in the address it is that of the token, and no form changes anything.
    for path in ("/", "/effect", "/dead-letters", "/lessons"):
        answer = client.get(path)
        assert f'<option value="{FLEET}" selected>' in answer.text
        assert 'method="post"' not in answer.text


def test_dead_letters_of_other_projects_are_not_seen(bearing, shown_store):
    """Nor counted, replayed or discarded."""
    keys = shown_store.settings.keys
    shown_store.set_aside("it is FLEET's", b'{"project": "fleet", "task_id": "seen"}')
    other = shown_store.set_aside("it is another's", b'{"project": "other", "task_id": "unseen"}')
    client = bearing(Permission.ADMIN)
    page = client.get("/dead-letters").text
    assert "seen" in page
    assert "unseen" not in page
    counted = client.get("/").text.partition("<dt>Dead letters</dt>")[2].partition("</dd>")[0]
    assert ">1</a>" in counted
    for path in ("/dead-letters/replay", "/dead-letters/discard"):
        form = {"letter": other, "until": other, "confirmed": "yes"}
        answer = client.post(path, data=form)
        assert answer.status_code == 422
        assert "no dead letter is chosen" in answer.text
    everything = {"until": "9999999999999-0", "confirmed": "yes"}
    assert client.post("/dead-letters/discard", data=everything).status_code == 303
    assert "There are no dead letters of this project" in client.get("/dead-letters").text
    assert shown_store.client.xrange(keys.dead, other, other) != []
    shown_store.client.xdel(keys.dead, other)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.path)
def test_actions_need_their_permission(bearing, action):
    """In the project of the token; less than what is needed is refused before anything is read."""
    less = Permission(action.permission - 1)
    form = {"confirmed": "yes"}
    answer = bearing(less).post(action.path, data=form)
    assert answer.status_code == 403
    assert "needs a token that may" in answer.text
    other = bearing(Permission.ADMIN).post(action.path, params={"project": HOSTILE}, data=form)
    assert other.status_code == 403


def test_what_one_may_not_is_not_offered(bearing):
    """To read: no buttons; to write: what an agent may report, too; to admin: decisions."""
    offered = {
        permission: bearing(permission).get("/effect").text
        + bearing(permission).get("/memories").text
        for permission in Permission
    }
    for permission, page in offered.items():
        assert ("/memories/add" in page) is (permission >= Permission.WRITE)
        assert ("Withhold advice" in page) is (permission is Permission.ADMIN)


def test_a_browser_is_let_in_by_the_link_of_trackrecord_open(browser, page_door, http, tmp_path):
    """From the file that the command hands it, without a step of the person's."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(page_door.address)
    assert "trackrecord open" in page.inner_text("body")
    assert not page.query_selector("a, form, script, link")
    link = http.post("/session").json()["path"]
    leads_on = tmp_path / "open.html"
    leads_on.write_text(f'<meta http-equiv="refresh" content="0;url={page_door.address}{link}">')
    page.goto(leads_on.as_uri())
    page.wait_for_url(f"{page_door.address}/")
    page.get_by_role("link", name="Lessons").first.click()
    page.wait_for_url(f"{page_door.address}/lessons**")
    context.close()
