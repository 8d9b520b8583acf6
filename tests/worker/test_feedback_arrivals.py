"""Feedback that comes on the stream: counted once, and what cannot be is set aside."""

import signal
import time

import msgspec
import pytest

from tests.support.dying import exit_code_of
from tests.worker.dying_drain import drain_until
from tests.worker.working import body
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.read import read_standings

GOOD = {"pattern": "Split by feature", "verdict": "helpful", "feedback_id": "f1"}


def tell(client, settings, *given):
    """As any language can."""
    for each in given:
        data = each if isinstance(each, bytes) else msgspec.json.encode(each)
        client.xadd(settings.keys.outcomes, {"v": "1", "feedback": data})


def standing(engine, slug="split-by-feature", project="default"):
    with reading(engine) as connection:
        project_id = project_id_of(connection, project) or -1
        found = read_standings(connection, project_id, Rules(), now=time.time(), slug=slug)
    return found[0] if found else None


def test_feedback_counts_and_the_next_prompt_knows(worker, store_settings, client, engine):
    """On a pattern by any of its names, and by the id of the warning that it has become."""
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": body(1)})
    tell(
        client, store_settings, GOOD,
        {"pattern": "按功能拆分", "verdict": "helpful"},
        {"pattern": "anti-split-by-feature", "verdict": "harmful"},
    )  # fmt: skip
    done = worker.drain.run()
    assert (done["recorded"], done["feedback"], done["refused"]) == (1, 3, 0)
    evidence = standing(engine).evidence
    assert (evidence.helpful, evidence.harmful, evidence.feedback) == (3, 1, 3)
    assert client.xlen(store_settings.keys.outcomes) == 0
    answer = RankingsReader(store_settings).read(task="Split by feature")
    (pattern,) = [each for each in answer.patterns if each.id == "split-by-feature"]
    assert pattern.helpful_count == 3


def test_doubled_and_without_an_id(worker, store_settings, client, engine):
    """The same id counts once in a batch and across batches; each entry without one counts."""
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": body(1)})
    for _ in range(2):
        tell(client, store_settings, GOOD, GOOD)
        worker.drain.run()
    assert standing(engine).evidence.feedback == 1
    unnamed = {"pattern": "Split by feature", "verdict": "neutral"}
    tell(client, store_settings, unnamed, unnamed)
    worker.drain.run()
    assert standing(engine).evidence.feedback == 3


@pytest.mark.faults
@pytest.mark.parametrize("point", ["2", "4", "commit", "acknowledge", "acknowledged", "refresh"])
def test_killed_while_it_counts(point, store_settings, client, engine, worker_of):
    """The next worker finishes: each verdict once."""
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": body(1)})
    worker_of(store_settings).drain.run()
    tell(client, store_settings, *({**GOOD, "feedback_id": f"f{n}"} for n in range(20)), b"bad")
    assert exit_code_of(drain_until, point, store_settings) == -signal.SIGKILL
    time.sleep(2 * store_settings.claim_idle_s)
    worker = worker_of(store_settings)
    worker.drain.take_over()
    worker.drain.run()
    assert standing(engine).evidence.feedback == 20
    assert client.xlen(store_settings.keys.outcomes) == 0
    assert client.xlen(store_settings.keys.dead) == 1


# What cannot be taken, and the reason.
BAD = [
    (b"{", "invalid feedback"), (b"[]", "invalid feedback"), ({}, "verdict"),
    ({"verdict": "helpful"}, "exactly one of pattern, criterion and memory"),
    ({"verdict": "helpful", "pattern": "x", "memory": "m"}, "exactly one"),
    ({"verdict": "odd-value", "pattern": "x"}, "Not one of the allowed values"),
    ({"verdict": "helpful", "pattern": "!?"}, "neither a letter nor a digit"),
    ({"verdict": "helpful", "criterion": " "}, "blank"),
    ({"verdict": "helpful", "criterion": "x" * 129}, "criterion"),
    ({"verdict": "helpful", "pattern": "x", "timestamp": "2024-01-01T00:00"}, "offset"),
    ({"verdict": "helpful", "pattern": "x", "project": ""}, "project"),
]  # fmt: skip


def test_bad_ones_are_dead_letters(worker, store_settings, client, engine):
    """With a reason that repeats nothing of the content, and they stop nothing else."""
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": body(1)})
    tell(client, store_settings, *(given for given, _ in BAD), GOOD)
    done = worker.drain.run()
    assert (done["feedback"], done["refused"]) == (1, len(BAD))
    assert standing(engine).evidence.feedback == 1
    letters = client.xrange(store_settings.keys.dead)
    for (given, reason), (_, letter) in zip(BAD, letters, strict=True):
        assert reason in letter[b"reason"].decode(), given
        assert b"odd-value" not in letter[b"reason"]
