"""Scoring one outcome."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.outcomes.scoring import (
    ScoringRules,
    Verdict,
    reasoning,
    score_outcome,
    verdict_of,
)

RULES = ScoringRules()
MINUTE = 60_000

counts = st.none() | st.integers(0, 2**53)


@pytest.mark.parametrize(
    ("success", "minutes", "errors", "retries", "raw", "verdict"),
    [
        (True, 3, 0, 0, 1.00, Verdict.HELPFUL),
        (True, 15, 1, 1, 0.78, Verdict.HELPFUL),
        (True, 40, 5, 3, 0.54, Verdict.NEUTRAL),
        (False, 3, 0, 0, 0.60, Verdict.NEUTRAL),
        (False, 60, 5, 3, 0.14, Verdict.HARMFUL),
        (True, 15, 1, 2, 0.70, Verdict.HELPFUL),
    ],
)
def test_examples(success, minutes, errors, retries, raw, verdict):
    """The examples of the rules; the last one is helpful although floats make it 0.69999."""
    score = score_outcome(
        RULES,
        success=success,
        duration_ms=minutes * MINUTE,
        error_count=errors,
        retry_count=retries,
    )
    assert score.raw_score == pytest.approx(raw, abs=1e-12)
    assert score.verdict is verdict


@pytest.mark.parametrize(
    ("duration_ms", "signal"),
    [(0, 1.0), (299_999, 1.0), (300_000, 0.6), (1_800_000, 0.6), (1_800_001, 0.2)],
)
def test_borders_of_duration(duration_ms, signal):
    """Fast ends before 5 minutes; 30 minutes are still middling."""
    assert score_outcome(RULES, success=True, duration_ms=duration_ms).components == {
        "success": 1.0,
        "duration": signal,
    }


@pytest.mark.parametrize(("errors", "signal"), [(0, 1.0), (1, 0.6), (2, 0.6), (3, 0.2)])
def test_borders_of_errors(errors, signal):
    """One or two errors are few."""
    assert score_outcome(RULES, success=True, error_count=errors).components["errors"] == signal


@pytest.mark.parametrize(("retries", "signal"), [(0, 1.0), (1, 0.7), (2, 0.3)])
def test_borders_of_retries(retries, signal):
    """One retry is middling."""
    assert score_outcome(RULES, success=True, retry_count=retries).components["retries"] == signal


def test_unobserved_signals_take_no_part():
    """The weights of what was observed are scaled to 1, and the score says what it rests on."""
    assert score_outcome(RULES, success=True).raw_score == 1.0
    assert score_outcome(RULES, success=False).verdict is Verdict.HARMFUL
    partial = score_outcome(RULES, success=False, duration_ms=0)
    assert partial.raw_score == pytest.approx(0.2 / 0.6)
    assert list(partial.components) == ["success", "duration"]
    assert reasoning(partial) == "harmful at 0.33 from success 0.0, duration 1.0"


@pytest.mark.parametrize(
    ("raw", "verdict"),
    [
        (0.7, Verdict.HELPFUL),
        (0.7 - 1e-10, Verdict.HELPFUL),
        (0.7 - 1e-8, Verdict.NEUTRAL),
        (0.4, Verdict.HARMFUL),
        (0.4 + 1e-10, Verdict.HARMFUL),
        (0.4 + 1e-8, Verdict.NEUTRAL),
    ],
)
def test_thresholds_tolerate_floats(raw, verdict):
    """Comparisons tolerate 1e-9, not more."""
    assert verdict_of(RULES, raw) is verdict


@given(st.booleans(), counts, counts, counts)
def test_a_score_lies_between_0_and_1(success, duration, errors, retries):
    """Whatever was observed."""
    score = score_outcome(
        RULES, success=success, duration_ms=duration, error_count=errors, retry_count=retries
    )
    assert -1e-9 <= score.raw_score <= 1 + 1e-9
    assert all(0 <= value <= 1 for value in score.components.values())


@given(
    st.integers(0, 2**40), st.integers(0, 9), st.integers(0, 9),
    st.integers(0, 2**40), st.integers(0, 9), st.integers(0, 9),
)  # fmt: skip
def test_worse_never_scores_better(duration, errors, retries, longer, more, again):
    """A longer task with more errors and retries, or a failed one, scores no higher."""
    better = score_outcome(
        RULES, success=True, duration_ms=duration, error_count=errors, retry_count=retries
    )
    for success in (True, False):
        worse = score_outcome(
            RULES,
            success=success,
            duration_ms=duration + longer,
            error_count=errors + more,
            retry_count=retries + again,
        )
        assert worse.raw_score <= better.raw_score + 1e-12
