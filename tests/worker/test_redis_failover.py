"""A master dies while agents publish and workers learn: in a cluster, and behind Sentinels."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import Engine

from tests.support.redis_nodes import (
    FAILED_AFTER_MS,
    Node,
    is_in_step,
    is_master,
    redis_cluster,
    sentinels,
    wait_for,
)
from tests.worker.working import all_counted, learnt_counts, process, recorded_ids, until
from trackrecord.prompt.documents.rankings_document import decode_document
from trackrecord.redis.client import DEFAULT_USER, password_file, worker_client
from trackrecord.redis.shards import server_of
from trackrecord.resources.operation.flow import read_flow
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord_producers.publishing.publisher import Publisher
from trackrecord_worker.checks.server_checks import check_servers
from trackrecord_worker.up.daemon import beat_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

PROJECTS = [f"project-{number}" for number in range(9)]
OUTCOMES = 1800
SHARDS = 6

pytestmark = pytest.mark.faults


@contextlib.contextmanager
def learning(settings: Settings) -> Iterator[Engine]:
    """A worker and beat; what they have learnt."""
    log = settings.home / "log"
    with (
        process(worker_command(settings), settings, log),
        process(beat_command(settings), settings, log),
    ):
        engine = connect_store(settings.effective_database_url)
        try:
            yield engine
        finally:
            engine.dispose()


def report(settings: Settings, engine: Engine, fail_over: Callable[[Publisher], None]) -> None:
    """Publish as an agent does: a third, then without end until it is done, then the rest."""
    publisher = Publisher(load=lambda: settings)
    failing = threading.Thread(target=fail_over, args=(publisher,))
    for number in range(OUTCOMES):
        if number == OUTCOMES // 3:
            until(lambda: len(recorded_ids(engine)) > 0)
            failing.start()
        if number == OUTCOMES - 100:
            failing.join()
        fields: dict[str, Any] = {
            "task_id": f"t{number}",
            "outcome_id": f"o{number}",
            "success": True,
            "duration_ms": 1000,
            "patterns": ["Split by feature"],
            "project": PROJECTS[number % len(PROJECTS)],
        }
        assert publisher.publish(fields) == f"o{number}"
        time.sleep(0.002)
    publisher.close()
    stats = publisher.stats()
    assert stats.dropped == {}
    assert stats.sent > 0
    assert stats.spooled > 0, "nothing was published while the master was away"


def fail_over(publisher: Publisher, master: Node, replica: Node) -> None:
    """Let the master answer what its replica never gets, then kill it; the replica takes over."""
    os.kill(replica.process.pid, signal.SIGSTOP)
    try:
        # What is in the connection's buffers would still get there.
        master.client.client_kill_filter(_type="replica")
        before = publisher.stats()
        until(lambda: publisher.stats().sent + publisher.stats().spooled > before.sent + 20)
        until(lambda: not publisher.stats().waiting or publisher.stats().spooled)
    finally:
        master.kill()
        os.kill(replica.process.pid, signal.SIGCONT)
    wait_for(lambda: is_master(replica))


def check_replayed(settings: Settings, engine: Engine, client: redis.Redis) -> None:
    """Everything is on record once, and the rankings are those of a store that saw no failover."""
    until(lambda: len(recorded_ids(engine)) == OUTCOMES)
    assert learnt_counts(engine) == all_counted(OUTCOMES)
    until(lambda: read_flow(client, settings.keys).waiting == 0)
    until(lambda: read_flow(client, settings.keys).pending == 0)
    assert read_flow(client, settings.keys).dead_letters == 0
    share = OUTCOMES // len(PROJECTS)
    for project in PROJECTS:
        until(lambda project=project: helpful(client, settings, project) == share)


def helpful(client: redis.Redis, settings: Settings, project: str) -> int:
    """Return how often the one pattern of a project helped, by its cached rankings."""
    data: Any = client.hget(settings.keys.rankings(project), "document")
    return decode_document(data).patterns[0].helpful_count if data else 0


@pytest.fixture
def broker(home: Path, redis_server: EmbeddedRedis) -> str:
    """A server for Celery's wake-ups."""
    password = password_file(redis_server.folder, DEFAULT_USER).read_text().strip()
    return f"unix://{DEFAULT_USER}:{password}@{redis_server.socket}"


def test_a_master_of_a_cluster_dies(home, tmp_path, broker):
    """With WAIT no outcome that counts as sent is lost, and none is counted twice."""
    with redis_cluster(tmp_path, failed_after_ms=FAILED_AFTER_MS) as pairs:
        addresses = ",".join(master.address for master, _ in pairs)
        settings = load_settings(
            home=home,
            redis_url=f"redis+cluster://{addresses}",
            broker_url=broker,
            stream_shards=SHARDS,
            redis_replicas=1,
            claim_idle_s=2.0,
        )
        check_servers(settings)
        client = worker_client(settings)
        keys = settings.keys
        nodes = {server_of(client, shard.outcomes) for shard in keys.shards}
        assert len(nodes) == len(pairs), "each master has a shard"
        busy = server_of(client, keys.of(PROJECTS[0]).outcomes).get_connection_kwargs()["port"]
        ((master, replica),) = (pair for pair in pairs if pair[0].port == busy)
        with learning(settings) as engine:
            report(settings, engine, lambda publisher: fail_over(publisher, master, replica))
            # The new master has no replica: what it cannot promise waits in the spool.
            master.start()
            wait_for(lambda: is_in_step(master))
            check_replayed(settings, engine, client)
        client.close()


def test_a_master_behind_sentinels_dies(home, tmp_path):
    """The same with one shard, and with Celery's wake-ups behind the same Sentinels."""
    with sentinels(tmp_path, "mymaster") as (master, replica, watching):
        addresses = ",".join(each.address for each in watching)
        settings = load_settings(
            home=home,
            redis_url=f"redis+sentinel://{addresses}/mymaster",
            redis_replicas=1,
            claim_idle_s=2.0,
        )
        check_servers(settings)
        client = worker_client(settings)
        with learning(settings) as engine:
            report(settings, engine, lambda publisher: fail_over(publisher, master, replica))
            master.start()
            # A Sentinel that was held up for two seconds does nothing for thirty, each time.
            wait_for(lambda: is_in_step(master), seconds=180)
            check_replayed(settings, engine, client)
        client.close()
