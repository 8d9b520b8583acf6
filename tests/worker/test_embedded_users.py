"""Who gets into the embedded Redis, and what they may do there."""

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.support.processes import free_port
from trackrecord.redis.checkup import refusals
from trackrecord.redis.client import agent_client, worker_client
from trackrecord.redis.passwords import ADMIN_USER, DEFAULT_USER, password_file
from trackrecord.redis.roles import LEARNER, dangerous_samples
from trackrecord_worker.app import create_app
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

NOBODY = 65_534
# Each argument is a command; printed is the first line of each reply. Plain sockets: the other user
# may not be able to read this environment's packages.
ATTACK = """
import socket, sys
place, *commands = sys.argv[1:]
try:
    if place.isdigit():
        connection = socket.create_connection(("127.0.0.1", int(place)), 10)
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(place)
except OSError as error:
    sys.exit(type(error).__name__)
replies = connection.makefile("rb")
for command in commands:
    connection.sendall(command.encode() + b"\\r\\n")
    print(replies.readline().decode().strip())
"""


@pytest.fixture
def port() -> int:
    """A loopback port that is free."""
    return free_port()


@pytest.fixture
def on_port(home: Path, port: int) -> Iterator[EmbeddedRedis]:
    """An embedded server with a port."""
    with EmbeddedRedis(home / "redis", home / "redis.sock", port=port) as server:
        yield server


@pytest.fixture
def as_nobody(home: Path) -> Iterator[list[str]]:
    """The beginning of a command that another user of this machine runs."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        pytest.skip("only root can run a program as another user, with setpriv")
    python = os.path.realpath(sys.executable)
    command = [
        setpriv,
        f"--reuid={NOBODY}",
        f"--regid={NOBODY}",
        "--clear-groups",
        python,
        "-I",
        "-S",
    ]
    if subprocess.run([*command, "-c", ""], check=False, cwd="/").returncode:
        pytest.skip("another user cannot run this Python")
    # The worst case: a home that others may enter, as one that was there before may be.
    home.chmod(0o755)
    return command


def replies(as_nobody: list[str], place: object, *commands: str) -> list[str]:
    """Return Redis' reply to another user, or the kind of error that keeps them out."""
    done = subprocess.run(
        [*as_nobody, "-c", ATTACK, str(place), *commands],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        timeout=200,
    )
    return (done.stdout or done.stderr).splitlines()


def test_another_user_of_the_machine_writes_no_file(on_port, as_nobody, home, port):
    """Without the password nothing is answered: no key of theirs gets into a folder of ours."""
    folder = home / ".ssh"
    folder.mkdir(mode=0o700)
    said = replies(
        as_nobody,
        port,
        "PING",
        f"CONFIG SET dir {folder}",
        "CONFIG SET dbfilename authorized_keys",
        "SET k ssh-ed25519-of-a-stranger",
        "SAVE",
        "XADD trackrecord:outcomes * v 1 body {}",
    )
    assert [line.split()[0] for line in said] == ["-NOAUTH"] * 6
    assert list(folder.iterdir()) == []
    with on_port.client() as client:
        assert client.keys("*") == []


def test_the_passwords_are_their_owners_alone(on_port, as_nobody, home):
    """Another user opens neither the files nor the socket, and sees no password in a command."""
    assert replies(as_nobody, home / "redis.sock", "PING") == ["PermissionError"]
    secrets = [password_file(home / "redis", user) for user in (DEFAULT_USER, ADMIN_USER)]
    for file in (*secrets, home / "redis" / "users.acl"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        done = subprocess.run(
            [*as_nobody, "-c", f"open({str(file)!r})"], check=False, capture_output=True, cwd="/"
        )
        assert b"PermissionError" in done.stderr
    assert on_port.process is not None
    shown = Path(f"/proc/{on_port.process.pid}/cmdline").read_text()
    users = (home / "redis" / "users.acl").read_text()
    for file in secrets:
        assert len(password := file.read_text().strip()) == 64
        assert password not in shown + users


@pytest.mark.parametrize("has_port", [False, True])
def test_programs_of_the_same_user_find_the_password(home, settings, port, *, has_port):
    """Agents, workers and Celery; on the socket alone `redis-cli` needs none."""
    with EmbeddedRedis(home / "redis", home / "redis.sock", port=port if has_port else 0):
        for client in (agent_client(settings), worker_client(settings)):
            with client:
                assert client.acl_whoami() == DEFAULT_USER
                assert client.xadd(settings.keys.outcomes, {"v": "1", "body": b"{}"})
        with create_app(settings).connection_for_write() as broker:
            broker.ensure_connection(max_retries=1)
            assert broker.default_channel.client.llen("any") == 0
        with redis.Redis(unix_socket_path=str(home / "redis.sock")) as plain:
            if has_port:
                with pytest.raises(redis.AuthenticationError):
                    plain.ping()
            else:
                assert plain.xlen(settings.keys.outcomes) == 2


def test_an_agent_that_runs_already_finds_a_new_password(home, settings, port):
    """A client of a server without a password goes on when the next server needs one."""
    with agent_client(settings) as client:
        with pytest.raises(redis.ConnectionError):
            client.ping()
        with EmbeddedRedis(home / "redis", home / "redis.sock"):
            assert client.ping()
        with EmbeddedRedis(home / "redis", home / "redis.sock", port=port):
            assert client.ping()


@pytest.mark.parametrize("has_port", [False, True])
def test_nobody_but_the_admin_can_take_the_server_over(home, settings, port, *, has_port):
    """Not even the owner's own programs, unless they take the admin's password."""
    samples = dangerous_samples("trackrecord") | {"bgrewriteaof": ("BGREWRITEAOF",)}
    with EmbeddedRedis(home / "redis", home / "redis.sock", port=port if has_port else 0) as server:
        with worker_client(settings) as client:
            assert refusals(client, samples).keys() == samples.keys()
            assert refusals(client, LEARNER.samples("trackrecord")) == {}
            for command in ("CONFIG SET dir /", "SAVE", "SHUTDOWN NOSAVE", "ACL LIST", "KEYS *"):
                with pytest.raises(redis.exceptions.NoPermissionError):
                    client.execute_command(*command.split())
        with worker_client(settings, user=ADMIN_USER) as admin:
            assert admin.bgrewriteaof()
        assert server.is_answering()


def test_passwords_are_made_once(home):
    """They stay, unless another user could have read them or they are none."""
    files = [password_file(home / "redis", user) for user in (DEFAULT_USER, ADMIN_USER)]

    def passwords() -> list[str]:
        with EmbeddedRedis(home / "redis", home / "redis.sock"):
            return [file.read_text() for file in files]

    first = passwords()
    assert all(re.fullmatch(r"[0-9a-f]{64}\n", each) for each in first)
    assert len(set(first)) == 2
    assert passwords() == first
    files[0].chmod(0o644)
    files[1].write_text("short\n")
    second = passwords()
    assert not set(first) & set(second)
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]


def test_a_restart_forgets_neither_what_is_pending_nor_when_keys_expire(home, settings):
    """Redis carries out its file as the default user: what stands in a transaction there, too."""
    with EmbeddedRedis(home / "redis", home / "redis.sock") as server:
        with agent_client(settings) as client:
            for number in range(3):
                client.xadd("trackrecord:outcomes", {"v": str(number)})
            client.xgroup_create("trackrecord:outcomes", "g", "0")
            client.xreadgroup("g", "c", {"trackrecord:outcomes": ">"}, count=3)
            with client.pipeline(transaction=True) as pipe:
                pipe.set("trackrecord:k", "v", ex=1000)
                pipe.expire("trackrecord:k", 500)
                pipe.execute()
        server.kill()
        server.start()
        with server.client() as admin:
            assert admin.xpending("trackrecord:outcomes", "g")["pending"] == 3
            assert 0 < admin.ttl("trackrecord:k") <= 500
            assert [entry["object"] for entry in admin.acl_log() if "x" in entry["object"]] == []
