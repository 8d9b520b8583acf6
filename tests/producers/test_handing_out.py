"""What a task is handed is recorded fire and forget, over the queue and spool of outcomes."""

import json
import time

from tests.prompt.advised import memory
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.reading.cache import write_document
from trackrecord_producers.spool.forwarder import forward_spool

PROGRAM = """
import asyncio, trackrecord
first = trackrecord.rankings(project="p", task_id="t1")
again = asyncio.run(trackrecord.arankings(project="p", task_id="t1"))
trackrecord.context("p", task_id="t2")
trackrecord.rankings(project="p")
print(first.prompt == again.prompt, first.arm, trackrecord.dropped())
"""
READS = """
import os, trackrecord
for _ in range(3):
    answers = [trackrecord.rankings(project="p"), trackrecord.context("p", task="fix y")]
    answers.append(trackrecord.rankings(project="p", task="fix y"))
print([each.memory_ids for each in answers], trackrecord.flush(60))
if os.fork():
    os.wait()
else:
    trackrecord.rankings(project="p")
    trackrecord.flush(60)
    os._exit(0)
print(trackrecord.stats().published, trackrecord.dropped())
"""
LATER = """
import trackrecord
from trackrecord_producers.prompting.rankings_call import publish_exposure, publish_recall
from trackrecord.wire.exposure import ExposureBody
print(publish_exposure(ExposureBody(task_id="t", entries=("混合",), project="p")))
print(publish_exposure(ExposureBody(task_id="", entries=())), trackrecord.dropped())
publish_recall("p", ["记忆"]), publish_recall("p", ["\\ud800"])
print(trackrecord.dropped())
"""


def exposures_on(client, settings, kind=b"exposure"):
    entries = client.xrange(settings.keys.outcomes)
    return [json.loads(fields[kind]) for _, fields in entries if kind in fields]


def cache_memories(client, settings, **more):
    """Rankings of memories x, y and z."""
    memories = tuple(memory(name, name) for name in "xyz")
    write_document(
        client,
        settings,
        RankingsDocument(
            project="p", revision=3, computed_at=time.time(), memories=memories, **more
        ),
    )


def test_they_go_onto_the_stream(agent_settings, agent_says, client):
    """From `rankings()`, `arankings()` and `context()`, each with an id; none without a task id."""
    cache_memories(client, agent_settings)
    assert agent_says(agent_settings, PROGRAM) == ["True given {}"]
    found = exposures_on(client, agent_settings)
    assert sorted(each["task_id"] for each in found) == ["t1", "t1", "t2"]
    assert len({each["exposure_id"] for each in found}) == 3
    assert {each["entries"][0] for each in found} == {"memory:x"}
    assert {each["revision"] for each in found} == {3}


def test_memories_handed_out_without_a_task_are_reported_once(agent_settings, agent_says, client):
    """A process that only reads says each once a day, and so does its forked child."""
    cache_memories(client, agent_settings)
    said = agent_says(agent_settings, READS)
    assert said == ["[('x', 'y', 'z'), ('y',), ('y',)] True", "1 {}"]
    (recall,) = exposures_on(client, agent_settings, b"recall")
    assert (recall["project"], recall["memories"]) == ("p", ["x", "y", "z"])
    assert abs(recall["at"] - time.time()) < 600
    assert exposures_on(client, agent_settings) == []


def test_an_exposure_says_it_already(agent_settings, agent_says, client):
    """What a task was handed is not reported again; what is withheld is not handed out."""
    cache_memories(client, agent_settings)
    program = """
import trackrecord
trackrecord.rankings(project="p", task_id="t")
trackrecord.rankings(project="p")
"""
    agent_says(agent_settings, program)
    assert len(exposures_on(client, agent_settings)) == 1
    assert exposures_on(client, agent_settings, b"recall") == []
    away = agent_settings.model_copy(update={"holdout": 0.9})
    cache_memories(client, agent_settings, holdout=0.9)
    program = """
import trackrecord
answers = [trackrecord.rankings(project="p", task_id=f"t{n}") for n in range(40)]
answers += [trackrecord.context("p", task_id=f"t{n}") for n in range(40)]
print({each.arm: each.memory_ids for each in answers})
"""
    (arms,) = agent_says(away, program)
    assert "'withheld': ()" in arms


def test_without_redis_they_wait_in_the_spool(agent_settings, agent_says, redis_server, client):
    """And are forwarded by whoever gets through; what is invalid is dropped and counted."""
    away = agent_settings.model_copy(update={"redis_url": "unix:///nowhere/redis.sock"})
    exposure_id, dropped, recalled = agent_says(away, LATER)
    assert dropped == "None {'invalid': 1}"
    assert recalled == "{'invalid': 2}"
    (path,) = agent_settings.spool_dir.glob("*.jsonl")
    line, recall = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert (line["v"], line["exposure"]["task_id"]) == (1, "t")
    assert (recall["v"], recall["recall"]["memories"]) == (1, ["记忆"])
    assert forward_spool(agent_settings, client) == 2
    assert len(exposures_on(client, agent_settings, b"recall")) == 1
    (exposure,) = exposures_on(client, agent_settings)
    assert (exposure["exposure_id"], exposure["entries"]) == (exposure_id, ["混合"])
