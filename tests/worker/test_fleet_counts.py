"""What workers count for the whole fleet, in Redis."""

from collections.abc import Callable

import pytest
import redis

from tests.worker.working import body, learn
from trackrecord.errors import StoreUnavailable
from trackrecord.redis.fleet_counts import FleetCounts, all_fields, counts_of
from trackrecord.settings.settings import Settings
from trackrecord_worker import jobs
from trackrecord_worker.learning.outage import DatabaseOutage, RedisOutage


@pytest.fixture
def counts(client: redis.Redis, settings: Settings) -> Callable[[], FleetCounts]:
    """Return the current counts."""
    return lambda: counts_of([client.hmget(settings.keys.counters, all_fields())])


def test_an_outage_of_the_database_is_one(settings, client, counts):
    """However many processes notice it, and however often it is logged."""
    keys = settings.keys
    first, second = DatabaseOutage(client, keys, 10.0), DatabaseOutage(client, keys, 10.0)
    first.begin("away")
    second.begin("away")
    client.delete(keys.database_outage)  # ten minutes later
    second.begin("away")
    assert counts().outages["database"] == 1
    second.end()
    first.begin("away again")
    assert counts().outages == {"database": 2, "redis": 0}


def test_an_outage_of_redis_is_one(settings, client, counts):
    """It is counted once it is over, by the process that notices first."""
    first, second = RedisOutage(client, settings.keys), RedisOutage(client, settings.keys)
    first.begin()
    second.begin()
    assert counts().outages["redis"] == 0
    for each in (first, second, first):
        each.end()
    assert counts().outages["redis"] == 1
    client.delete(settings.keys.redis_outage)  # a while later
    first.end()
    assert counts().outages["redis"] == 1
    second.begin()
    second.end()
    assert counts().outages["redis"] == 2


def test_consolidations_are_counted_by_how_they_end(worker_of, settings, counts):
    """A run that the database ends counts as failed."""
    worker = worker_of(settings)
    learn(worker, body(1))
    jobs.consolidate_all_projects(worker)
    assert counts().consolidations == {"finished": 1, "failed": 0}
    worker.engine.dispose()
    (settings.home / "trackrecord.db").write_bytes(b"damaged" * 1000)
    with pytest.raises(StoreUnavailable):
        jobs.consolidate_all_projects(worker)
    assert counts().consolidations == {"finished": 1, "failed": 1}
