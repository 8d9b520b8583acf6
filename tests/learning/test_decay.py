"""Decay: applied once, when read, and the same in whatever order outcomes came."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.numbers.decay import DAY, REBASE_AFTER_HALF_LIVES, DecayBasis, decayed

NOW = 1_800_000_000.0
ages = st.floats(0, 20 * 365 * DAY)


def test_thirty_days():
    """The example of the rules."""
    assert decayed(1.0, 30 * DAY, 90.0) == pytest.approx(0.7937, abs=5e-5)


def test_the_future_counts_as_now():
    """A clock that runs ahead makes nothing weigh more than it did."""
    assert decayed(3.0, -DAY, 90.0) == 3.0


@given(ages, ages)
def test_decay_composes(first, then):
    """Decaying twice is decaying once over the whole time."""
    twice = decayed(decayed(1.0, first, 90.0), then, 90.0)
    assert twice == pytest.approx(decayed(1.0, first + then, 90.0), rel=1e-9)


@given(st.lists(ages, max_size=50), st.randoms(use_true_random=False))
def test_a_sum_is_the_decayed_count_in_any_order(known, shuffler):
    """A stored sum gives the decayed count, however the outcomes were shuffled."""
    basis = DecayBasis(90.0, NOW - 400 * DAY)
    shuffled = known.copy()
    shuffler.shuffle(shuffled)
    total = sum(basis.weight(NOW - age) for age in shuffled)
    expected = sum(decayed(1.0, age, 90.0) for age in known)
    assert basis.value(total, NOW) == pytest.approx(expected, rel=1e-9)


def test_the_landmark_is_moved_before_floats_run_short():
    """At the moment a move falls due, weights are still far from what a float holds."""
    basis = DecayBasis(1.0, NOW)
    last = NOW + REBASE_AFTER_HALF_LIVES * DAY
    assert not basis.is_due_for_rebase(last)
    assert basis.is_due_for_rebase(last + 1)
    assert basis.weight(last) * 1e100 < float("inf")


def test_nothing_is_nothing_at_any_moment():
    """Asked about a moment so early that the factor has no float, an empty sum is still 0."""
    assert DecayBasis(0.01, NOW).value(0.0, 0.0) == 0.0
