"""Following: when records appear, and what new evidence does to them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.competences.episodes.tally import Episode, EpisodeTally
from trackrecord.learning.competences.record import Competence, TriggerCounts, fallbacks_among
from trackrecord.learning.competences.rules import CompetenceRules, Status
from trackrecord.learning.competences.update import (
    NoChange,
    RecordAction,
    RecordUpdate,
    Signature,
    follow,
    follow_rebuilt,
)

RULES = CompetenceRules()
ORDER = ("go_build", "go_test", "lint")


def tally(*successes: bool, **fields: object) -> EpisodeTally:
    total = EpisodeTally()
    for success in successes:
        total.add(Episode(ORDER, success, 5.0, **fields))  # type: ignore[arg-type]
    return total


def signature(total: EpisodeTally) -> Signature:
    return Signature("p", "go_build+go_test+lint", total)


def created(total: EpisodeTally) -> Competence:
    change = follow(RULES, signature(total), None, 100.0)
    assert isinstance(change, RecordUpdate)
    assert change.action is RecordAction.CREATED
    return change.record


@pytest.mark.parametrize("successes", [(True,), (True, False), (False, False)])
def test_too_few_successes(successes):
    """One success is ignored."""
    assert follow(RULES, signature(tally(*successes)), None, 1.0) is NoChange.TOO_FEW


def test_two_successes_make_a_record():
    """With a rate of 1, and the values a record starts with."""
    record = created(tally(True, True, duration_ms=40))
    assert record.skill_name == "skill:go_build+go_test+lint"
    assert record.performance.success_rate == 1.0
    assert record.performance.avg_latency_ms == 40
    assert (record.confidence, record.salience, record.version) == (0.8, 1.0, 1)
    assert record.lifecycle.last_reinforced_at == 5.0  # when the newest run ended
    assert record.triggers == (TriggerCounts("go_build+go_test+lint", None, 2, 0),)
    assert record.required_tools == ORDER
    assert [step.tool for step in record.recipe] == list(ORDER)


def test_nothing_new():
    """Changes nothing."""
    total = tally(True, True)
    assert follow(RULES, signature(total), created(total), 200.0) is NoChange.SAME


def test_new_successes_reinforce_once():
    """However many there are."""
    record = replace(created(tally(True, True)), salience=0.5)
    change = follow(RULES, signature(tally(*[True] * 9)), record, 200.0)
    assert isinstance(change, RecordUpdate)
    assert change.action is RecordAction.REINFORCED
    assert change.record.salience == pytest.approx(0.6)
    assert change.record.lifecycle.last_reinforced_at == 5.0
    by_hand = replace(record, lifecycle=replace(record.lifecycle, last_reinforced_at=150.0))
    change = follow(RULES, signature(tally(*[True] * 9)), by_hand, 200.0)
    assert change.record.lifecycle.last_reinforced_at == 150.0
    assert change.record.version == 2
    assert change.rationale == (
        "7 new successes, 0 new failures; 9 of 9 episodes succeeded; salience 0.5 to 0.6"
    )


def test_new_failures_only_count():
    """Salience and reinforcement stay."""
    record = created(tally(True, True))
    change = follow(RULES, signature(tally(True, True, False)), record, 200.0)
    assert isinstance(change, RecordUpdate)
    assert change.action is RecordAction.UPDATED
    assert (change.record.salience, change.record.lifecycle) == (record.salience, record.lifecycle)
    assert change.record.performance.failure_count == 1


@pytest.mark.parametrize("status", [Status.RETRACTED, Status.SUPERSEDED])
def test_what_was_given_up_stays_so(status):
    """New evidence is counted, and nothing else."""
    record = replace(created(tally(True, True)), status=status, salience=0.5)
    change = follow(RULES, signature(tally(True, True, True)), record, 200.0)
    assert isinstance(change, RecordUpdate)
    assert change.action is RecordAction.COUNTED
    assert (change.record.status, change.record.salience) == (status, 0.5)
    assert change.record.performance.success_count == 3
    assert change.rationale.endswith(f"it stays {status}")


def test_a_rebuild_adds_no_salience():
    """But counts follow."""
    record = replace(created(tally(True, True)), salience=0.5)
    change = follow_rebuilt(RULES, signature(tally(True, True, True)), record, 200.0)
    assert isinstance(change, RecordUpdate)
    assert (change.action, change.record.salience) == (RecordAction.UPDATED, 0.5)
    assert follow_rebuilt(RULES, signature(tally(True, True)), record, 200.0) is NoChange.SAME


def test_a_rebuild_removes_what_nothing_carries():
    """Unless it had been given up: that decision outlives the evidence."""
    record = created(tally(True, True))
    change = follow_rebuilt(RULES, signature(tally(True)), record, 200.0)
    assert isinstance(change, RecordUpdate)
    assert change.action is RecordAction.REMOVED
    retracted = replace(record, status=Status.RETRACTED)
    kept = follow_rebuilt(RULES, signature(EpisodeTally()), retracted, 200.0)
    assert isinstance(kept, RecordUpdate)
    assert (kept.action, kept.record.recipe) == (RecordAction.UPDATED, record.recipe)


EPISODES = st.lists(
    st.builds(
        Episode,
        order=st.permutations(ORDER).map(tuple),
        success=st.booleans(),
        ended_at=st.floats(0, 1e9),
        duration_ms=st.none() | st.integers(0, 10),
        signal=st.sampled_from([None, "a", "b"]),
        conditions=st.sampled_from([None, "{}", "1"]),
        failure_mode=st.sampled_from([None, "x", "y"]),
    ),
    max_size=12,
)


@given(EPISODES, st.data())
def test_neither_order_nor_batches_matter(episodes, data):
    """A tally is a sum, and a record is a function of it."""
    whole, first, second = EpisodeTally(), EpisodeTally(), EpisodeTally()
    for episode in episodes:
        whole.add(episode)
    for episode in data.draw(st.permutations(episodes)):
        data.draw(st.sampled_from([first, second])).add(episode)
    second.merge(first)
    assert second == whole
    assert follow(RULES, signature(second), None, 1.0) == follow(RULES, signature(whole), None, 1.0)


def test_ids_are_the_same_whenever_they_are_made():
    """And different in each project."""
    one = created(tally(True, True))
    other = follow(RULES, Signature("q", one.signature, tally(True, True)), None, 1.0)
    assert isinstance(other, RecordUpdate)
    assert one.id == created(tally(True, True, True)).id != other.record.id


def test_fallbacks_succeed_where_a_record_fails():
    """Active ones, with the same trigger, at a higher rate; the best first."""
    blank = created(tally(True, True))

    def record(id_: str, signal: str, successes: int, failures: int, **more: object) -> Competence:
        triggers = (TriggerCounts(signal, None, successes, failures),)
        return replace(blank, id=id_, triggers=triggers, **more)  # type: ignore[arg-type]

    found = fallbacks_among(
        [
            record("failing", "deploy", 1, 3),
            record("good", "deploy", 3, 1),
            record("best", "deploy", 2, 0),
            record("worse", "deploy", 1, 4),
            record("elsewhere", "other", 9, 0),
            record("gone", "deploy", 9, 0, status=Status.RETRACTED),
        ]
    )
    assert found["failing"] == ("best", "good")
    assert found["best"] == ()
    assert found["good"] == ("best",)
    assert found["elsewhere"] == ()
