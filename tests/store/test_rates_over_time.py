"""Rates over time: at each moment the value that `--at` gives for it, from one walk."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.teaching import CRITERIA, DAY, NOW, outcome, teach
from trackrecord.errors import InvalidRequest, UnknownProject
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.patterns.maturity import base_score
from trackrecord.resources.access.project_store import ProjectStore, Transaction, given_stores
from trackrecord.resources.experience.criteria import criteria_of
from trackrecord.resources.experience.memories import list_memories
from trackrecord.resources.experience.patterns import patterns_of
from trackrecord.resources.experience.rates_over_time import (
    MOST_MOMENTS,
    criterion_rates,
    evenly,
    memory_confidences,
    pattern_rates,
)
from trackrecord.settings.daemon_settings import load_daemon_settings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.write import confirm, reject, remember
from trackrecord.store.outcomes.feedback.feedback import GivenFeedback

SETTINGS = replace(load_daemon_settings(), criteria=CRITERIA)
SLUGS = ["x", "y", "gone", "told"]
NAMES = [*CRITERIA.defaults, "tone", "unknown"]


def give(store, number, says, subject, name, at):
    verdict = GivenFeedback(f"f{number}", subject, name, Verdict(says), at - 5 * DAY, at)
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        take_in_feedback(connection, project_id, [verdict], SETTINGS.rules, now=at)


def named(number, at, *, helpful=True, ended=0.0, **fields):
    fields = {"patterns": ["x"], "timestamp": at - ended * DAY, **fields}
    return outcome(number, helpful=helpful, received=at, **fields)


def assert_as_of_each_moment(store, moments):
    """The rates, the intervals and the evidence are those of the answers for each moment."""
    with reading(store) as connection:
        patterns = pattern_rates(connection, "default", SLUGS, moments)
        criteria = criterion_rates(connection, SETTINGS, "default", NAMES, moments)
        for number, at in enumerate(moments):
            it = Transaction(connection, SETTINGS, "default", at)
            found = patterns_of(it)
            expected = {each.standing.facts.slug: each.standing.evidence for each in found}
            _assert_same({name: rates[number] for name, rates in patterns.items()}, expected)
            for slug, evidence in expected.items():
                low = patterns[slug][number].low
                assert (low or 0.0) == pytest.approx(base_score(evidence))
            listed = criteria_of(it)
            weighed = {each.name: each.standing.evidence for each in listed}
            _assert_same({name: rates[number] for name, rates in criteria.items()}, weighed)


def _assert_same(then, expected):
    """Check that the rates are equal; without a verdict there is none."""
    assert {name for name, rate in then.items() if rate.rate is not None} == {
        name for name, evidence in expected.items() if evidence.helpful + evidence.harmful
    }
    for name, evidence in expected.items():
        if evidence.helpful + evidence.harmful:
            low, high = wilson_interval(evidence.decayed_helpful, evidence.decayed_harmful)
            assert then[name].rate == pytest.approx(evidence.helpful_share)
            assert then[name].low == pytest.approx(low)
            assert then[name].high == pytest.approx(high)
            assert then[name].evidence == pytest.approx(evidence.decayed_total)


def test_rates_are_those_of_each_moment(store):
    """With amendments that take an outcome away, feedback, and what came at the moment itself."""
    teach(store, [named(1, NOW), named(2, NOW + DAY, helpful=False, ended=30)])
    teach(store, [named(3, NOW + 2 * DAY, criteria={"tone": "harmful"})])
    give(store, 1, "helpful", "pattern", "told", NOW + 3 * DAY)
    give(store, 2, "harmful", "criterion", "tone", NOW + 3 * DAY)
    give(store, 3, "helpful", "criterion", "no_bugs", NOW + 4 * DAY)
    teach(
        store,
        [
            named(4, NOW + 5 * DAY, patterns=["gone"]),
            named(5, NOW + 5 * DAY, patterns=["told", "y"], helpful=False),
        ],
    )
    teach(
        store,
        [named(4, NOW + 7 * DAY, patterns=["y"], tool_graph=[{"tool": "a"}])],
        now=NOW + 7 * DAY,
    )
    moments = [NOW - DAY, *(NOW + half * DAY / 2 for half in range(18)), NOW + 400 * DAY]
    assert_as_of_each_moment(store, moments)
    with reading(store) as connection:
        gone = pattern_rates(connection, "default", ["gone"], moments)["gone"]
    # On record from the fifth day to the seventh.
    assert [rate.at for rate in gone if rate.rate] == [NOW + day * DAY for day in (5, 5.5, 6, 6.5)]


RECEIVED = st.integers(0, 40).map(lambda quarter: NOW + quarter * DAY / 4)
EVENTS = st.lists(
    st.tuples(st.integers(1, 4), RECEIVED, st.sampled_from(["x", "y", "gone"]), st.booleans(),
              st.integers(0, 200)),
    min_size=1, max_size=8,
)  # fmt: skip


@settings(max_examples=15)
@given(EVENTS, st.integers(1, 12))
def test_rates_are_those_of_each_moment_whatever_came(memory_store, events, count):
    """Reports of the same outcome are joined; the later one replaces the record."""
    store = memory_store()
    for received, group in sorted({(each[1], each) for each in events}):
        number, _, slug, helpful, ended = group
        report = named(number, received, helpful=helpful, ended=ended, patterns=[slug])
        teach(store, [report], now=received)
    assert_as_of_each_moment(store, evenly(NOW - DAY, NOW + 11 * DAY, count))
    store.dispose()


def test_a_memorys_confidence_is_that_of_each_moment(store):
    """It decays between the changes that its history keeps."""
    rules = MemoryRules()
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        for number, name in enumerate(("m1", "m2")):
            text = f"{name} says that the staging database number {number} refuses long queries"
            remember(connection, project_id, text, memory_id=name, rules=rules, now=NOW)
    for day, change in ((2, confirm), (9, reject), (9, reject), (30, confirm)):
        with writing(store) as connection:
            change(connection, project_id, "m1", rules=rules, now=NOW + day * DAY)
    moments = evenly(NOW - DAY, NOW + 60 * DAY, 25)
    with reading(store) as connection:
        found = memory_confidences(connection, SETTINGS, "default", ["m1", "m2", "m3"], moments)
    assert found.keys() == {"m1", "m2"}
    for number, at in enumerate(moments):
        with given_stores.within(ProjectStore(store, SETTINGS, "default")):
            known = {each.id: each.effective_confidence for each in list_memories(at=at)}
        then = {name: rates[number].rate for name, rates in found.items()}
        assert then == {name: known.get(name) for name in found}


def test_a_large_project_is_asked_within_bounds(store):
    """Of too much one line says so, and nothing is read."""
    teach(store, [named(1, NOW)])
    with reading(store) as connection:
        with pytest.raises(InvalidRequest, match="at most 500 rates at 200 moments"):
            pattern_rates(connection, "default", ["x"], [NOW] * (MOST_MOMENTS + 1))
        with pytest.raises(InvalidRequest, match="must rise"):
            pattern_rates(connection, "default", ["x"], [NOW + 1, NOW])
        with pytest.raises(UnknownProject):
            pattern_rates(connection, "nowhere", ["x"], [NOW])
        assert pattern_rates(connection, "default", ["unknown"], [NOW]) == {}


@pytest.mark.parametrize("count", [1, 2, 60])
def test_moments_lie_at_equal_distances(count):
    """The first and the last are those that were given, and they rise."""
    moments = evenly(0.1, 1.3, count)
    assert len(moments) == count
    assert moments[-1] == 1.3
    assert count == 1 or moments[0] == 0.1
    assert moments == sorted(set(moments))


def test_a_number_of_moments_is_bounded():
    """A span without a length has one moment."""
    assert evenly(5.0, 5.0, 9) == [5.0]
    for count in (0, MOST_MOMENTS + 1):
        with pytest.raises(InvalidRequest):
            evenly(0.0, 1.0, count)
