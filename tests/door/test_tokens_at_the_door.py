"""Tokens of the store at the front door: whose they are, how far they reach, when they end."""

import asyncio
import base64
import contextlib
import shutil
import stat
import time

import pytest
from sqlalchemy import Engine, event

from tests.door.raw_http import OWN_TOKEN, connect
from trackrecord.errors import SettingsError, StoreUnavailable
from trackrecord.resources.operation.tokens import create_token, list_tokens, revoke_token
from trackrecord.settings.daemon_settings import DaemonSettings, HttpSettings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.wire.access_tokens import Permission
from trackrecord_door.access.tokens import REMEMBERED_S, Tokens, has_tokens, with_own_token
from trackrecord_door.protocol.callers import Caller
from trackrecord_door.protocol.listening import listen
from trackrecord_door.query_service import QueryService

OWN = "correct-horse-battery"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what needs a token
READ, WRITE, ADMIN = Permission
JSON = {"content-type": "application/json"}
# What agents and tracers post: traces, logs, metrics, scores, hooks.
REPORTING = ("/v1/traces", "/v1/logs", "/v1/metrics", "/hooks/tester")


@pytest.fixture
def store_of(migrated_home):
    """Opens the stores of homes, migrated on first use."""
    opened: list[Engine] = []

    def store(home) -> Engine:
        path = home / "trackrecord.db"
        if not path.exists():
            shutil.copyfile(migrated_home / path.name, path)
        opened.append(connect_store(f"sqlite:///{path}"))
        return opened[-1]

    yield store
    for engine in opened:
        engine.dispose()


@pytest.fixture
def service(migrated_home):
    """The floor of a front door of this test."""
    found = QueryService(DaemonSettings(home=migrated_home))
    yield found
    found.close()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def made(store, permission=WRITE, project=None) -> str:
    return create_token(store, project=project, permission=permission).token


@pytest.fixture
def loop():
    """Runs what a front door's event loop would."""
    with asyncio.Runner() as runner:
        yield runner.run


def asked(loop, tokens: Tokens, *given: str) -> list[Caller | None]:
    """Return the callers of tokens, all looked up at the same time."""

    async def ask() -> list[Caller | None]:
        return await asyncio.gather(*(tokens.caller_of(token) for token in given))

    return loop(ask())


def test_a_token_stands_for_its_project_and_permission(service, loop):
    """Only the whole token does; another secret with the same id does not."""
    one, other = made(service.engine, READ, "web"), made(service.engine, ADMIN)
    wrong = one[:-1] + ("0" if one[-1] != "0" else "1")
    tokens = Tokens(service)
    assert asked(loop, tokens, one, other, wrong, one[:-1], "") == [
        Caller("web", READ), Caller(None, ADMIN), None, None, None
    ]  # fmt: skip
    tokens.close()


def test_tokens_are_not_asked_for_with_each_request(service, loop):
    """A hundred requests, good and bad, are two queries; a token made since is found at once."""
    token = made(service.engine)
    queries: list[str] = []
    event.listen(service.engine, "before_cursor_execute", lambda *given: queries.append(given[2]))
    tokens = Tokens(service)

    def read() -> int:
        return len([query for query in queries if "FROM access_tokens" in query])

    assert asked(loop, tokens, *[token] * 50) == [Caller(None, WRITE)] * 50
    assert read() == 1
    wrong = [f"trk_{number:012x}_{number:048x}" for number in range(50)]
    assert asked(loop, tokens, *wrong) == [None] * 50
    assert read() == 2
    later = made(service.engine)
    assert asked(loop, tokens, later) == [Caller(None, WRITE)]
    tokens.close()


@pytest.mark.parametrize(("remembered_s", "is_let_in"), [(3600.0, True), (0.0, False)])
def test_how_long_a_revoked_token_is_remembered(service, loop, remembered_s, is_let_in):
    """No longer than it is said to be, which is five seconds."""
    assert REMEMBERED_S <= 5
    token = made(service.engine)
    tokens = Tokens(service, remembered_s=remembered_s)
    assert asked(loop, tokens, token) == [Caller(None, WRITE)]
    revoke_token(service.engine, token.split("_")[1])
    assert (asked(loop, tokens, token) != [None]) is is_let_in
    tokens.close()


def test_the_use_of_a_token_is_noted(service, loop):
    """On the list, and not with each request."""
    token = made(service.engine)
    tokens = Tokens(service)
    writes: list[str] = []
    event.listen(service.engine, "before_cursor_execute", lambda *given: writes.append(given[2]))

    async def use() -> None:
        for _ in range(5):
            await tokens.caller_of(token)
        await tokens.noted()

    loop(use())
    with reading(service.engine) as connection:
        (known,) = list_tokens(connection)
    assert known.last_used_at is not None
    assert len([each for each in writes if each.startswith("UPDATE access_tokens")]) == 1
    tokens.close()


def test_while_the_database_is_away(home, loop):
    """A token cannot be checked, and those who wait are told at once, together."""
    (home / "trackrecord.db").mkdir()
    service = QueryService(DaemonSettings(home=home))
    tokens = Tokens(service)
    token = f"trk_{0:012x}_{0:048x}"
    tries: list[float] = []
    read_now = tokens._read_now

    def counted():
        tries.append(time.monotonic())
        return read_now()

    tokens._read_now = counted

    async def ask() -> list[object]:
        return await asyncio.gather(
            *(tokens.caller_of(token) for _ in range(20)), return_exceptions=True
        )

    assert {type(each) for each in loop(ask())} == {StoreUnavailable}
    assert len(tries) == 1
    (home / "trackrecord.db").rmdir()
    assert asked(loop, tokens, token) == [None]
    tokens.close()
    service.close()


def test_a_token_of_the_store_holds_its_bearer_to_it(door_of, store_of):
    """It must be right, and permits no more than it says.

    Whoever reports what is of any project needs a token for all of them that may write.
    """
    door = door_of()
    store = store_of(door.home)
    given = {
        (project, permission): made(store, permission, project)
        for project in ("web", None)
        for permission in Permission
    }
    revoked = made(store)
    revoke_token(store, revoked.split("_")[1])
    with door.stranger(timeout=200) as client:
        for (project, permission), token in given.items():
            assert client.get("/health", headers=bearer(token)).status_code == 200
            for path in REPORTING:
                answer = client.post(path, content=b"{}", headers=JSON | bearer(token))
                may = project is None and permission >= WRITE
                assert (answer.status_code == 403) is not may, (path, project, permission)
                if not may:
                    message = answer.json()["message"]
                    assert ("all projects" if project else "may write") in message
        for wrong in (revoked, revoked[:-1] + "x", "trk_", f"trk_{0:012x}_{0:048x}"):
            answer = client.get("/health", headers=bearer(wrong))
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert client.get("/health", auth=("anybody", "nothing")).status_code == 401
        assert client.get("/health", auth=("anybody", OWN_TOKEN)).status_code == 200
        # Whoever knows a token may use any name, but no web page may use the token.
        token = given[None, WRITE]
        named = bearer(token) | {"host": "trackrecord.internal"}
        assert client.get("/health", headers=named).status_code == 200
        page = bearer(token) | {"origin": "https://evil.example"}
        assert client.get("/health", headers=page).status_code == 403
        assert client.get("/health", auth=("anybody", token)).status_code == 200
    assert token.rpartition("_")[2] not in door.log


def test_other_machines_need_one_of_the_tokens(door_of, store_of):
    """A stored one will do; nobody else gets in, not even from this machine."""
    door = door_of(host=EVERYWHERE)
    token = made(store_of(door.home), READ, "web")
    with door.stranger(timeout=200) as client:
        assert client.get("/health").status_code == 401
        assert client.get("/health", auth=("anybody", "nothing")).status_code == 401
        assert client.get("/health", headers=bearer(token)).status_code == 200


def test_a_browser_is_told_to_ask_for_the_token(door_of):
    """As the password of any user; programs are told of bearers."""
    door = door_of(token=OWN, host=EVERYWHERE)
    wants_a_page = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    with door.stranger(timeout=200) as client:
        for path in ("/", "/lessons", "/api/v1/status"):
            answer = client.get(path, headers=wants_a_page)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith('Basic realm="trackrecord"')
            assert client.get(path).headers["www-authenticate"] == "Bearer"
        entered = base64.b64encode(f"me:{OWN}".encode()).decode()
        typed = wants_a_page | {"authorization": f"Basic {entered}"}
        assert client.get("/health", headers=typed).status_code == 200


def test_reports_are_taken_while_the_database_is_away(door_of, store_of):
    """From this machine and with the setting's token; a stored one is said to be tried again."""
    doors = [door_of(), door_of(token=OWN)]
    for door, own in zip(doors, (bearer(OWN_TOKEN), bearer(OWN)), strict=True):
        (door.home / "trackrecord.db").mkdir()
        with door.stranger(timeout=200, headers=JSON) as client:
            for path in ("/v1/traces", "/hooks/tester"):
                assert client.post(path, content=b"{}", headers=own).status_code == 200
            stored = bearer(f"trk_{0:012x}_{0:048x}")
            answer = client.post("/v1/traces", content=b"{}", headers=stored)
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) > 0
            assert "database" in answer.json()["message"]
            (door.home / "trackrecord.db").rmdir()
            token = made(store_of(door.home))
            assert client.post("/v1/traces", content=b"{}", headers=bearer(token)).is_success


def test_stored_tokens_let_a_server_listen_for_other_machines(home, store_of):
    """As long as one of them is valid; the line says how to make one."""
    http = HttpSettings(host=EVERYWHERE, port=0)
    settings = DaemonSettings(home=home, http=http)
    with pytest.raises(SettingsError, match="`trackrecord token create`"):
        listen(http, lambda: has_tokens(settings))
    token = made(store_of(home))
    listen(http, lambda: has_tokens(settings)).close()
    revoke_token(store_of(home), token.split("_")[1])
    with pytest.raises(SettingsError):
        listen(http, lambda: has_tokens(settings))


def test_agents_of_this_machine_get_in_without_the_settings_token(home):
    """With a token of the home; it stays, and its owner alone can read it."""
    open_to_all = DaemonSettings(home=home)
    own = with_own_token(open_to_all).http.token
    assert own is not None
    assert with_own_token(open_to_all).http.token == own
    (file,) = [path for path in home.rglob("*") if path.is_file() and own in path.read_text()]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(own[:10])
    assert with_own_token(open_to_all).http.token not in (own, own[:10])
    for http in (HttpSettings(open_to_local_users=True), HttpSettings(token=OWN)):
        settings = DaemonSettings(home=home, http=http)
        assert with_own_token(settings) == settings


def test_bodies_that_a_bearer_holds_keep_nobody_elses_from_being_read(door_of, store_of):
    """Neither those of the user who runs the server nor those of another bearer."""
    door = door_of()
    store = store_of(door.home)
    holder, other = made(store), made(store)
    body = b"{}" + b" " * (20 * 1024 * 1024 - 2)
    head = (
        f"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {holder}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with contextlib.ExitStack() as held:
        for _ in range(3):
            connection = held.enter_context(connect(door.port))
            with contextlib.suppress(OSError):  # the second one is refused
                connection.sendall(head + body[:-1])
        with door.stranger(timeout=200) as client:
            for token in (OWN_TOKEN, other):
                answer = client.post("/v1/traces", content=body, headers=JSON | bearer(token))
                assert answer.status_code == 200
            answer = client.post("/v1/traces", content=body, headers=JSON | bearer(holder))
            assert answer.status_code == 503
