"""Everything that agents, workers and people do, on a real cluster, by users with few rights.

A managed Redis is like that: no CONFIG, no administration, and often a cluster.
"""

import contextlib
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.inflight.test_adoption import adopt
from tests.support.redis_nodes import Node, redis_cluster
from tests.worker.test_redis_roles import KNOWS_READING, PASSWORD, lacked, users
from tests.worker.working import all_counted, body, learnt_counts, until
from trackrecord.errors import ServerUnavailable, ServerUnfit, SettingsError
from trackrecord.inflight.reports import AttemptEnd, Resolution, error_report
from trackrecord.inflight.store import InFlightStore, write_reports
from trackrecord.prompt.reading.cache import cached_ages
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.redis.checkup import check_up_redis
from trackrecord.redis.client import agent_client, worker_client
from trackrecord.redis.problems import explain_redis_error, memory_is_full
from trackrecord.redis.shards import server_of, servers_of
from trackrecord.resources.operation.dead_letters import read_letters, replay_letters
from trackrecord.resources.operation.flow import read_flow
from trackrecord.resources.operation.metrics import fleet_figures
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.wire.subject import Subject
from trackrecord_capture.forgetting.forget import Forgetter
from trackrecord_producers.delivery.stream_writer import send
from trackrecord_worker import jobs
from trackrecord_worker.app import create_app
from trackrecord_worker.checks.server_checks import check_redis, check_servers
from trackrecord_worker.services import Services

PROJECTS = [f"project-{number}" for number in range(12)]
BROKER = "redis://127.0.0.1:1"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Node]]:
    """Three masters and their replicas, which know the shipped users."""
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as pairs:
        nodes = [node for pair in pairs for node in pair]
        for node in nodes:
            for line in users():
                node.client.execute_command("ACL", "SETUSER", *line.split()[1:])
        yield nodes


@pytest.fixture
def nodes(cluster: list[Node]) -> list[Node]:
    """The same, empty."""
    for node in cluster[::2]:
        node.client.flushall()
        node.client.acl_log_reset()
    return cluster


def settings_of(home: Path, nodes: list[Node], role: str = "", **given: Any) -> Settings:
    """Settings that name the cluster, for a user with the rights of a role."""
    user = f"{role}:{PASSWORD}@" if role else ""
    url = f"redis+cluster://{user}{nodes[0].address},{nodes[2].address}"
    named: dict[str, Any] = {"stream_shards": 6, "broker_url": BROKER, "refresh_every_s": 0.05}
    return load_settings(home=home, redis_url=url, drain_block_s=0.01, **named | given)


@pytest.mark.skipif(not KNOWS_READING, reason="this Redis has no patterns for reading alone")
def test_all_work_by_users_with_few_rights(home, nodes):
    """Nothing is refused to them, and nothing needs a right of administration."""
    agent, worker = settings_of(home, nodes, "agent"), settings_of(home, nodes, "worker")
    check_servers(worker)
    asking, working = agent_client(agent), worker_client(worker)
    assert asking.ping()
    keys = agent.keys
    for project in PROJECTS:
        reports = [
            error_report("a task", "timeout", "too slow", error_id=None),
            AttemptEnd("a", "a task", success=False),
            Resolution("f" * 52, "a task"),
        ]
        assert write_reports(asking, keys, agent.errors, [(project, each) for each in reports])
        store = InFlightStore(asking, keys, project, agent.errors)
        (error,) = store.read("a task").errors
        assert adopt(asking, task_id="a task", project=project, settings=agent) == 1
        store.resolve(error.id)
    bodies = [body(n, project=PROJECTS[n % len(PROJECTS)]) for n in range(120)]
    ids = send(asking, keys, [*bodies, b"bad", b'{"project":"project-1"}'], replicas=1)
    assert len({server_of(asking, shard.outcomes) for shard in keys.shards}) == 3
    assert read_flow(asking, keys).waiting == 122

    stages = Services(worker, create_app(worker))
    jobs.learn_waiting(stages)
    stages.outage.begin("a test")
    stages.outage.end()
    for job in (jobs.take_over_pending, jobs.forward_spooled, jobs.refresh_caches):
        job(stages)
    for job in (jobs.renew_advice, jobs.consolidate_all_projects):
        job(stages)
    assert learnt_counts(stages.engine) == all_counted(120)
    reader = RankingsReader(agent)
    for project in PROJECTS:
        answer = reader.read(project=project, task=None)
        assert not answer.problem, answer.problem
        assert answer.patterns[0].helpful_count == 10
        assert asking.exists(keys.retry("a task", project))
    assert {each.entry_id for each in read_letters(asking, keys)} == set(ids[-2:])
    figures = fleet_figures(asking, agent)
    assert figures.counts.entries["recorded"] == 120
    assert figures.memory is not None
    assert figures.flow.dead_letters == 2
    assert cached_ages(asking, agent, PROJECTS, now=0.0).keys() == set(PROJECTS)
    assert not memory_is_full(working)
    assert replay_letters(working, keys, None) == 2
    assert read_flow(asking, keys).waiting == 2

    subject = Subject("project", PROJECTS[1], PROJECTS[1])
    forgetter = Forgetter(stages.engine, working, worker, subject, warn=print)
    forgetter.forget(actor="a person")
    left: set[bytes] = {
        name for node in nodes[::2] for name in node.client.keys(f"*:{PROJECTS[1]}")
    }
    assert left == {keys.rankings(PROJECTS[1]).encode()}, "a mark against late writers"
    assert read_flow(asking, keys).waiting == 1

    # Whether Redis keeps a file to rewrite is asked for, and may be refused.
    assert {each for node in nodes for each in lacked(node.client, "agent")} == set()
    refused = {each for node in nodes for each in lacked(node.client, "worker")}
    assert refused <= {"config|get", "bgsave"}

    # It finds out what is refused by trying it.
    checkup = check_up_redis(agent)
    assert checkup.answers
    assert (checkup.user, checkup.needs_password) == ("agent", False), "the default user is open"
    assert all("password" in line for line in checkup.advice)
    stages.engine.dispose()
    for client in (stages.redis, asking, working):
        client.close()


def test_a_master_that_hangs_is_asked_once(home, nodes):
    """Not once more for each entry: that would take a time-out each, and write all of it twice."""
    settings = settings_of(home, nodes, stream_shards=1, redis_timeout_s=0.2)
    client = agent_client(settings)
    stream = settings.keys.shards[0].outcomes
    send(client, settings.keys, [body(0)])
    port = server_of(client, stream).get_connection_kwargs()["port"]
    (hanging,) = (node for node in nodes if node.address.endswith(f":{port}"))
    os.kill(hanging.process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(ServerUnavailable):
            send(client, settings.keys, [body(n) for n in range(1, 40)])
    finally:
        os.kill(hanging.process.pid, signal.SIGCONT)
    until(lambda: hanging.client.xlen(stream) > 1)
    assert hanging.client.xlen(stream) == 40
    client.close()


def test_what_does_not_fit(home, nodes):
    """A URL of another kind, and wake-ups without a server of their own: one line each."""
    plain = load_settings(home=home, redis_url=f"redis://{nodes[0].address}")
    with pytest.raises(ServerUnfit, match=re.escape("redis+cluster://")):
        check_redis(plain)
    with pytest.raises(SettingsError, match="broker_url"):
        create_app(settings_of(home, nodes, broker_url=None))
    lacking = settings_of(home, nodes, "agent")
    with pytest.raises(ServerUnfit, match=r"may not use keys|lacks commands"):
        check_redis(lacking)
    wrong = load_settings(
        home=home, redis_url=f"redis+cluster://agent:wrong@{nodes[0].address}", broker_url=BROKER
    )
    with pytest.raises(ServerUnfit, match="password"):
        check_redis(wrong)


def test_sentinels_that_are_away(home):
    """Each is asked once, and the message holds none of their passwords."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            with contextlib.suppress(OSError):
                while True:
                    listener.accept()[0].close()
                    asked.append(1)

        refusing = threading.Thread(target=hang_up)
        refusing.start()
        url = (
            f"redis+sentinel://127.0.0.1:{listener.getsockname()[1]}/main?sentinel_password=sekret"
        )
        settings = load_settings(home=home, redis_url=url)
        with agent_client(settings) as client, pytest.raises(redis.ConnectionError) as raised:
            client.ping()
        with pytest.raises(ServerUnavailable) as refused:
            send(client, settings.keys, [body(1)])
        listener.shutdown(socket.SHUT_RDWR)
        refusing.join()
    said = f"{explain_redis_error(raised.value, settings)} {refused.value}"
    assert "no Sentinel knows a master" in said
    assert "sekret" not in said
    assert len(asked) == 2


def test_a_cluster_that_is_away(home):
    """A client is made all the same, and says so in time and by an error that all callers know."""
    settings = load_settings(
        home=home, redis_url="redis+cluster://127.0.0.1:1,127.0.0.1:2", stream_shards=3
    )
    with agent_client(settings) as client:
        for call in (client.ping, lambda: client.pipeline().xlen("k"), lambda: servers_of(client)):
            with pytest.raises(redis.ConnectionError) as raised:
                call()
            assert isinstance(explain_redis_error(raised.value, settings), ServerUnavailable)
    assert RankingsReader(settings).read(project="p", task=None).problem
