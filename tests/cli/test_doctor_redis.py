"""What `trackrecord doctor` says of Redis, on real servers."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from trackrecord.redis.roles import AGENT
from trackrecord_worker.up.embedded_redis import EmbeddedRedis
from trackrecord_worker.up.server_binary import find_servers

PASSWORD = "secretOfTheTest"  # noqa: S105 - as its name says


@pytest.fixture(autouse=True)
def _home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))


@pytest.fixture
def port() -> int:
    """A loopback port that is free."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def of_redis(trackrecord) -> tuple[dict, list[str]]:
    """Return the lines about Redis, and their remedies."""
    document = trackrecord("doctor", "--json").json
    advice = [line for line in document["advice"] if "Redis" in line]
    assert not (advice and document["well"])
    return document["redis"], advice


def test_the_embedded_server(home: Path, port: int, trackrecord) -> None:
    """Its socket is its owner's alone, its port needs a password: there is nothing to do."""
    for has_port in (False, True):
        with EmbeddedRedis(home / "redis", home / "redis.sock", port=port if has_port else 0):
            found, advice = of_redis(trackrecord)
            told = trackrecord("doctor").out
        assert advice == []
        assert (found["answers"], found["user"]) == (True, "default")
        assert found["needs_password"] is has_port
        assert found["version"] == str(find_servers()[0].version)
        assert (
            f"Redis at unix://{home}/redis.sock ({found['version']}): answers user default" in told
        )
        assert ("needs a password" in told) == has_port
        assert ("known vulnerabilities" in told) == find_servers()[0].version.is_vulnerable
        assert (found["notes"] != []) == find_servers()[0].version.is_vulnerable


def test_a_server_that_is_away(trackrecord) -> None:
    """One line says how to start it."""
    found, (line,) = of_redis(trackrecord)
    assert not found["answers"]
    assert "cannot be reached" in line
    assert "trackrecord up" in line


@pytest.fixture
def server(home: Path, port: int) -> Iterator[redis.Redis]:
    """A server as one starts it by hand, and a client of its default user."""
    command = [find_servers()[0].path, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(port=port) as client:
            while True:
                with contextlib.suppress(redis.ConnectionError):
                    client.ping()
                    break
                assert process.poll() is None
            yield client
    finally:
        process.kill()
        process.wait()


def test_an_open_server(
    server: redis.Redis, port: int, trackrecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it is open, and that our user may do too much; nothing is carried out."""
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", f"redis://127.0.0.1:{port}/0")
    server.set("kept", "1")
    found, (is_open, too_much) = of_redis(trackrecord)
    assert found["needs_password"] is False
    assert "without a password" in is_open
    assert "default may take the server over (ACL SETUSER, BGSAVE, CONFIG SET" in too_much
    assert "FLUSHALL" in too_much
    assert "deploy/redis/users.acl" in too_much
    assert server.get("kept") == b"1"
    assert server.info("replication")["role"] == "master"
    assert server.acl_list() == ["user default on nopass ~* &* +@all"]


def test_users_of_a_server_with_passwords(
    server: redis.Redis, port: int, trackrecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent's user is well; one that may do less or more is told of, without its password."""
    rules = AGENT.rules("trackrecord")
    if find_servers()[0].version.number < (7, 0, 0):
        rules = rules.replace("%R~", "~")
    server.acl_setuser("watcher", enabled=True, nopass=True, keys="*", commands=["+@all"])
    server.execute_command("ACL", "SETUSER", "default", "off")
    with redis.Redis(port=port, username="watcher", password=PASSWORD) as watcher:
        for changes, expected in (
            ("", None),
            ("-hset -eval", "one lacks commands that an agent needs: +eval +hset"),
            ("resetkeys ~other:*", "one may not use the keys of agents: ~trackrecord:in-flight:*"),
            ("+config +debug", "one may take the server over (CONFIG SET"),
        ):
            line = f"one reset on >{PASSWORD} {rules} {changes}"
            watcher.execute_command("ACL", "SETUSER", *line.split())
            monkeypatch.setenv(
                "TRACKRECORD_REDIS_URL", f"redis://one:{PASSWORD}@127.0.0.1:{port}/0"
            )
            found, advice = of_redis(trackrecord)
            assert (found["user"], found["needs_password"]) == ("one", True)
            assert len(advice) == (expected is not None)
            assert expected is None or expected in advice[0]
            assert PASSWORD not in str((found, advice)) + trackrecord("doctor").out
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", f"redis://127.0.0.1:{port}/0")
    assert "Redis wants a password" in of_redis(trackrecord)[1][0]
    monkeypatch.setenv("TRACKRECORD_REDIS_URL", f"redis://one:wrong@127.0.0.1:{port}/0")
    assert "Redis refuses the password" in of_redis(trackrecord)[1][0]
