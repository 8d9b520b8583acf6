"""The roles of Redis users on a real server: each does its work, and nothing else."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from tests.support.acl_file import acl_file
from tests.worker.working import (
    body,
    command_line,
    learnt_counts,
    process,
    publish,
    run_python,
    until,
)
from trackrecord.redis.checkup import refusals
from trackrecord.redis.client import agent_client, worker_client
from trackrecord.redis.roles import ROLES, dangerous_samples
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord_worker.app import create_app
from trackrecord_worker.checks.server_checks import check_redis, check_servers
from trackrecord_worker.job_table import TASKS
from trackrecord_worker.up.daemon import beat_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis
from trackrecord_worker.up.server_binary import find_servers

ACL_FILE = Path(__file__).parents[2] / "deploy" / "redis" / "users.acl"
# Patterns of keys for reading alone; the older server gives agents and readers the keys as a whole.
KNOWS_READING = find_servers()[0].version.number >= (7, 0, 0)
PASSWORD = "secretOfTheTest"  # noqa: S105 - as its name says

AsRole = Callable[[str], Settings]


@pytest.fixture
def as_role(home: Path, redis_server: EmbeddedRedis, client: redis.Redis) -> AsRole:
    """Settings of a user of the test's Redis, with the rights that are shipped for the role."""
    for line in users():
        client.execute_command("ACL", "SETUSER", *line.split()[1:])

    def settings_of(role: str) -> Settings:
        url = f"unix://{role}:{PASSWORD}@{redis_server.socket}"
        return load_settings(home=home, redis_url=url)

    return settings_of


def for_this_server(text: str) -> str:
    """The shipped file; for an older server, which knows no selectors either, with wider rights."""
    if KNOWS_READING:
        return text
    return re.sub(r" \(-@all \+xadd (.*?)\)", r" \1", text.replace("%R~", "~"))


def users() -> list[str]:
    """The lines of the shipped file but that of the default user, with the test's password."""
    text = for_this_server(ACL_FILE.read_text())
    return re.sub(r"#[A-Z]+_PASSWORD", f">{PASSWORD}", text).splitlines()[1:]


def lacked(client: redis.Redis, role: str) -> set[str]:
    """Return what Redis refused to a user, except for naming a client's library."""
    log = [entry for entry in client.acl_log() if entry["username"] == role]
    return {entry["object"] for entry in log} - {"client|setinfo", "client"}


def run(settings: Settings, program: str) -> str:
    """Return the output of an agent's program."""
    done = run_python(settings, "-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_shipped_file_follows_from_the_roles():
    """Made by `acl_file`; not edited by hand."""
    assert ACL_FILE.read_text() == acl_file("trackrecord")


def test_redis_takes_the_shipped_file_with_passwords_alone(tmp_path, home):
    """As it is shipped nobody gets in, for Redis does not even start."""
    socket = str(home / "redis.sock")
    file = tmp_path / "users.acl"
    command = [str(find_servers()[0].path), "--port", "0", "--unixsocket", socket, "--save", ""]
    command += ["--aclfile", str(file)]
    text = for_this_server(ACL_FILE.read_text())
    file.write_text(text)
    refused = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30
    )
    assert refused.returncode != 0
    assert "users.acl:2" in refused.stdout + refused.stderr
    file.write_text(re.sub(r"#([A-Z]+)_PASSWORD", r">\1", text))
    server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        until(Path(socket).exists)
        for user, password in (("default", ""), ("default", "x"), ("agent", "x")):
            client = redis.Redis(unix_socket_path=socket, username=user, password=password)
            with client, pytest.raises(redis.AuthenticationError):
                client.ping()
        for user in ("agent", "worker", "reader", "admin"):
            client = redis.Redis(unix_socket_path=socket, username=user, password=user.upper())
            with client:
                assert client.acl_whoami() == user
    finally:
        server.kill()
        server.wait()


REPORT = """
import trackrecord
with trackrecord.attempt("t1", strategy="Split by feature", source="a") as attempt:
    trackrecord.record_error("t1", "timeout", "the first build took too long")
    attempt.tool("build", ok=False, error="2 tests failed")
    attempt.retry()
    attempt.tool("build", ok=True)
for number in range(3):
    trackrecord.publish(task_id=f"p{number}", success=True, strategy="Split by feature")
trackrecord.remember("The login test needs port 5432", source="a")
error = trackrecord.record_error("t2", "timeout", "the second build took too long")
print(trackrecord.error_context("t2"), len(trackrecord.list_errors("t2")))
trackrecord.resolve_error(error)
trackrecord.summarise("x " * 100_000, task_id="t1")
assert trackrecord.flush(30), "not everything was sent"
"""
ASK = """
import trackrecord
answer = trackrecord.rankings(task="fix the login test")
context = trackrecord.context(task="fix the login test")
assert not answer.problem and not context.problem, (answer.problem, context.problem)
assert trackrecord.feedback(pattern="Split by feature", verdict="helpful", source="a")
assert trackrecord.flush(30)
print(answer.prompt, context.prompt)
"""


def test_agents_report_and_ask_and_workers_learn(as_role, client, tmp_path):
    """Each by a user of its own, through a real worker and beat: nothing is refused to them."""
    agent, worker = as_role("agent"), as_role("worker")
    check_servers(worker)
    log = tmp_path / "worker.log"
    with (
        process(worker_command(worker), worker, log),
        process(beat_command(worker), worker, log),
    ):
        assert "the second build took too long" in run(agent, REPORT)
        publish(client, worker, body(1), b"nonsense")
        app = create_app(worker)
        for task in ("claim", "drain", "forward", "refresh", "consolidate", "catch_up"):
            app.send_task(f"trackrecord.{task}")
        until(lambda: client.xlen(worker.keys.dead) == 1)
        until(lambda: client.xlen(worker.keys.outcomes) == 0)
        until(lambda: client.exists(worker.keys.rankings("default")))
        until(lambda: "Split by feature" in run(agent, ASK))
        until(lambda: client.xlen(worker.keys.outcomes) == 0)
        until(lambda: not any(client.llen(f"trackrecord:celery:{task}") for task in TASKS))
    engine = connect_store(worker.effective_database_url)
    assert learnt_counts(engine)["rows"] == 5
    engine.dispose()
    assert lacked(client, "agent") == set()
    assert lacked(client, "worker") == set()
    assert "NOPERM" not in log.read_text()
    assert "Traceback" not in log.read_text()


def test_the_command_line_works_as_a_worker(as_role, client):
    """It replays dead letters, forgets, and has Redis write its file anew."""
    worker = as_role("worker")
    check_servers(worker)
    client.xadd(worker.keys.dead, {"v": "1", "body": body(1), "reason": "?", "entry_id": "1-1"})
    before = aof_rewrites(client)
    for words in (
        ("status", "--json"),
        ("dead", "list"),
        ("dead", "replay", "--all"),
        ("forget", "--task", "t1", "--yes"),
    ):
        done = command_line(worker, *words)
        assert "permission" not in done.stdout + done.stderr, words
        assert "Traceback" not in done.stderr
    assert lacked(client, "worker") <= {"config", "config|get"}
    until(lambda: aof_rewrites(client) > before)


def aof_rewrites(client: redis.Redis) -> int:
    """Return how often Redis began to rewrite its file."""
    return int(client.info("commandstats").get("cmdstat_bgrewriteaof", {"calls": 0})["calls"])


def test_a_reader_reads(as_role, client):
    """Rankings, errors, dead letters and the status; a write is refused, whichever it is."""
    reader = as_role("reader")
    check_servers(as_role("worker"))
    client.xadd(reader.keys.dead, {"v": "1", "body": b"nonsense", "reason": "?"})
    for words in (("dead", "list"), ("rankings",), ("errors", "list", "--task", "t1"), ("status",)):
        done = command_line(reader, *words)
        assert "permission" not in done.stdout + done.stderr, words
        assert done.returncode in (0, 1), done.stderr
    assert lacked(client, "reader") == set()
    with worker_client(reader) as connected:
        writing = set(ROLES["worker"].commands) - set(ROLES["reader"].commands)
        samples = {
            name: sample
            for name, sample in ROLES["worker"].samples("trackrecord").items()
            if name in writing
        }
        assert len(samples) > 20
        refused = refusals(connected, samples)
        assert refused.keys() == samples.keys()
        assert all(
            isinstance(each, redis.exceptions.NoPermissionError) for each in refused.values()
        )
        with pytest.raises(redis.exceptions.NoPermissionError):
            connected.xadd(reader.keys.outcomes, {"v": "1", "body": b"{}"})


@pytest.mark.parametrize("role", ROLES)
def test_dangerous_commands_are_refused(as_role, client, role):
    """Asked without being carried out, and sent in earnest."""
    samples = dangerous_samples("trackrecord")
    with worker_client(as_role(role)) as connected:
        refused = refusals(connected, samples)
        assert refused.keys() == samples.keys()
        for command in (
            "CONFIG SET dir /", "CONFIG GET dir", "SAVE", "BGSAVE", "SHUTDOWN NOSAVE", "KEYS *",
            "MODULE LIST", "REPLICAOF 127.0.0.1 1", "SLAVEOF NO ONE", "ACL LIST",
            "FLUSHALL", "CLIENT LIST", "MONITOR", "SCRIPT FLUSH", "SUBSCRIBE news",
            "MIGRATE 127.0.0.1 1 k 0 1",
        ):  # fmt: skip
            with pytest.raises(redis.exceptions.NoPermissionError):
                connected.execute_command(*command.split())
        with pytest.raises(redis.exceptions.NoPermissionError):
            connected.get("other:key")
    with worker_client(as_role("admin")) as admin:
        assert refusals(admin, samples).keys() <= {"debug", "module|load"}
        assert admin.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


@pytest.mark.skipif(not KNOWS_READING, reason="Redis before 7.0 has no keys for reading alone")
def test_an_agent_does_not_write_what_others_are_told(as_role, client):
    """The caches are the workers' to write, also from a script; it may read them."""
    keys = load_settings().keys
    client.hset(keys.rankings("default"), "a", "b")
    with worker_client(as_role("agent")) as agent:
        assert agent.hget(keys.rankings("default"), "a") == b"b"
        for attempt in (
            lambda: agent.hset(keys.rankings("default"), "a", "c"),
            lambda: agent.delete(keys.known_lessons("default")),
            lambda: agent.xadd(keys.dead, {"a": "b"}),
            lambda: agent.eval(f"redis.call('DEL', '{keys.rankings('default')}')", 0),
        ):
            with pytest.raises(redis.ResponseError, match=r"permission|NOPERM|can't access"):
                attempt()
    assert client.hgetall(keys.rankings("default")) == {b"a": b"b"}


def test_a_user_without_transactions_is_not_tried(as_role, client):
    """Commands that would be carried out instead of queued are not sent."""
    client.execute_command("ACL", "SETUSER", "worker", "+@all", "-multi")
    with worker_client(as_role("worker")) as connected:
        connected.set("trackrecord:kept", "1")
        with pytest.raises(redis.exceptions.NoPermissionError):
            refusals(connected, dangerous_samples("trackrecord"))
        assert connected.get("trackrecord:kept") == b"1"
    assert "multi" in str(refusal_of(as_role("worker")))


def refusal_of(settings: Settings) -> Exception:
    """Return the error by which the check of a worker refuses its user."""
    with pytest.raises(Exception, match="permission") as said:
        check_redis(settings)
    return said.value


@pytest.mark.skipif(not KNOWS_READING, reason="the older server knows no selectors")
@pytest.mark.parametrize(
    "command",
    [
        ("DEL",), ("EXPIRE", "1"), ("XTRIM", "MAXLEN", "0"), ("XSETID", "9999999999999-0"),
        ("XDEL", "1-1"), ("SET", "x"), ("HSET", "f", "v"), ("XGROUP", "DESTROY", "g"),
    ],
)  # fmt: skip
def test_an_agent_can_only_add_to_the_stream(as_role, client, command):
    """Not delete it, nor anything in it, nor make something else of it; not in a script either."""
    settings = as_role("agent")
    stream = settings.keys.outcomes
    name, *rest = command
    first = [*rest[:1], stream, *rest[1:]] if name == "XGROUP" else [stream, *rest]
    with agent_client(settings) as agent:
        agent.xadd(stream, {"v": "1"})
        assert agent.xlen(stream) == len(agent.xrange(stream)) == 1
        with pytest.raises(redis.ResponseError):
            agent.execute_command(name, *first)
        script = "return redis.call(unpack(ARGV))"
        with pytest.raises(redis.ResponseError):
            agent.eval(script, 0, name, *first)
    assert client.xlen(stream) == 1
