"""Who may use the front door: nobody without a credential, and no web page."""

import httpx
import pytest

from tests.door.raw_http import OWN_TOKEN, ask
from tests.door.running_door import Door
from tests.support.no_tls import NO_TLS
from trackrecord.errors import AddressUnusable, SettingsError
from trackrecord.settings.daemon_settings import HttpSettings
from trackrecord_door.protocol.listening import is_loopback, listen, url_of

TOKEN = "correct-horse-battery"  # noqa: S105 - of this test alone
JSON = "Content-Type: application/json"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what needs a token


@pytest.fixture(scope="module")
def open_door(tmp_path_factory):
    """A front door that every user of the machine may use."""
    http = HttpSettings(port=0, open_to_local_users=True)
    with Door(tmp_path_factory.mktemp("open"), http) as running:
        yield running


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:4318", 200),
        ("127.0.0.1:{port}", 200),
        ("127.8.9.10", 200),
        ("[::1]:4318", 200),
        ("localhost.", 200),
        ("", 403),
        ("evil.example", 403),
        ("evil.example:4318", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1@evil.example", 403),
        ("evil.example#127.0.0.1", 403),
        ("192.168.1.10:4318", 403),
        ("0.0.0.0:4318", 403),
        ("[::ffff:10.0.0.1]", 403),
        ("2130706433", 403),
        ("[::1", 403),
        ("host.docker.internal:4318", 403),
    ],
)
def test_without_a_credential_the_host_must_be_this_machine(open_door, lasting_door, host, status):
    """A name that a web page could have rebound to loopback is refused, whatever is asked."""
    host = host.format(port=open_door.port)
    for request in (
        f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n",
        f"POST /v1/metrics HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n{JSON}\r\n\r\n{{}}",
    ):
        assert ask(open_door.port, request.encode(), "").status == status
        assert ask(lasting_door.port, request.encode(), "").status == 401
        assert ask(lasting_door.port, request.encode()).status == 200


def test_names_can_be_permitted(door_of):
    """A name in TRACKRECORD_HTTP__NAMES is as good as this machine's own."""
    door = door_of(names=("Host.Docker.Internal",), open_to_local_users=True)
    for host, status in (("host.docker.internal:4318", 200), ("other.internal", 403)):
        request = f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        assert ask(door.port, request, "").status == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:{port}", 200),
        ("HTTP://LocalHost:{port}", 200),
        ("http://localhost", 403),
        ("http://localhost:3000", 403),
        ("http://127.0.0.1:{port}", 403),
        ("https://evil.example", 403),
        ("null", 403),
        ("", 403),
        ("file://", 403),
        ("chrome-extension://abcdef", 403),
    ],
)
def test_no_web_page_can_post(lasting_door, origin, status):
    """Browsers name the page that asks: any other than the server's own is refused."""
    origin = origin.format(port=lasting_door.port)
    answer = httpx.post(
        f"http://localhost:{lasting_door.port}/v1/traces",
        content=b"{}",
        headers={"origin": origin, "content-type": "application/json"},
        auth=("me", OWN_TOKEN),
        timeout=200,
        verify=NO_TLS,
    )
    assert answer.status_code == status
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/v1/traces", "/hooks/tester", "/health"])
@pytest.mark.parametrize("origin", [{}, {"origin": "https://evil.example"}])
def test_preflights_are_refused(http, path, origin):
    """A page that asks whether it may send JSON gets no permission."""
    asked = {"access-control-request-method": "POST", **origin}
    answer = http.options(path, headers=asked)
    assert answer.status_code in (403, 405)
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_with_a_token_every_request_needs_it(door_of):
    """As a bearer's, or as the password that clients of Langfuse send; under any host name."""
    door = door_of(token=TOKEN)
    with door.stranger() as client:
        for path in ("/health", "/nothing", "/v1/traces"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert answer.json()["code"] == 16
        for given in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN, "Bearer", "Bearer \xff",
                      f"Digest {TOKEN}", "Basic not-base64", "Basic cGs6c2s="):  # fmt: skip
            headers = {"authorization": given.encode("latin-1")}
            assert client.get("/health", headers=headers).status_code == 401
        bearer = {"authorization": f"bearer {TOKEN}"}
        assert client.get("/health", headers=bearer).status_code == 200
        assert client.get("/health", auth=("pk-any", TOKEN)).status_code == 200
        named = bearer | {"host": "trackrecord.internal"}
        assert client.get("/health", headers=named).status_code == 200
        page = bearer | {"origin": "https://evil.example"}
        assert client.get("/health", headers=page).status_code == 403
    assert TOKEN not in door.log


def test_what_is_open_to_local_users_is_so_by_name_alone():
    """Not beside a token, and not where other machines can reach it."""
    with pytest.raises(ValueError, match="open_to_local_users contradicts token"):
        HttpSettings(token=TOKEN, open_to_local_users=True)
    for has_tokens in (True, False):
        with pytest.raises(SettingsError, match="unset it or listen on 127"):
            listen(
                HttpSettings(host=EVERYWHERE, port=0, open_to_local_users=True),
                lambda known=has_tokens: known,
            )


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.168.1.10", "example.com"])
def test_an_address_of_other_machines_needs_a_token(host):
    """Without one nothing listens there; the line says what to do."""
    with pytest.raises(SettingsError, match="TRACKRECORD_HTTP__TOKEN"):
        listen(HttpSettings(host=host, port=0))


def test_an_address_of_another_machine():
    """One line that names what to change."""
    with pytest.raises(AddressUnusable, match="TRACKRECORD_HTTP__HOST"):
        listen(HttpSettings(host="192.0.2.1", port=0, token=TOKEN))


def test_localhost_is_what_agents_are_told():
    """Where the name has two addresses, it is the one that agents and tracers use."""
    with listen(HttpSettings(host="localhost", port=0)) as listener:
        assert url_of(listener).startswith("http://127.0.0.1:")


def test_listening_everywhere_with_a_token():
    """The URL that is shown is one that works."""
    with listen(HttpSettings(host=EVERYWHERE, port=0, token=TOKEN)) as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "name", ["localhost", "Localhost.", "127.0.0.1", "127.1.2.3", "::1", "[::1]"]
)
def test_loopback(name):
    """All of them are this machine alone."""
    assert is_loopback(name)


def test_the_token_is_not_shown():
    """Neither by the settings nor by what is wrong with them."""
    assert TOKEN not in repr(HttpSettings(token=TOKEN))
    with pytest.raises(ValueError, match="16 characters") as raised:
        HttpSettings(token="short-one")  # noqa: S106 - a token that is refused
    assert "short-one" not in str(raised.value)
