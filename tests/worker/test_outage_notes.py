"""What the log says of a database that is away: once that it is, once that it is over."""

import threading

import redis
from structlog.testing import capture_logs

from tests.worker.working import until
from trackrecord.settings.settings import Settings
from trackrecord_worker import jobs
from trackrecord_worker.job_table import BY_NAME, DRAIN
from trackrecord_worker.learning.outage import DatabaseOutage
from trackrecord_worker.services import Services


def outage(client: redis.Redis, settings: Settings) -> DatabaseOutage:
    return DatabaseOutage(client, settings.keys, 10.0)


def test_one_fleet_says_it_once(settings, client):
    """However many processes notice, and however often; whoever is left says that it is over."""
    first, second = outage(client, settings), outage(client, settings)
    second.end()
    with capture_logs() as lines:
        for _ in range(3):
            first.begin("away")
            second.begin("away")
        first.end()
        second.end()
        first.end()
        # The one that noticed may find nothing to do for a long time after it, or has ended.
        for left in (second, outage(client, settings)):
            first.begin("away again")
            left.end()
    said = [line["event"] for line in lines]
    assert said == ["database_unavailable", "database_available_again"] * 3


def test_pauses_grow_to_a_limit(settings, client):
    """And start small again after the database worked."""
    state = DatabaseOutage(client, settings.keys, 3.0)
    pauses = []
    for _ in range(5):
        state.begin("away")
        pauses.append(state._pause_s)
    assert pauses == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert state.is_pausing
    state.end()
    assert not state.is_pausing
    state.begin("away")
    assert state._pause_s == 0.5


def drain(worker: Services) -> None:
    """Run a drain as a task does."""
    jobs.carry_out(BY_NAME[DRAIN], worker, begun=lambda: None)


def test_a_master_that_was_demoted_is_away(worker, redis_server):
    """In a failover it may be a replica already: that is no fault of ours."""
    with redis_server.client() as admin:
        admin.replicaof("127.0.0.1", 1)
        try:
            with capture_logs() as lines:
                drain(worker)
        finally:
            admin.replicaof("NO", "ONE")
    assert [line["event"] for line in lines] == ["redis_unavailable"]
    with capture_logs() as lines:
        drain(worker)
    assert lines == []


def test_a_master_that_is_demoted_while_a_worker_waits(worker_of, settings, redis_server):
    """It ends the read with an error of its own: that is no fault of ours either."""
    worker = worker_of(settings.model_copy(update={"drain_block_s": 60.0, "drain_slice_s": 60.0}))

    def demote() -> None:
        with redis_server.client() as admin:
            until(lambda: admin.info("clients")["blocked_clients"])
            admin.replicaof("127.0.0.1", 1)

    demoting = threading.Thread(target=demote)
    demoting.start()
    try:
        with capture_logs() as lines:
            drain(worker)
    finally:
        demoting.join()
        with redis_server.client() as admin:
            admin.replicaof("NO", "ONE")
    assert [line["event"] for line in lines] == ["redis_unavailable"]
