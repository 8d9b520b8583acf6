"""Memories that come on the stream: remembered once, and what cannot be is set aside."""

import msgspec
import pytest
from sqlalchemy import text

from tests.worker.working import body, learnt_counts
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.memories.write import list_memories
from trackrecord.store.outcomes.projects import project_id_of

CACHE = "Clear the build cache before the release build starts"


def add(client, settings, *memories):
    """As any language can."""
    for each in memories:
        data = each if isinstance(each, bytes) else msgspec.json.encode(each)
        client.xadd(settings.keys.outcomes, {"v": "1", "memory": data})


def on_record(engine, project="default"):
    with reading(engine) as connection:
        return list_memories(connection, project_id_of(connection, project) or -1)


def test_a_memory_is_remembered(worker, store_settings, client, engine):
    """With its source, under its id, when Redis took it; and it is gone from the stream."""
    add(client, store_settings, {"text": CACHE, "source": "agent-a", "memory_id": "m1"})
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
    add(client, store_settings, one, one)
    worker.drain.run()
    add(client, store_settings, one)
    worker.drain.run()
    assert [each.id for each in on_record(engine)] == ["m1"]


def test_an_outcome_credits_a_memory_of_the_same_batch(worker, store_settings, client, engine):
    """What was stored first can be used."""
    add(client, store_settings, {"text": CACHE, "memory_id": "m1"})
    used = body(1, memory_ids=["m1"])
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": used})
    worker.drain.run()
    (memory,) = on_record(engine)
    assert memory.state.confidence == 0.6
    assert learnt_counts(engine)["rows"] == 1


# What cannot be taken, and the reason.
BAD = [
    (b"{", "invalid memory"), (b"[]", "invalid memory"), (b"\xff", "invalid memory"),
    (b"{}", "text"),
    ({"text": 7}, "text"), ({"text": " \n"}, "blank"), ({"text": "KNOWN PITFALL: "}, "blank"),
    ({"text": "x" * 2001}, "2001 characters, 2000 are allowed"),
    ({"text": "x", "project": ""}, "project"),
    ({"text": "x", "memory_id": "x" * 129}, "memory_id"),
    ({"text": "x", "source": "x" * 257}, "source"), ({"text": "x", "force": 1}, "force"),
    ({"text": "x" * 5000}, "4096 are allowed"),
]  # fmt: skip


def test_bad_ones_are_dead_letters(worker, store_settings, client, engine):
    """With the reason and the original, and they stop nothing else."""
    add(client, store_settings, {"text": "Use uv"}, *(memory for memory, _ in BAD), {"text": CACHE})
    worker.drain.run()
    assert len(on_record(engine)) == 2
    letters = {letter[b"memory"]: letter for _, letter in client.xrange(store_settings.keys.dead)}
    assert len(letters) == len(BAD)
    for memory, reason in BAD:
        sent = memory if isinstance(memory, bytes) else msgspec.json.encode(memory)
        assert reason in letters[sent][b"reason"].decode(), memory
    assert client.xlen(store_settings.keys.outcomes) == 0


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


def test_while_the_database_refuses_nothing_is_lost(worker, store_settings, client, engine):
    """Memories stay pending until their tables are back, and are remembered then."""
    add(client, store_settings, {"text": CACHE, "memory_id": "m1"})
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE memory_sources RENAME TO elsewhere"))
    worker.drain.run()
    assert client.xlen(store_settings.keys.outcomes) == 1
    assert client.xlen(store_settings.keys.dead) == 0
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO memory_sources"))
    worker.outage.end()
    worker.drain.run()
    assert [each.id for each in on_record(engine)] == ["m1"]
