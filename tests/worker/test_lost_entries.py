"""Whoever may add to the stream can also trim it, or end its ids: workers notice, and go on."""

from typing import Any

import pytest
import redis

from tests.support.redis_binary import find_servers
from tests.worker.working import body, publish, recorded_ids
from trackrecord.redis.stream_removal import count_lost
from trackrecord.resources.operation.flow import read_flow
from trackrecord.settings.settings import Settings

KNOWS_ADDED = find_servers()[0].version.number >= (7, 0, 0)
LAST = 2**64 - 1


def lost(client: redis.Redis, settings: Settings) -> int:
    return read_flow(client, settings.keys).lost


@pytest.mark.skipif(not KNOWS_ADDED, reason="the server does not say how many were ever added")
def test_what_others_take_out_is_counted(worker, settings, client, engine):
    """By XADD's own MAXLEN; what workers learn, refuse or find forgotten is not lost."""
    worker.drain.run()
    publish(client, settings, body(1), b"no outcome", body(2))
    worker.drain.run()
    worker.drain.take_over()
    assert recorded_ids(engine) == {"o1", "o2"}
    assert lost(client, settings) == 0
    publish(client, settings, *(body(number) for number in range(3, 10)))
    client.xadd(settings.keys.outcomes, {"v": "1", "body": body(10)}, maxlen=2, approximate=False)
    worker.drain.take_over()
    worker.drain.run()
    worker.drain.take_over()
    assert recorded_ids(engine) == {"o1", "o2", "o9", "o10"}
    assert lost(client, settings) == 6
    assert count_lost(client, settings.keys.shards[0]) == 0


@pytest.mark.parametrize("entry_id", [f"{LAST}-{LAST}", f"{LAST - 9}-0", "99999999999999-5"])
def test_ids_that_ran_ahead_are_set_back(worker, settings, client, engine, entry_id):
    """Else nothing could be added any more; what comes then is learnt."""
    worker.drain.run()
    stream = settings.keys.outcomes
    client.xadd(stream, {"v": "1", "body": body(1)}, id=entry_id)
    worker.drain.run()
    worker.drain.take_over()
    publish(client, settings, body(2))
    info: Any = client.xinfo_stream(stream)
    assert int(info["last-generated-id"].partition(b"-")[0]) < 10**13
    worker.drain.run()
    assert recorded_ids(engine) == {"o1", "o2"}
    assert lost(client, settings) == 0
