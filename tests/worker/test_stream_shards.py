"""Several shards: keys by project, all of them read by every worker, whatever their number was."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis

from tests.worker.working import all_counted, body, changed, learnt_counts, recorded_ids, until
from trackrecord.inflight.reports import error_report
from trackrecord.inflight.store import InFlightStore
from trackrecord.prompt.documents.rankings_document import decode_document
from trackrecord.redis.checkup import check_up_redis
from trackrecord.redis.keys import MOST_SHARDS, keys_below, shard_of, split_mark
from trackrecord.redis.roles import AGENT
from trackrecord.resources.operation.dead_letters import (
    discard_letters,
    read_letters,
    replay_letters,
)
from trackrecord.resources.operation.flow import read_flow
from trackrecord.resources.operation.metrics import fleet_figures
from trackrecord.settings.settings import Settings
from trackrecord.wire.subject import Subject
from trackrecord_capture.forgetting.forget import Forgetter
from trackrecord_producers.delivery.stream_writer import send
from trackrecord_worker.learning.stream import OutcomeStream
from trackrecord_worker.services import Services

PROJECTS = [f"project-{number}" for number in range(12)]
WorkerOf = Callable[[Settings], Services]


def with_shards(settings: Settings, shards: int) -> Settings:
    """The same settings with a number of shards."""
    return changed(settings, stream_shards=shards)


def bodies(count: int, projects: list[str] = PROJECTS, **fields: Any) -> list[bytes]:
    """Outcomes of several projects, each with an id of its own."""
    return [
        body(number, project=projects[number % len(projects)], **fields) for number in range(count)
    ]


def differs(settings: Settings, client: redis.Redis) -> bool:
    """Return whether doctor says that others have another number of shards."""
    found = check_up_redis(settings)
    # What it finds out by trying is refused to it.
    client.acl_log_reset()
    return found.differs and any("stream_shards" in line for line in found.notes)


def test_every_language_finds_the_same_shard():
    """By the table of docs/wire.md."""
    page = (Path(__file__).parents[2] / "docs" / "wire.md").read_text()
    rows = re.findall(r"^\| `(.+)` \| (\d+) \| (\d) \| (\d) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for project, crc, of_four, of_seven in rows:
        assert (shard_of(project, 4), shard_of(project, 7)) == (int(of_four), int(of_seven))
        assert (int(crc) % 4, int(crc) % 7) == (int(of_four), int(of_seven))


@pytest.mark.parametrize("in_cluster", [False, True])
def test_all_keys_of_a_project_are_in_its_shard(in_cluster):
    """The text in braces, which Redis Cluster hashes, is one: whatever a project is called."""
    keys = keys_below("t", 12, in_cluster=in_cluster)
    for project in [*PROJECTS, "{1}", "}:outcomes"]:
        shard = keys.of(project)
        assert shard in keys.shards
        names = [*keys.computed(project), keys.tasks_in_flight(project), keys.task_sizes(project)]
        names += [keys.task_in_flight("d", project), keys.retry("task", project)]
        assert all(name.startswith(f"t:{{{shard.number}}}:") for name in names)


def test_agents_may_write_to_every_shard_and_nothing_else(client):
    """Also where a project is called as a key of another kind is."""
    rules = AGENT.rules("t").replace("%R~", "~r:").split()
    client.execute_command("ACL", "SETUSER", "probe", "on", ">probe", *rules)
    may = partial(client.execute_command, "ACL", "DRYRUN", "probe")
    try:
        may("PING")
    except redis.ResponseError:
        pytest.skip("this Redis cannot try what a user may do; 7.0 can")
    for shard in keys_below("t", MOST_SHARDS, in_cluster=False).shards:
        assert may("XADD", shard.outcomes, "*", "v", "1") == b"OK"
        assert may("DEL", shard.task_in_flight("d", "p")) == b"OK"
        for project in ("p", "x}:outcomes", "{1}:outcomes"):
            assert b"no permissions" in may("DEL", shard.rankings(project))
            assert b"no permissions" in may("DEL", shard.known_lessons(project))


def test_everything_is_learnt_from_all_shards(store_settings, client, engine, worker_of):
    """Outcomes, bad ones, errors of tasks and rankings: each project in its shard."""
    settings = with_shards(store_settings, 4)
    keys = settings.keys
    error = error_report("a task", "timeout", "too slow", error_id="e" * 52)
    InFlightStore(client, keys, PROJECTS[3], settings.errors).write(error)
    ids = send(client, keys, [*bodies(240), b"bad", b'{"project":"project-1"}'])
    assert len(set(ids)) == 242
    assert len({split_mark(each)[1] for each in ids}) == 4, "the projects are in all shards"
    assert read_flow(client, keys).waiting == 242

    worker = worker_of(settings)
    worker.drain.run()
    worker.retry_texts.refresh()
    assert learnt_counts(engine) == all_counted(240)
    assert {each.entry_id for each in read_letters(client, keys)} == set(ids[-2:])
    flow = read_flow(client, keys)
    assert (flow.waiting, flow.pending, flow.dead_letters, flow.workers) == (0, 0, 2, 1)
    assert fleet_figures(client, settings).counts.entries["recorded"] == 240
    assert fleet_figures(client, settings).counts.refused["invalid"] == 2
    for project in PROJECTS:
        data: Any = client.hget(keys.of(project).rankings(project), "document")
        assert decode_document(data).patterns[0].helpful_count == 20
    assert client.exists(keys.of(PROJECTS[3]).retry("a task", PROJECTS[3]))
    assert InFlightStore(client, keys, PROJECTS[3], settings.errors).read("a task").errors
    assert not differs(settings, client)


def test_a_busy_shard_does_not_starve_the_others(store_settings, client):
    """While one shard always has a full batch, an entry of another one comes with the next."""
    settings = with_shards(store_settings, 4)
    keys = settings.keys
    send(client, keys, bodies(500, ["busy"]))
    quiet = next(each for each in PROJECTS if keys.of(each) != keys.of("busy"))
    (waiting,) = send(client, keys, [body(1000, project=quiet)])
    stream = OutcomeStream(client, keys)
    stream.ensure_group()
    seen: set[bytes] = set()
    for _ in range(2 * len(keys.shards)):
        seen |= {entry_id for entry_id, _ in stream.read_new(50, None)}
    assert waiting.encode() in seen
    assert len(seen) > 50, "the busy shard is read as well"


def test_waiting_ends_with_an_entry_in_any_shard(store_settings, client):
    """One blocking read waits for all shards of a server."""
    settings = with_shards(store_settings, 3)
    stream = OutcomeStream(client, settings.keys)
    stream.ensure_group()
    assert stream.read_new(10, 0.01) == []
    for project in PROJECTS:
        ids = send(client, settings.keys, [body(1, project=project)])
        ((entry_id, _),) = stream.read_new(10, 3.0)
        assert [entry_id.decode()] == ids
        stream.acknowledge([entry_id], {"entries:recorded": 1})
    assert stream.length() == 0
    assert fleet_figures(client, settings).counts.entries["recorded"] == len(PROJECTS)


@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 2)])
def test_another_number_of_shards(before, after, store_settings, client, engine, worker_of):
    """What waits, what is pending and what late producers add in the old shards is learnt."""
    old, new = with_shards(store_settings, before), with_shards(store_settings, after)
    send(client, old.keys, bodies(60))
    dead = OutcomeStream(client, old.keys)
    dead.ensure_group()
    held = dead.read_new(30, None)
    assert held, "what a worker has read that never comes back"
    worker = worker_of(new)
    assert worker.drain.run()["recorded"] == 60 - len(held)
    until(lambda: worker.drain.take_over()["recorded"] or len(recorded_ids(engine)) == 60)
    assert differs(old if before < after else new, client)
    send(client, old.keys, [body(n, project=PROJECTS[n % 12]) for n in range(60, 120)])
    send(client, new.keys, [body(n, project=PROJECTS[n % 12]) for n in range(120, 180)])
    worker.drain.run()
    worker.drain.take_over()
    assert learnt_counts(engine) == all_counted(180)
    assert read_flow(client, new.keys).waiting == 0
    worker.refresher.refresh_stale()
    for project in PROJECTS:
        data: Any = client.hget(new.keys.rankings(project), "document")
        assert decode_document(data).patterns[0].helpful_count == 15


def test_entries_of_two_shards_with_the_same_id(store_settings, client, engine, worker_of):
    """Two shards' clocks may agree: outcomes without an id of their own are both learnt."""
    settings = with_shards(store_settings, 4)
    shards = settings.keys.shards[:4]
    for shard in shards:
        fields = msgspec.json.decode(body(1, project="p"))
        del fields["outcome_id"]
        entry: Any = {"v": "1", "body": msgspec.json.encode(fields)}
        client.xadd(shard.outcomes, entry, id="1780000000000-0")
        client.xadd(shard.outcomes, {"v": "2"}, id="1780000000000-1")
    worker_of(settings).drain.run()
    assert learnt_counts(engine) == all_counted(4)
    letters = list(read_letters(client, settings.keys))
    assert {each.entry_id for each in letters} == {
        f"1780000000000-1@{number}" for number in range(4)
    }


def test_dead_letters_of_all_shards_are_one_list(store_settings, client):
    """In one order and in pages, and each is found by its id, also in a shard that was given up."""
    settings = with_shards(store_settings, 4)
    keys = settings.keys
    for moment in range(5):
        for shard in (*keys.shards, *keys_below("trackrecord", 6, in_cluster=False).shards[4:6]):
            client.xadd(shard.dead, {"body": "x", "reason": "r"}, id=f"178000000000{moment}-0")
    everything = [each.id for each in read_letters(client, keys)]
    assert len(set(everything)) == 35
    assert [each.partition("-")[0] for each in everything] == sorted(
        each.partition("-")[0] for each in everything
    )
    assert [each.id for each in read_letters(client, keys, newest_first=True)] == everything[::-1]
    for newest_first in (False, True):
        ordered = everything[::-1] if newest_first else everything
        paged: list[str] = []
        while page := [
            each.id
            for each in read_letters(
                client, keys, limit=4, newest_first=newest_first, after=paged[-1] if paged else None
            )
        ]:
            paged += page
        assert paged == ordered

    chosen = everything[3::8]
    assert replay_letters(client, keys, chosen[:2]) == 2
    assert discard_letters(client, keys, chosen[2:]) == len(chosen) - 2
    left = [each.id for each in read_letters(client, keys)]
    assert left == [each for each in everything if each not in chosen]
    assert read_flow(client, keys).waiting == 2
    assert replay_letters(client, keys, None) == len(left)
    assert read_flow(client, keys).dead_letters == 0


def test_forgetting_looks_into_every_shard(store_settings, client, worker_of):
    """Also into those that a project was in before the number of shards was changed."""
    project = next(each for each in PROJECTS if shard_of(each, 2) != shard_of(each, 4))
    for shards in (1, 2, 4):
        settings = with_shards(store_settings, shards)
        worker = worker_of(settings)
        send(client, settings.keys, bodies(3, [project]))
        worker.drain.run()
        error = error_report("a task", "timeout", "too slow")
        InFlightStore(client, settings.keys, project, settings.errors).write(error)
    for shards in (1, 2, 4):
        waiting = [body(number, project=project) for number in range(3)]
        send(client, with_shards(store_settings, shards).keys, waiting)
    subject = Subject("project", project, project)
    forgetter = Forgetter(worker.engine, client, settings, subject, warn=print)
    assert forgetter.rehearse().counts["waiting"] == 9
    forgetter.forget(actor="a person")
    names: Any = client.keys(f"*:{project}")
    assert names == [settings.keys.rankings(project).encode()], "a mark against late writers"
    assert client.hget(names[0], "document") is None
    assert read_flow(client, settings.keys).waiting == 0
