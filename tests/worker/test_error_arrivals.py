"""Errors of tasks in flight that come on the stream, and what a retry in any language reads."""

from hashlib import sha256
from itertools import permutations

import msgspec

from tests.worker.working import add
from trackrecord.inflight.reports import error_report
from trackrecord.inflight.retry_text import retry_text
from trackrecord.inflight.rules import ErrorRules
from trackrecord.inflight.store import InFlightStore

FAILED = {"task_id": "build", "error_id": "e1", "message": "Type error in src/auth.ts"}
RESOLVED = {"task_id": "build", "error_id": "e1", "report": "resolved"}


def in_flight(client, settings, project="default"):
    return InFlightStore(client, settings.keys, project, settings.errors)


def retry_of(client, task_id, project="default"):
    """Return the text for an agent in another language, read without our code."""
    digest = sha256(task_id.encode()).hexdigest()
    return {
        name.decode(): value.decode()
        for name, value in client.hgetall(f"trackrecord:in-flight:retry:{digest}:{project}").items()
    }


def test_an_error_is_recorded_and_read_by_every_language(worker, store_settings, client):
    """With its type derived from the message; the text under the documented key is the text."""
    told = {
        **FAILED, "tool_name": "typecheck", "context": "After adding OAuth types",
        "stack_trace": "auth.ts:1", "timestamp": "2024-12-12T10:30:00Z",
    }  # fmt: skip
    add(client, store_settings, "error", told)
    assert worker.drain.run()["errors"] == 1
    task = in_flight(client, store_settings).read("build")
    (error,) = task.errors
    assert (error.id, error.type, error.task_id) == ("e1", "validation", "build")
    assert (error.tool_name, error.context) == ("typecheck", "After adding OAuth types")
    read = retry_of(client, "build")
    assert read["en"] == retry_text(task, store_settings.errors)
    assert "12/12/2024, 10:30 AM" in read["en"]
    assert read["zh"] == retry_text(task, store_settings.errors, language="zh")
    document = msgspec.json.decode(read["json"])
    assert (document["total"], document["unresolved"], document["strikes"]) == (1, 1, 0)
    assert document["errors"][0]["id"] == "e1"
    assert client.xlen(store_settings.keys.outcomes) == 0


def test_doubled_entries_count_once(worker, store_settings, client):
    """In one batch and across batches: errors, resolutions and ends of attempts."""
    ended = {"task_id": "build", "report": "ended", "attempt_id": "a1", "success": False}
    for _ in range(2):
        add(client, store_settings, "error", FAILED, FAILED, ended, ended)
        worker.drain.run()
    task = in_flight(client, store_settings).read("build")
    assert (task.stats.total, task.strikes) == (1, 1)


def test_reordered_entries_end_the_same(worker, store_settings, client):
    """A resolution may arrive before its error, each in a batch of its own, and doubled."""
    other = {"error_id": "e2", "message": "timed out"}
    entries = [FAILED, RESOLVED, other, RESOLVED]
    orders = {f"build-{number}": order for number, order in enumerate(permutations(range(4)))}
    for place in range(4):
        add(
            client,
            store_settings,
            "error",
            *({**entries[order[place]], "task_id": task} for task, order in orders.items()),
        )
        worker.drain.run()
    for task, order in orders.items():
        errors = in_flight(client, store_settings).read(task).errors
        assert {each.id: each.resolved for each in errors} == {"e1": True, "e2": False}, order
        read = retry_of(client, task)["en"]
        assert "timed out" in read, order
        assert "Type error" not in read, order


def test_a_success_ends_what_was_in_the_way(worker, store_settings, client):
    """Three failures ask for a review of the design; a success resolves all."""
    ends = [
        {"task_id": "build", "report": "ended", "attempt_id": f"a{number}", "success": False}
        for number in range(3)
    ]
    add(client, store_settings, "error", FAILED, *ends)
    worker.drain.run()
    assert "Three Strikes" in retry_of(client, "build")["en"]
    add(client, store_settings, "error", {"task_id": "build", "report": "ended", "success": True})
    worker.drain.run()
    assert retry_of(client, "build")["en"] == ""
    assert in_flight(client, store_settings).read("build").stats.unresolved == 0


def test_without_an_id_the_entry_has_one(worker, store_settings, client):
    """Which XADD returned, so that the agent can resolve it."""
    unnamed = msgspec.json.encode({"task_id": "build", "message": "m"})
    entry = client.xadd(store_settings.keys.outcomes, {"v": "1", "error": unnamed})
    worker.drain.run()
    (error,) = in_flight(client, store_settings).read("build").errors
    assert error.id == f"stream:{entry.decode()}"
    add(client, store_settings, "error", {**RESOLVED, "error_id": error.id})
    worker.drain.run()
    assert in_flight(client, store_settings).read("build").unresolved == ()


def test_what_others_record_is_in_the_text_too(worker, store_settings, client):
    """Python records straight into Redis; a resolution by id alone finds an id of any form."""
    add(client, store_settings, "error", FAILED)
    worker.drain.run()
    store = in_flight(client, store_settings)
    report = error_report("build", "timeout", "timed out")
    store.write(report)
    worker.retry_texts.refresh()
    assert "timed out" in retry_of(client, "build")["en"]
    store.resolve("e1")
    store.resolve(report.id)
    worker.retry_texts.refresh()
    assert retry_of(client, "build")["en"] == ""
    assert client.scard(store_settings.keys.changed_tasks) == 0


def test_what_waits_for_room_counts_once(worker, store_settings, client):
    """While Redis has no room for an error, it stays pending and counts as nothing."""
    add(client, store_settings, "error", {"task_id": "t", "message": "it failed"})
    client.xadd(store_settings.keys.outcomes, {"v": "1", "recall": b'{"memories":["m"]}'})
    client.config_set("maxmemory", 1)
    try:
        done = worker.drain.run()
        assert (done["recalls"], done["errors"]) == (1, 0)
    finally:
        client.config_set("maxmemory", 0)
    assert client.xlen(store_settings.keys.outcomes) == 1
    assert worker.drain.run()["errors"] == 1


def test_the_text_leaves_redis_with_the_task(worker, store_settings, client):
    """And so does what was noted of it, when another task takes its place."""
    add(client, store_settings, "error", FAILED)
    worker.drain.run()
    digest = sha256(b"build").hexdigest()
    key = f"trackrecord:in-flight:retry:{digest}:default"
    assert 0 < client.ttl(key) <= store_settings.errors.retention_s
    rules = ErrorRules(max_per_task=1, max_per_project=2)
    crowded = InFlightStore(client, store_settings.keys, "default", rules)
    for number in range(3):
        crowded.write(error_report(f"t{number}", "timeout", "m"))
    assert not client.exists(key)


def test_resolutions_of_what_never_comes_are_bounded(worker_of, store_settings, client):
    """Beyond as many as a task may have errors they become dead letters."""
    rules = ErrorRules(max_per_task=2, max_per_project=100)
    small = store_settings.model_copy(update={"errors": rules})
    add(
        client,
        small,
        "error",
        *({**RESOLVED, "error_id": f"never-{number}"} for number in range(3)),
    )
    done = worker_of(small).drain.run()
    assert (done["errors"], done["refused"]) == (2, 1)
    ((_, letter),) = client.xrange(small.keys.dead)
    assert b"resolved" in letter[b"reason"]
