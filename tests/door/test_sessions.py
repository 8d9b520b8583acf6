"""`trackrecord open`: a link that works once becomes a session, which shows the page alone."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.door.raw_http import OWN_TOKEN
from tests.door.running_door import Door
from tests.support.no_tls import NO_TLS
from trackrecord.resources.operation.tokens import create_token
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
from trackrecord.wire.access_tokens import Permission
from trackrecord_capture.agents.door_address import DoorAddress, write_door
from trackrecord_door.access.sessions import Sessions
from trackrecord_door.access.tokens import reporting_token

PAGE = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def browser(lasting_door):
    """A browser of this machine without a session."""
    with lasting_door.stranger(headers=PAGE) as client:
        yield client


def link_of(door):
    with door.client() as client:
        answer = client.post("/session")
    assert answer.status_code == 200
    return answer.json()["path"]


def signed_in(browser, door):
    """Exchange a link for a cookie; return the header that set it."""
    answer = browser.get(link_of(door))
    assert answer.status_code == 200
    return answer.headers["set-cookie"]


def test_without_a_session_one_page_says_what_to_do(browser):
    """In words, and without a question for a password that nobody has."""
    for path in ("/", "/lessons", "/no-such-page"):
        answer = browser.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "<code>trackrecord open</code>" in answer.text
        assert "href" not in answer.text


def test_a_link_becomes_a_session_once(browser, lasting_door):
    """The cookie is out of reach for scripts and for other sites; the link is not good for two."""
    link = link_of(lasting_door)
    answer = browser.get(link)
    assert answer.status_code == 200
    assert 'http-equiv="refresh" content="0;url=/"' in answer.text
    given = answer.headers["set-cookie"].lower()
    for attribute in ("httponly", "samesite=strict", "path=/"):
        assert attribute in given
    assert browser.get("/").status_code != 401
    with lasting_door.stranger() as other:
        assert other.get(link).status_code == 401
        assert other.get("/session?code=").status_code == 401
        assert other.get("/session").status_code == 401
        assert other.get("/").status_code == 401


def test_a_session_shows_the_page_alone(browser, lasting_door):
    """Neither another server of this host nor what is no page can use the cookie."""
    signed_in(browser, lasting_door)
    for path in ("/api/v1/status", "/metrics", "/health"):
        assert browser.get(path).status_code == 401
    for path in ("/v1/traces", "/hooks/tester", "/mcp", "/api/v1/outcomes"):
        assert browser.post(path, json={}).status_code == 401
    for site, is_let_in in (
        ("none", True), ("same-origin", True), ("same-site", False), ("cross-site", False),
    ):  # fmt: skip
        status = browser.get("/", headers={"sec-fetch-site": site}).status_code
        assert (status != 401) is is_let_in
    # What a page of another server of this machine posts is refused as before.
    elsewhere = {"origin": "http://127.0.0.1:1"}
    assert browser.post("/effect/holdout", headers=elsewhere, data={}).status_code == 403


def test_a_session_ends_with_the_server(door_of):
    """Whoever took the port meanwhile, and was sent the cookie, gains nothing."""
    first = door_of()
    with httpx.Client(headers=PAGE, timeout=60, verify=NO_TLS) as browser:
        browser.get(f"{first.address}{link_of(first)}")
        assert browser.get(f"{first.address}/").status_code != 401
        first.end()
        with Door(first.home) as second:
            assert browser.cookies
            assert browser.get(f"{second.address}/").status_code == 401
            browser.get(f"{second.address}{link_of(second)}")
            assert browser.get(f"{second.address}/").status_code != 401


def test_only_its_user_gets_a_link(door_of):
    """The bearer of a token of the store does not: the session would outlast the token."""
    door = door_of()
    engine = connect_store(f"sqlite:///{door.home / 'trackrecord.db'}")
    migrate(engine)
    stored = create_token(engine, project=None, permission=Permission.ADMIN).token
    engine.dispose()
    for token, status in (
        (stored, 403), (reporting_token(OWN_TOKEN), 403), ("x" * 40, 401), (OWN_TOKEN, 200),
    ):  # fmt: skip
        headers = {"authorization": f"Bearer {token}"}
        with door.stranger(headers=headers) as client:
            assert client.post("/session").status_code == status


def test_links_and_sessions_expire(tmp_path):
    """A link after a minute, a session twelve hours after its last use."""
    now = [1000.0]
    sessions = Sessions(tmp_path, clock=lambda: now[0])
    code = sessions.new_code()
    now[0] += 61
    assert sessions.begin(code) is None
    cookie = sessions.begin(sessions.new_code())
    for hours, is_open in ((11, True), (11, True), (12, False), (0, False)):
        now[0] += hours * 3600
        assert sessions.is_open(cookie) is is_open
    assert not sessions.is_open("")
    assert sessions.begin("") is None


def test_their_number_is_bounded(tmp_path):
    """The newest ones stay."""
    sessions = Sessions(tmp_path)
    cookies = [sessions.begin(sessions.new_code()) for _ in range(150)]
    assert [sessions.is_open(each) for each in cookies] == [False] * 50 + [True] * 100


def test_the_token_that_programs_report_with_does_nothing_else(emptied_door):
    """It is sent to whatever listens on the port."""
    headers = {"authorization": f"Bearer {reporting_token(OWN_TOKEN)}"}
    with emptied_door.stranger(headers=headers) as program:
        for path in ("/v1/traces", "/v1/logs", "/v1/metrics"):
            assert program.post(path, json={}).status_code == 200
        assert program.get("/health").status_code == 200
        for path in ("/", "/api/v1/patterns", "/metrics"):
            assert program.get(path).status_code == 403
        for path in ("/hooks/tester", "/mcp", "/api/v1/outcomes", "/dead-letters/discard"):
            assert program.post(path, json={}).status_code == 403
    assert emptied_door.taken("hook") == []


def command(door, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "trackrecord_cli", *arguments],
        env={**os.environ, "TRACKRECORD_HOME": str(door.home), **environment},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_the_command_opens_the_page(lasting_door, browser, tmp_path):
    """The browser is given a file that leads on: others see the arguments of processes."""
    write_door(lasting_door.home, DoorAddress("127.0.0.1", lasting_door.port))
    seen = tmp_path / "seen"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$@" > {seen}\n')
    program.chmod(0o700)
    done = command(lasting_door, "open", BROWSER=f"{program} %s")
    assert (done.returncode, done.stderr) == (0, "")
    link = done.stdout.strip()
    assert link.startswith(f"{lasting_door.address}/session?code=")
    given = seen.read_text().strip()
    assert given.startswith("file://")
    assert link.rpartition("=")[2] not in given
    page = Path(given.removeprefix("file://"))
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert re.search('content="0;url=([^"]+)"', page.read_text())[1] == link
    assert browser.get(link).status_code == 200
    assert browser.get("/").status_code != 401


def test_without_a_browser_the_command_prints_the_link(lasting_door, browser):
    """And does nothing else."""
    write_door(lasting_door.home, DoorAddress("127.0.0.1", lasting_door.port))
    done = command(lasting_door, "open", BROWSER="", DISPLAY="", WAYLAND_DISPLAY="")
    assert (done.returncode, done.stderr) == (0, "")
    assert browser.get(done.stdout.strip()).status_code == 200


def test_without_a_server_the_command_says_so(tmp_path):
    """In one line, with what to do."""

    class Nowhere:
        home = tmp_path

    done = command(Nowhere, "open")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"trackrecord: no HTTP server answers in {tmp_path}; start one with "
        "`trackrecord up --detach`\n"
    )
