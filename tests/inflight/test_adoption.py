"""Errors that no attempt counted are counted once, by an attempt that was going on."""

import json
import multiprocessing
import time

import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from trackrecord.inflight.reports import error_report
from trackrecord.inflight.rules import ErrorRules
from trackrecord.inflight.store import InFlightStore
from trackrecord.settings.agent_settings import AgentSettings
from trackrecord_producers.delivery.waiting import WaitingItem
from trackrecord_producers.publishing.adopt_errors import with_adopted_errors

AGENT = AgentSettings()


def record(client, task_id="t", *, is_counted=False, project="p", **rules):
    store = InFlightStore(client, AGENT.keys, project, ErrorRules(**rules))
    store.write(error_report(task_id, "timeout", "m", is_counted=is_counted))


def adopt(client, outcome_id="o", *, task_id="t", age_s=60.0, project="p", settings=AGENT):
    body = {"task_id": task_id, "outcome_id": outcome_id, "project": project, "error_count": 0}
    item = WaitingItem(json.dumps(body).encode(), True, time.monotonic() - age_s)
    (adopted,) = with_adopted_errors(client, settings, [item])
    return json.loads(adopted.body)["error_count"]


def test_what_was_recorded_before_the_attempt_began_is_not_its(client):
    """By the server's clock, whatever the clock of the agent says."""
    record(client)
    time.sleep(0.05)
    began = time.monotonic()
    time.sleep(1)
    record(client)
    assert adopt(client, age_s=time.monotonic() - began) == 1
    assert adopt(client, "other", age_s=60) == 1


def test_what_is_not_kept_any_more_leaves_no_trace_of_its_adoption(client):
    """A task's hash stays as small as its errors."""
    for number in range(5):
        record(client, max_per_task=2)
        adopt(client, f"o{number}")
    (key,) = client.keys("trackrecord:in-flight:task:*")
    assert sum(name.startswith(b"c:") for name in client.hkeys(key)) == 2


steps = st.one_of(
    st.tuples(st.just("record"), st.booleans()),
    st.tuples(st.just("adopt"), st.sampled_from("abc")),
)


@given(st.lists(steps, max_size=25))
@settings(max_examples=30)
def test_whatever_happens_each_error_is_in_one_outcome(client, told):
    """As a model says: what waits goes to whoever asks next, and stays there."""
    client.flushdb()
    waiting, held = 0, dict.fromkeys("abc", 0)
    for what, how in told:
        if what == "record":
            record(client, is_counted=how)
            waiting += not how
        else:
            held[how] += waiting
            waiting = 0
            assert adopt(client, how) == held[how]


def _adopt_all(path, number):
    with redis.Redis(unix_socket_path=path) as client:
        return sum(adopt(client, f"o{number}-{turn}") for turn in range(50))


def test_concurrent_attempts_share_them_out(client, redis_server):
    """None is counted twice, and none is left."""
    for _ in range(200):
        record(client)
    path = client.connection_pool.connection_kwargs["path"]
    with multiprocessing.get_context("fork").Pool(3) as pool:
        found = pool.starmap_async(_adopt_all, [(path, n) for n in range(3)], chunksize=1)
        assert sum(found.get(200)) == 200
