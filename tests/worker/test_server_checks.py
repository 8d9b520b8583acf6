"""Servers that answer and cannot be worked with: one line that says what to change."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from psycopg import sql
from sqlalchemy.engine import make_url

from tests.support.redis_nodes import free_port
from tests.worker.working import changed, process, until
from trackrecord.errors import ServerUnavailable, ServerUnfit
from trackrecord.redis.roles import LEARNER
from trackrecord.settings.settings import Settings, load_settings
from trackrecord_worker.checks.server_checks import check_database, check_redis, check_servers
from trackrecord_worker.up.daemon import Daemon, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis
from trackrecord_worker.up.server_binary import find_servers


def refusal(check: Callable[[Settings], None], settings: Settings) -> str:
    """The one line with which a check refuses a server."""
    with pytest.raises(ServerUnfit) as said:
        check(settings)
    message = str(said.value)
    assert "\n" not in message
    return message


@pytest.fixture
def named(home: Path, redis_server: EmbeddedRedis) -> Settings:
    """Settings that name the test's Redis, as those of a server from elsewhere."""
    return load_settings(home=home, redis_url=f"unix://{redis_server.socket}")


def test_servers_that_are_as_they_should_be(named, client):
    """Nothing is said, and nothing is left behind in Redis."""
    check_servers(named)
    assert client.keys("*") == []


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-lru", "volatile-ttl"])
def test_a_redis_that_evicts(named, client, policy):
    """Outcomes would be thrown away when its memory is full."""
    client.config_set("maxmemory-policy", policy)
    said = refusal(check_redis, named)
    assert f"maxmemory-policy {policy}" in said
    assert "CONFIG SET maxmemory-policy noeviction" in said


@contextlib.contextmanager
def redis_with(folder: Path, *options: str) -> Iterator[Settings]:
    """A Redis server with these options, and settings that name it."""
    path = folder / "other.sock"
    command = [str(find_servers()[0].path), "--port", "0", "--unixsocket", str(path), "--save", ""]
    server = subprocess.Popen(
        [*command, "--dir", str(folder), *options], stdout=subprocess.DEVNULL
    )  # fmt: skip
    try:
        with redis.Redis(unix_socket_path=str(path)) as client:
            until(lambda: _answers(client))
        yield load_settings(home=folder, redis_url=f"unix://{path}")
    finally:
        server.kill()
        server.wait()


def _answers(client: redis.Redis) -> bool:
    with contextlib.suppress(redis.ConnectionError):
        return bool(client.ping())
    return False


def test_a_cluster(home):
    """It would refuse most of what is asked of it."""
    cluster = ["--port", str(free_port()), "--bind", "127.0.0.1", "--cluster-enabled", "yes"]
    with redis_with(home, *cluster) as settings:
        said = refusal(check_redis, settings)
        assert "Redis Cluster" in said
        assert "TRACKRECORD_REDIS_URL" in said


def test_an_older_redis(home):
    """A command that it does not know is named."""
    with redis_with(home, "--rename-command", "XAUTOCLAIM", "") as settings:
        said = refusal(check_redis, settings)
        assert "XAUTOCLAIM" in said
        assert "6.2" in said


def test_a_replica(home):
    """It answers, and takes no outcome."""
    with redis_with(home, "--replicaof", "127.0.0.1", "1") as settings:
        assert "replica" in refusal(check_redis, settings)


def user(client: redis.Redis, *rules: str) -> None:
    """Set up the Redis user that `as_user` names."""
    client.execute_command(
        "ACL", "SETUSER", "fleet", "reset", "on", ">secret", *" ".join(rules).split()
    )


def as_user(named: Settings) -> Settings:
    """The same server, by a user of its own."""
    socket_path = named.embedded_redis_socket
    url = f"unix://fleet:secret@{socket_path}"
    return changed(named, redis_url=url)


@pytest.mark.parametrize("lacking", ["xautoclaim", "evalsha", "brpop", "xinfo"])
def test_a_user_who_lacks_a_command(named, client, lacking):
    """The message names it, as it is granted."""
    user(client, LEARNER.rules("trackrecord"), f"-{lacking}")
    said = refusal(check_redis, as_user(named))
    assert f"+{lacking}" in said
    assert "ACL SETUSER" in said
    assert "secret" not in said


def test_a_user_of_other_keys(named, client):
    """The message names the pattern that is missing."""
    user(client, "~other:*", "+@all")
    assert "~trackrecord:*" in refusal(check_redis, as_user(named))


def test_a_wrong_password(named, client):
    """It is not printed."""
    user(client, "~*", "+@all")
    client.execute_command("ACL", "SETUSER", "fleet", "resetpass", ">another")
    said = refusal(check_redis, as_user(named))
    assert "password" in said
    assert "secret" not in said


def test_a_database_that_redis_does_not_have(named):
    """Its number is out of range."""
    url = f"unix://{named.embedded_redis_socket}?db=99"
    settings = load_settings(home=named.home, redis_url=url)
    assert "smaller number" in refusal(check_redis, settings)


def test_a_worker_of_its_own_refuses_too(named, client, tmp_path):
    """In a container, say: it ends at once, with the line in its log."""
    client.config_set("maxmemory-policy", "allkeys-lru")
    log = tmp_path / "worker.log"
    with process(worker_command(named), named, log) as worker:
        assert worker.wait(200) == 3
    assert "maxmemory-policy allkeys-lru" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_up_refuses_before_it_starts_anything(named, client):
    """And lets go of its home."""
    client.config_set("maxmemory-policy", "allkeys-lru")
    daemon = Daemon(named)
    with pytest.raises(ServerUnfit, match="maxmemory-policy"):
        daemon.start()
    assert daemon.pids() == {}
    client.config_set("maxmemory-policy", "noeviction")
    with pytest.raises(ServerUnavailable, match="database"):
        Daemon(named.model_copy(update={"database_url": "postgresql://127.0.0.1:1/x"})).start()


@pytest.fixture
def stranger(postgres_url: str) -> Iterator[Settings]:
    """Settings of a PostgreSQL user who owns nothing."""
    name = f"stranger_{os.getpid()}"
    admin = postgres_url.replace("+psycopg", "")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    url = make_url(postgres_url).set(username=name).render_as_string(hide_password=False)
    with tempfile.TemporaryDirectory(prefix="tr-") as folder:
        yield load_settings(home=Path(folder), database_url=url)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def test_a_user_who_may_not_make_tables(stranger):
    """As in PostgreSQL 15 and newer, where that is the rule."""
    said = refusal(check_database, stranger)
    assert "permission denied for schema public" in said
    assert "GRANT CREATE ON SCHEMA public" in said
