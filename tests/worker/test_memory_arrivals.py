"""Memories that come on the stream: remembered once, and what cannot be is set aside."""

import pytest

from tests.worker.working import add, body, learnt_counts
from trackrecord.store.database.engine import reading
from trackrecord.store.memories.write import list_memories
from trackrecord.store.outcomes.projects import project_id_of

CACHE = "Clear the build cache before the release build starts"


def on_record(engine, project="default"):
    with reading(engine) as connection:
        return list_memories(connection, project_id_of(connection, project) or -1)


def test_a_memory_is_remembered(worker, store_settings, client, engine):
    """With its source, under its id, when Redis took it; and it is gone from the stream."""
    add(client, store_settings, "memory", {"text": CACHE, "source": "agent-a", "memory_id": "m1"})
    worker.drain.run()
    (memory,) = on_record(engine)
    assert (memory.id, memory.text, memory.sources) == ("m1", CACHE, ("agent-a",))
    assert client.xlen(store_settings.keys.outcomes) == 0
    assert client.xlen(store_settings.keys.dead) == 0


def test_without_an_id_the_entry_has_one(worker, store_settings, client, engine):
    """So that a redelivery is known."""
    entry = client.xadd(store_settings.keys.outcomes, {"v": "1", "memory": b'{"text":"Use uv"}'})
    worker.drain.run()
    (memory,) = on_record(engine)
    assert memory.id == f"stream:{entry.decode()}"


def test_delivered_again(worker, store_settings, client, engine):
    """What is forced, too, is stored once."""
    one = {"text": CACHE, "memory_id": "m1", "force": True}
    add(client, store_settings, "memory", one, one)
    worker.drain.run()
    add(client, store_settings, "memory", one)
    worker.drain.run()
    assert [each.id for each in on_record(engine)] == ["m1"]


def test_an_outcome_credits_a_memory_of_the_same_batch(worker, store_settings, client, engine):
    """What was stored first can be used."""
    add(client, store_settings, "memory", {"text": CACHE, "memory_id": "m1"})
    used = body(1, memory_ids=["m1"])
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": used})
    worker.drain.run()
    (memory,) = on_record(engine)
    assert memory.state.confidence == 0.6
    assert learnt_counts(engine)["rows"] == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"v": "2", "memory": '{"text":"x"}'}, "field v is not 1"),
        ({"memory": '{"text":"x"}'}, "field v is not 1"),
        ({"v": "1", "memory": '{"text":"x"}', "body": "{}"}, "exactly one of: body, memory"),
    ],
)
def test_entries_that_are_neither(worker, store_settings, client, fields, reason):
    """Another version, or two things in one."""
    client.xadd(store_settings.keys.outcomes, fields)
    worker.drain.run()
    ((_, letter),) = client.xrange(store_settings.keys.dead)
    assert reason in letter[b"reason"].decode()
