"""Another user of the machine: reads nothing, decides nothing and is told nothing."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from tests.door.raw_http import OWN_TOKEN
from tests.door.running_door import Door
from tests.support.no_tls import NO_TLS
from trackrecord.errors import AddressUnusable
from trackrecord.settings.daemon_settings import DaemonSettings, HttpSettings
from trackrecord_capture.agents.door_address import (
    DoorAddress,
    ask_door,
    find_door,
    socket_path,
    write_door,
)
from trackrecord_capture.agents.runtime import hook_command, write_runtime
from trackrecord_door.access.tokens import with_own_token
from trackrecord_door.api.endpoint_table import ENDPOINTS
from trackrecord_door.application import create_app
from trackrecord_door.ingest.intake import Intake
from trackrecord_door.protocol.answers import API
from trackrecord_door.protocol.listening import listen_in_home
from trackrecord_door.query_service import QueryService

NOBODY = 65_534
SETPRIV = shutil.which("setpriv")
# What another user tries, with the standard library alone: requests over TCP, files, the socket.
_TRIES = """
import http.client, json, socket, sys
port, home, requests = json.loads(sys.argv[1])
statuses = []
for method, path, headers in requests:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, "{}", {"Content-Type": "application/json", **headers})
    statuses.append(connection.getresponse().status)
    connection.close()
refused = []
for name in ("http-token", "agents/door"):
    try:
        open(f"{home}/{name}").close()
    except PermissionError:
        refused.append(name)
try:
    socket.socket(socket.AF_UNIX).connect(f"{home}/http.sock")
except PermissionError:
    refused.append("http.sock")
print(json.dumps([statuses, refused]))
"""
_START = {"session_id": "a6a9-1", "cwd": "/src/p", "hook_event_name": "SessionStart"}


@pytest.fixture
def door():
    """A front door whose home lies in a folder that everybody can enter."""
    with tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "home"
        home.mkdir(0o700)
        Path(folder).chmod(0o755)
        with Door(home) as running:
            running.until(lambda: find_socket(home))
            write_door(home, DoorAddress("127.0.0.1", running.port, "t" * 20))
            yield running


def find_socket(home: Path) -> bool:
    try:
        return ask_door(home, "GET", "/health")[0] == 200
    except OSError:
        return False


def routes(home: Path) -> list[tuple[str, str]]:
    """Every method and path of the application, with something in the place of parameters."""
    service = QueryService(DaemonSettings(home=home))
    intake = Intake(None, {}, lambda: None)  # type: ignore[arg-type] # nothing is posted to it
    try:
        # Those of the API are built when they are first wanted.
        table = [("GET", f"{API}/openapi.json")]
        table += [(each.method, _filled(f"{API}{each.path}")) for each in ENDPOINTS]
        for each in create_app(HttpSettings(), intake, service).routes:
            methods = getattr(each, "methods", None) or ("GET", "POST")
            table += [(method, _filled(each.path)) for method in sorted(methods)]
        return table
    finally:
        intake.close()
        service.close()


def _filled(path: str) -> str:
    parts = [f"x{part.partition('}')[2]}" if "}" in part else part for part in path.split("{")]
    return "".join(parts)


def hook(home: Path, event: object) -> bytes:
    """Return the output of an agent's hook."""
    done = subprocess.run(
        ["/bin/sh", "-c", hook_command(home, "tester")],
        input=json.dumps(event).encode(),
        capture_output=True,
        check=True,
        timeout=200,
    )
    return done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(SETPRIV is None, reason="there is no setpriv")
def test_another_user_gets_nothing(door):
    """On every route of the table 401, whatever is sent; no file and no socket can be opened.

    Not even where the home itself lets others in, as one that was made by hand may.
    """
    table = routes(door.home)
    assert len(table) > 100
    for surface in ("/v1/traces", "/hooks/x", "/api/v1/status", "/mcp", "/metrics", "/", "/health"):
        assert surface in [path for _, path in table]
    credentials = [{}, {"Authorization": "Bearer " + "x" * 43}, {"Accept": "text/html"}]
    tried = [(method, path, given) for method, path in table for given in credentials]
    for mode, requests in ((0o700, []), (0o755, tried)):
        door.home.chmod(mode)
        done = subprocess.run(
            [SETPRIV, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
             sys._base_executable, "-I", "-S", "-c", _TRIES,
             json.dumps([door.port, str(door.home), requests])],
            capture_output=True, check=False, timeout=300,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        statuses, refused = json.loads(done.stdout)
        wrong = [each for each, status in zip(requests, statuses, strict=True) if status != 401]
        assert wrong == []
        assert refused == ["http-token", "agents/door", "http.sock"]
    # Nothing was recorded, and the store was not even opened.
    assert door.taken_file.read_text() == ""
    assert not list(door.home.glob("*.db"))
    with door.client() as own:
        assert own.post("/hooks/tester", json={}).status_code == 200
        assert own.get("/api/v1/status").status_code != 401


def test_the_token_and_the_socket_are_their_owners_alone(home):
    """Both are made so that nobody else can use them, whatever the mask of new files is."""
    before = os.umask(0)
    try:
        with listen_in_home(home / "home"):
            assert with_own_token(DaemonSettings(home=home / "home")).http.token
            modes = {
                name: stat.S_IMODE((home / "home" / name).stat().st_mode)
                for name in ("", "http.sock", "http-token", "http.lock")
            }
    finally:
        os.umask(before)
    assert modes == {"": 0o700, "http.sock": 0o600, "http-token": 0o600, "http.lock": 0o600}


def test_whoever_takes_the_port_after_a_kill_gets_nothing(door):
    """Hooks go on to ask the socket, on which nobody can take the place of the front door."""
    write_runtime(door.home)
    hook(door.home, _START)
    (asked,) = door.taken("hook")
    assert json.loads(asked)["session_id"] == "a6a9-1"
    door.process.kill()
    door.process.wait()
    with socket.create_server(("127.0.0.1", door.port)) as stranger:
        stranger.settimeout(0.0)
        said = json.loads(hook(door.home, _START | {"hook_event_name": "UserPromptSubmit"}))
        assert list(said) == ["systemMessage"]
        with pytest.raises(BlockingIOError):
            stranger.accept()
    # What it left behind does not say that it runs, either.
    assert find_door(door.home) is None
    # And another one can be started there.
    listen_in_home(door.home).close()


def test_a_home_with_too_long_a_path_is_said_in_one_line(tmp_path):
    """The system bounds the path of a socket."""
    with pytest.raises(
        AddressUnusable, match="set TRACKRECORD_HOME to a folder of at most 93 bytes"
    ):
        listen_in_home(tmp_path / ("x" * 100))


def test_one_server_alone_listens_in_a_home(home):
    """Another one is refused in one line while it does, and takes its place afterwards."""
    with listen_in_home(home), pytest.raises(AddressUnusable, match="another process serves HTTP"):
        listen_in_home(home)
    listen_in_home(home).close()


def test_over_the_socket_no_token_is_needed(door):
    """Whoever can connect to it is the user who runs the front door, or root."""
    assert ask_door(door.home, "GET", "/health") == (200, b'{"status":"ok"}')
    assert socket_path(door.home).is_socket()
    assert httpx.get(f"{door.address}/health", verify=NO_TLS).status_code == 401


def test_what_another_user_sends_is_refused_before_its_body_is_read(door):
    """By its head alone, so that nobody without a credential can have a body held."""
    head = "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", door.port), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: 20000000\r\n\r\n".encode() + bytes(1000))
        assert connection.recv(12) == b"HTTP/1.1 401"
    token = f"Authorization: Bearer {OWN_TOKEN}\r\n"
    with socket.create_connection(("127.0.0.1", door.port), timeout=60) as connection:
        connection.sendall(f"{head}{token}Content-Length: 2\r\n\r\n{{}}".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
