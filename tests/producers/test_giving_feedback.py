"""An agent judges one thing: fire and forget, over the same queue, stream and spool as outcomes."""

import json

import pytest

import trackrecord
from trackrecord.testing import captured
from trackrecord_producers.delivery.stream_and_spool_format import read_spool_line, spool_line
from trackrecord_producers.spool.forwarder import forward_spool


def test_it_goes_onto_the_stream(agent, client):
    """With its id and the project of the settings; nothing heavy is imported for it."""
    done = agent(
        """
        import sys, trackrecord
        given = trackrecord.feedback(pattern="Split by file", verdict="harmful", task_id=7)
        assert trackrecord.flush(40)
        print(given, trackrecord.dropped(), "sqlalchemy" in sys.modules)
        """
    )
    assert done.stderr == ""
    feedback_id, rest = done.stdout.split(maxsplit=1)
    assert rest.strip() == "{} False"
    ((_, fields),) = client.xrange("trackrecord:outcomes")
    assert json.loads(fields[b"feedback"]) == {
        "project": "default", "feedback_id": feedback_id, "verdict": "harmful",
        "pattern": "Split by file", "task_id": "7",
    }  # fmt: skip


def test_a_test_can_read_it():
    """As the worker will."""
    with captured() as published:
        given = trackrecord.feedback(memory="m", verdict="helpful", source="a", feedback_id="f")
        trackrecord.feedback(criterion="fast", verdict="neutral", project="shop")
    assert given == "f"
    one, other = published.feedback
    assert (one.memory, one.verdict, one.source, one.feedback_id) == ("m", "helpful", "a", "f")
    assert (other.criterion, other.project) == ("fast", "shop")
    assert published.dropped == []


@pytest.mark.parametrize(
    "wrong",
    [{}, {"pattern": "x", "memory": "m"}, {"pattern": ""}, {"pattern": "x", "verdict": "great"},
     {"criterion": 7}, {"memory": "m" * 129}],
)  # fmt: skip
def test_what_is_wrong_is_dropped_and_counted(wrong):
    """Nothing is raised."""
    with captured() as published:
        assert trackrecord.feedback(**{"verdict": "helpful", **wrong}) is None
    assert published.feedback == []
    assert len(published.dropped) == 1


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("feedback", b'{"verdict":"helpful","memory":"m"}'),
        ("error", b'{"task_id":"t","message":"m"}'),
    ],
)
def test_a_spool_brings_them_to_the_stream(agent_settings, client, kind, body):
    """A whole line does, also one that only lacks its end; a torn one is a dead letter."""
    line = spool_line(kind, body, is_safe=True)
    assert read_spool_line(line) == (kind, body)
    agent_settings.spool_dir.mkdir(parents=True)
    (agent_settings.spool_dir / "1.jsonl").write_bytes(line + b"\n" + line)
    (agent_settings.spool_dir / "2.jsonl").write_bytes(line[:-5])
    assert forward_spool(agent_settings, client) == 2
    entries = client.xrange(agent_settings.keys.outcomes)
    assert [fields[kind.encode()] for _, fields in entries] == [body, body]
    assert client.xlen(agent_settings.keys.dead) == 1
