"""Feedback that comes on the stream: counted once, and what cannot be is set aside."""

import time

from tests.worker.working import add, body
from trackrecord.learning.rules_bundle import Rules
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.read import read_standings

GOOD = {"pattern": "Split by feature", "verdict": "helpful", "feedback_id": "f1"}


def standing(engine, slug="split-by-feature", project="default"):
    with reading(engine) as connection:
        project_id = project_id_of(connection, project) or -1
        found = read_standings(connection, project_id, Rules(), now=time.time(), slug=slug)
    return found[0] if found else None


def test_feedback_counts_and_the_next_prompt_knows(worker, store_settings, client, engine):
    """On a pattern by any of its names, and by the id of the warning that it has become."""
    client.xadd(store_settings.keys.outcomes, {"v": "1", "body": body(1)})
    add(
        client, store_settings, "feedback", GOOD,
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
        add(client, store_settings, "feedback", GOOD, GOOD)
        worker.drain.run()
    assert standing(engine).evidence.feedback == 1
    unnamed = {"pattern": "Split by feature", "verdict": "neutral"}
    add(client, store_settings, "feedback", unnamed, unnamed)
    worker.drain.run()
    assert standing(engine).evidence.feedback == 3
