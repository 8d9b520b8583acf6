"""Weighing an evaluation at prompt time: by the cached weights, stale ones, and without any."""

import time

import pytest

import trackrecord
from tests.prompt.advised import rankings
from tests.support.prompt_answers import answer_from
from trackrecord.learning.advice.assignment import Assignment
from trackrecord.prompt.choosing.exposure import ExposurePlan
from trackrecord.prompt.documents.rankings_document import RankedCriterion
from trackrecord.prompt.reading.cache import write_document
from trackrecord.prompt.reading.client import RankingsReader, given_readers
from trackrecord.settings.settings import load_settings
from trackrecord.testing import rankings_of

CRITERIA = (
    RankedCriterion(criterion="noisy", weight=0.0, deprecated=True),
    RankedCriterion(criterion="readable", weight=0.5),
)


@pytest.fixture
def reader(settings):
    reader = RankingsReader(load_settings(home=settings.home, retry_after_s=0.05))
    with given_readers.within(reader):
        yield reader


@pytest.fixture
def cached(settings, fake_client):
    with given_readers.within(RankingsReader(settings, fake_client)):
        yield fake_client


def parts(weighed):
    return {part.criterion: (part.weight, part.note) for part in weighed.parts}


def test_scores_are_weighed_by_the_cached_weights(cached, settings):
    """A deprecated criterion has no say; an unknown one says that nothing is known of it."""
    write_document(cached, settings, rankings(criteria=CRITERIA))
    weighed = trackrecord.weigh({"noisy": 0, "readable": 1, "new": False}, project="p")
    assert parts(weighed) == {
        "noisy": (0.0, "deprecated"), "readable": (0.5, ""), "new": (1.0, "no feedback on record"),
    }  # fmt: skip
    assert weighed.score == pytest.approx(0.5 / 1.5)
    assert weighed.plain_score == pytest.approx(1 / 3)
    assert (weighed.project, weighed.is_stale, weighed.problem) == ("p", False, None)
    assert 0 <= weighed.age_s < 60


def test_where_the_cache_holds_only_some_it_does_not_claim_to_know(cached, settings):
    """A criterion that is not among them may be deprecated for all that is known."""
    write_document(cached, settings, rankings(criteria=CRITERIA, beyond={"criteria": 3}))
    weighed = trackrecord.weigh({"new": 1}, project="p")
    assert parts(weighed) == {"new": (1.0, "not among the criteria in the cache")}


def test_when_redis_goes_away_the_last_weights_count(redis_server, settings, reader):
    """Marked stale, with the reason."""
    with redis_server.client() as client:
        write_document(client, settings, rankings(criteria=CRITERIA))
    assert not trackrecord.weigh({"readable": 1}, project="p").is_stale
    redis_server.stop()
    stale = trackrecord.weigh({"readable": 1, "noisy": 0}, project="p")
    assert (stale.score, stale.is_stale) == (1.0, True)
    assert "redis is unavailable" in stale.problem


def test_without_redis_all_weigh_alike(reader):
    """And the answer says so: an evaluation is not kept waiting, nor broken."""
    weighed = trackrecord.weigh({"a": 1, "b": 0}, project="p")
    assert (weighed.score, weighed.age_s) == (0.5, None)
    assert parts(weighed) == dict.fromkeys("ab", (1.0, "no weights are known"))
    assert "redis is unavailable" in weighed.problem


def test_a_project_that_is_none_is_never_answered_with_another_ones(cached, settings):
    """The weights of the usual project stay out of it."""
    write_document(cached, settings, rankings(criteria=CRITERIA))
    weighed = trackrecord.weigh({"readable": 1}, project=["p"])
    assert parts(weighed) == {"readable": (1.0, "no weights are known")}
    assert "project must be a text" in weighed.problem


def test_both_arms_are_judged_alike():
    """The weights are no advice: a task that is withheld advice has them all the same."""
    for arm in ("given", "withheld"):
        answer = answer_from(
            rankings(criteria=CRITERIA), task="x", budget=0, limit=0, now=time.time(),
            exposure_plan=ExposurePlan("p", "t", Assignment(arm=arm)),
        )  # fmt: skip
        assert (answer.arm, answer.criteria, answer.prompt) == (arm, CRITERIA, "")


def test_a_test_gives_the_weights_that_its_agent_weighs_by():
    """No server; a weight of 0 is that of a deprecated criterion."""
    with rankings_of(criteria={"readable": 0.5, "noisy": 0}):
        weighed = trackrecord.weigh({"readable": 1, "noisy": 0, "new": 0})
    assert weighed.score == pytest.approx(0.5 / 1.5)
    assert parts(weighed)["noisy"] == (0.0, "deprecated")
