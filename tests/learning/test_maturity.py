"""Maturity, and the score that patterns are ranked by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import (
    Maturity,
    MaturityRules,
    base_score,
    in_comparison,
    maturity_of,
    pattern_score,
)

RULES = MaturityRules()
masses = st.floats(0, 10_000)


def evidence(helpful: float, harmful: float) -> Evidence:
    return Evidence(decayed_helpful=helpful, decayed_harmful=harmful)


@pytest.mark.parametrize(
    ("helpful", "harmful", "state"),
    [
        (0, 0, "candidate"), (2, 0, "candidate"), (3, 0, "established"), (5, 0, "proven"),
        (6, 1, "proven"), (5, 1, "established"), (17, 3, "established"), (18, 3, "proven"),
        (7, 3, "established"), (2, 1, "deprecated"), (0, 2, "candidate"), (0, 3, "deprecated"),
        (2.991, 0, "established"), (2.98, 0, "candidate"),
        (4.991, 0, "proven"), (4.98, 0, "established"),
        (7.0, 3.0 + 1e-10, "established"), (7.0, 3.0 + 1e-6, "deprecated"),
        (17.0, 3.0 - 1e-10, "established"), (17.0, 3.0 - 1e-6, "proven"),
    ],
)  # fmt: skip
def test_examples_and_borders(helpful, harmful, state):
    """The examples of the rules; decayed counts tolerate 0.01, shares 1e-9."""
    assert maturity_of(RULES, evidence(helpful, harmful)) == state


def test_no_weight_makes_a_pattern_trusted_against_its_tasks():
    """Recent successes, or a hundred helpful verdicts, beside twelve failures among twenty-one."""
    for told in (0, 100):
        known = Evidence(9 + told, 0, 12, 9.0 + told, 1.0, 9, told, told)
        assert maturity_of(RULES, known) is Maturity.CANDIDATE


@pytest.mark.parametrize("state", Maturity)
@pytest.mark.parametrize("goes_worse", [None, True, False])
def test_a_comparison_trusts_and_deprecates_nothing_that_it_contradicts(state, goes_worse):
    """It never makes a state better or worse than a candidate; without one the counts decide."""
    judged = in_comparison(state, goes_worse)
    assert judged in (state, Maturity.CANDIDATE)
    if goes_worse is None:
        assert judged is state
    elif goes_worse:
        assert judged in (Maturity.CANDIDATE, Maturity.DEPRECATED)
    else:
        assert judged is not Maturity.DEPRECATED


@given(st.integers(0, 1000), masses, masses)
def test_neutral_feedback_changes_nothing(neutral, helpful, harmful):
    """Neither the state nor the score."""
    without = evidence(helpful, harmful)
    with_neutral = Evidence(
        neutral=neutral, decayed_helpful=helpful, decayed_harmful=harmful, feedback=neutral
    )
    state = maturity_of(RULES, without)
    assert maturity_of(RULES, with_neutral) is state
    assert pattern_score(RULES, with_neutral, state) == pattern_score(RULES, without, state)


@pytest.mark.parametrize(
    ("state", "multiplier"),
    [("proven", 1.5), ("established", 1.0), ("candidate", 0.5), ("deprecated", 0.0)],
)
def test_the_score_is_base_times_multiplier(state, multiplier):
    """A deprecated pattern scores 0."""
    known = evidence(9, 1)
    assert pattern_score(RULES, known, Maturity(state)) == base_score(known) * multiplier


def test_one_lucky_run_does_not_beat_a_hundred_good_ones():
    """What the cautious estimate is for."""
    lucky, good, fair = evidence(1, 0), evidence(95, 5), evidence(60, 40)
    assert base_score(lucky) < base_score(fair) < base_score(good)
    assert [round(base_score(each), 2) for each in (lucky, fair, good)] == [0.21, 0.5, 0.89]


@given(masses, masses)
def test_the_estimate_is_cautious(helpful, harmful):
    """It lies in 0..1 and never above the plain share."""
    known = evidence(helpful, harmful)
    assert 0 <= base_score(known) <= 1
    assert base_score(known) <= 1 - known.harmful_share + 1e-9


@given(st.integers(0, 2000), st.integers(0, 2000), st.integers(1, 50))
def test_more_success_scores_higher_and_more_failure_lower(helpful, harmful, more):
    """The estimate rises with helpful evidence and falls with harmful."""
    base = base_score(evidence(helpful, harmful))
    assert base_score(evidence(helpful + more, harmful)) >= base - 1e-12
    assert base_score(evidence(helpful, harmful + more)) <= base + 1e-12
