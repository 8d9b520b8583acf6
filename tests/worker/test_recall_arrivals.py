"""Memories that agents were handed stay fresh: once a day at most, whatever arrives how often."""

import itertools
import time

import msgspec
import pytest
from sqlalchemy import text, update

from tests.worker.working import add
from trackrecord.resources.access.project_store import ProjectStore, given_stores
from trackrecord.resources.experience.memories import list_memories, show_memory
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.memories.tables import memories, memory_changes
from trackrecord.wire.subject import Subject
from trackrecord_consolidation.forget import forget_in_store

DAY = 86_400.0
TEXTS = {"cache": "Clear the build cache first", "port": "Port 5432 is the production database"}
# The beginning of the day, in UTC.
TODAY = time.time() // DAY * DAY


def listed(engine, settings):
    with given_stores.within(ProjectStore(engine, settings, "default")):
        return list_memories()


@pytest.fixture
def remembered(worker, store_settings, client, engine):
    """Two memories that are a hundred days old; returns what their clocks say."""
    for name, said in TEXTS.items():
        body = msgspec.json.encode({"memory_id": name, "text": said})
        client.xadd(store_settings.keys.outcomes, {"v": "1", "memory": body})
    worker.drain.run()
    with writing(engine) as connection:
        then = TODAY - 100 * DAY
        connection.execute(update(memories).values(created_at=then, changed_at=then))
        connection.execute(update(memory_changes).values(at=then))

    def clocks():
        return {each.id: each.last_recalled_at for each in listed(engine, store_settings)}

    return clocks


def add_all(client, settings, *bodies):
    """Each of its kind."""
    for kind, each in bodies:
        add(client, settings, kind, each)


def recall(*names, **more):
    return "recall", {"memories": names, **more}


def exposure(*names, **more):
    entries = [f"memory:{name}" for name in names]
    return "exposure", {"task_id": "t", "entries": entries, **more}


def actions(engine, settings, name):
    with given_stores.within(ProjectStore(engine, settings, "default")):
        return [each.action for each in show_memory(name).history]


@pytest.mark.parametrize("how", [recall, exposure])
def test_what_is_handed_out_decays_from_that_day_on(
    worker, store_settings, client, engine, remembered, how
):
    """By a task's exposure, and without a task; other memories age on."""
    trust = {each.id: each.effective_confidence for each in listed(engine, store_settings)}
    assert max(trust.values()) < 0.25
    add_all(client, store_settings, how("cache"))
    worker.drain.run()
    assert remembered() == {"cache": TODAY, "port": None}
    assert actions(engine, store_settings, "cache") == ["stored", "handed out"]
    trust = {each.id: each.effective_confidence for each in listed(engine, store_settings)}
    assert trust["cache"] > 0.49
    assert client.xlen(store_settings.keys.outcomes) == client.xlen(store_settings.keys.dead) == 0


def test_once_a_day_at_most(worker, store_settings, client, engine, remembered):
    """In one batch or later, by recalls and exposures alike; the next day counts again."""
    yesterday = {"at": TODAY - DAY + 60}
    add_all(client, store_settings, *[recall("cache", "cache", **yesterday)] * 3)
    worker.drain.run()
    add_all(client, store_settings, recall("cache", at=TODAY - 1), exposure("cache", **yesterday))
    worker.drain.run()
    assert actions(engine, store_settings, "cache") == ["stored", "handed out"]
    assert remembered()["cache"] == TODAY - DAY
    add_all(client, store_settings, exposure("cache"))
    worker.drain.run()
    assert remembered()["cache"] == TODAY


def test_in_any_order(worker, store_settings, client, remembered):
    """Days that arrive in another order, in one batch or several, end alike."""
    days = [recall("cache", at=TODAY - n * DAY) for n in (3, 5, 1)]
    for order in itertools.permutations(days):
        add_all(client, store_settings, *order)
    worker.drain.run()
    for day in days:
        add_all(client, store_settings, day)
        worker.drain.run()
    assert remembered() == {"cache": TODAY - DAY, "port": None}


def test_what_was_withheld_was_not_handed_out(worker, store_settings, client, remembered):
    """A task of the control arm got nothing."""
    add_all(client, store_settings, exposure("cache", withheld=True, holdout=0.5))
    worker.drain.run()
    assert remembered() == {"cache": None, "port": None}


def test_a_clock_that_is_ahead_counts_as_now(worker, store_settings, client, remembered):
    """No memory is of the future."""
    add_all(
        client, store_settings, recall("cache", at=TODAY + 400 * DAY), exposure("port", at=1e12)
    )
    worker.drain.run()
    assert remembered() == {"cache": TODAY, "port": TODAY}


def test_unknown_memories_and_projects_are_passed(
    worker, store_settings, client, engine, remembered
):
    """And no project comes of it; another project's memory of that name stays as it is."""
    add_all(client, store_settings, recall("nope", "cache"), recall("cache", project="elsewhere"))
    done = worker.drain.run()
    assert (done["recalls"], done["refused"]) == (2, 0)
    assert remembered() == {"cache": TODAY, "port": None}
    with reading(engine) as connection:
        assert connection.execute(text("SELECT count(*) FROM projects")).scalar() == 1


def test_a_task_that_is_forgotten_handed_out_nothing(
    worker, store_settings, client, engine, remembered
):
    """What only it was handed ages as before; another task of the same day counts in its place."""
    earlier = {"at": TODAY - 30 * DAY, "exposure_id": "e0", "task_id": "t2"}
    add_all(
        client, store_settings,
        exposure("port", **earlier), exposure("cache", "port", exposure_id="e1", task_id="t1"),
        exposure("cache", exposure_id="e2", task_id="t2"),
        exposure("port", exposure_id="e3", task_id="t3", withheld=True, holdout=0.5),
    )  # fmt: skip
    worker.drain.run()
    assert remembered() == {"cache": TODAY, "port": TODAY}
    subject = Subject("task", "default", "t1")
    forget_in_store(engine, store_settings.rules, subject, (), actor="test", now=time.time())
    assert remembered() == {"cache": TODAY, "port": TODAY - 30 * DAY}
    assert actions(engine, store_settings, "cache") == ["stored", "handed out"]
