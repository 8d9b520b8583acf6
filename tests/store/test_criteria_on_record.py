"""Criteria in the store: counted once, in any order, answered for any moment, on both dialects."""

import json
import random

import pytest

from tests.store.teaching import CRITERIA, DAY, DEFAULTS, NOW, outcome, teach
from trackrecord.learning.criteria.weights import CriterionStanding
from trackrecord.learning.rules_bundle import Rules
from trackrecord.resources.prompt_documents import prompt_document
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import scorer_of


def standings(store, *, now=NOW, name=None, project="default"):
    with reading(store) as connection:
        project_id = project_id_of(connection, project)
        if project_id is None:
            return {}
        found = read_criteria(connection, project_id, CRITERIA, now=now, name=name)
    return {each.criterion: each for each in found}


def numbers(standing: CriterionStanding):
    evidence = standing.evidence
    return (
        evidence.helpful, evidence.neutral, evidence.harmful,
        float(f"{evidence.decayed_helpful:.9g}"), float(f"{evidence.decayed_harmful:.9g}"),
        evidence.last_validated, standing.deprecated, float(f"{standing.weight:.9g}"),
    )  # fmt: skip


def named(number, verdicts, **fields):
    return outcome(number, criteria=verdicts, **fields)


def test_every_outcome_gives_feedback_to_each_default_criterion(store):
    """With its own verdict: the raw score when helpful, what is missing to 1 when harmful."""
    teach(store, [outcome(1), outcome(2, helpful=False)])
    found = standings(store)
    assert sorted(found) == sorted(DEFAULTS)
    for each in found.values():
        assert (each.evidence.helpful, each.evidence.harmful) == (1, 1)
        assert each.evidence.decayed_helpful == pytest.approx(1.0)
        # failed, many errors, many retries: (0.2·0.2 + 0.2·0.3) ÷ 0.8
        assert each.evidence.decayed_harmful == pytest.approx(1 - 0.125)


def test_a_named_criterion_gets_the_verdict_given(store):
    """Raw value 1; the default criteria that are not named get the outcome's own verdict."""
    verdicts = {"readable": "harmful", "kind": "helpful", "no_bugs": "neutral"}
    teach(store, [named(1, verdicts)])
    found = {name: each.evidence for name, each in standings(store).items()}
    assert sorted(found) == sorted({*DEFAULTS, "kind"})
    assert (found["readable"].harmful, found["readable"].decayed_harmful) == (1, 1.0)
    assert (found["kind"].helpful, found["kind"].decayed_helpful) == (1, 1.0)
    assert (found["no_bugs"].neutral, found["no_bugs"].decayed_total) == (1, 0.0)
    assert (found["type_safe"].helpful, found["patterns"].helpful) == (1, 1)


def a_mixture(count=60, seed=5):
    chance = random.Random(seed)
    batch = []
    for number in range(count):
        fields = {"timestamp": NOW - chance.randrange(200) * DAY, "duration_ms": 10**6}
        if chance.random() < 0.4:
            fields["criteria"] = {
                name: chance.choice(["helpful", "neutral", "harmful"])
                for name in chance.sample(["readable", "type_safe", "own", "other"], 2)
            }
        received = NOW - chance.randrange(3) * DAY
        batch.append(outcome(number, helpful=chance.random() < 0.7, received=received, **fields))
    return batch


def test_a_moment_in_the_far_future_is_no_error(store):
    """All evidence is gone by then; PostgreSQL knows no smaller number than the smallest."""
    teach(store, a_mixture())
    far = 253_402_300_799.0
    assert all(each.evidence.decayed_total >= 0 for each in standings(store, now=far).values())


def test_the_cached_rankings_hold_the_weights_of_those_with_most_feedback(store, monkeypatch):
    """By name; how many are missing is said."""
    scorer = scorer_of(Rules())

    def judged(number, name, verdict, at):
        body = json.dumps({"task_id": "t", "success": True, "criteria": {name: verdict}}).encode()
        return scorer.score(decode_outcome(body), body, received_at=at, outcome_id=f"o{number}")

    verdicts = [*["often"] * 3, "twice", "twice", "once"]
    early = [
        judged(number, name, "harmful" if name == "often" else "helpful", NOW)
        for number, name in enumerate(verdicts)
    ]
    teach(store, early, rules=Rules())
    teach(store, [judged(9, "later", "helpful", NOW + DAY)], rules=Rules(), now=NOW + DAY)

    def weights(most):
        monkeypatch.setattr(prompt_document, "_MOST", most)
        with reading(store) as connection:
            found, _ = rank_project(connection, "default", Rules(), now=NOW + DAY)
        return {each.criterion: each.weight for each in found.criteria}, found.beyond["criteria"]

    assert weights(2) == ({"often": 0.0, "twice": 1.0}, 2)
    assert weights(9) == ({"later": 1.0, "often": 0.0, "once": 1.0, "twice": 1.0}, 0)
