"""Posteriors: a rate with an interval that holds as often as it says."""

import random
from fractions import Fraction
from math import comb, isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.estimates.posterior import (
    COVERAGE,
    DecayedTally,
    base_rate,
    beta_cdf,
    beta_quantile,
    posterior_of,
)

PARAMETER = st.floats(min_value=1e-3, max_value=30_000)


def seen(successes, runs):
    """A tally of fresh runs."""
    return DecayedTally(runs, successes, float(runs), float(successes), runs)


@pytest.mark.parametrize("x", [0.01, 0.2, 0.5, 0.77, 0.99])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 9), (7, 3), (30, 40)])
def test_the_distribution_is_the_binomial_one(x, a, b):
    """For whole parameters it is a tail of a binomial distribution, which is computed exactly."""
    n, share = a + b - 1, Fraction(x)
    tail = sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(a, n + 1))
    assert beta_cdf(x, a, b) == pytest.approx(float(tail), abs=1e-12)


@given(PARAMETER, PARAMETER, st.floats(min_value=0.01, max_value=0.99))
def test_a_quantile_is_where_that_share_lies_below(a, b, share):
    """To within a millionth of the rate, at any parameters."""
    x = beta_quantile(share, a, b)
    assert 0.0 <= x <= 1.0
    assert beta_cdf(x - 1e-6, a, b) <= share + 1e-9
    assert beta_cdf(x + 1e-6, a, b) >= share - 1e-9


def test_what_was_never_seen_has_the_rate_of_the_level_above():
    """Never 0.5 where successes are rare; and few runs do not make a certainty."""
    rare = base_rate(seen(6, 100))
    assert rare == pytest.approx(6.5 / 101)
    assert posterior_of(DecayedTally(), rare).mean == pytest.approx(rare)
    assert 0.5 < posterior_of(seen(2, 2), rare).mean + 0.2 < 0.9
    assert base_rate(DecayedTally()) == 0.5


def test_an_interval_covers_the_truth_as_often_as_it_says():
    """Over 2,000 simulated procedures, within four standard errors."""
    chance = random.Random(17)
    hits = 0
    for _ in range(2000):
        truth = chance.betavariate(3 * 0.4, 3 * 0.6)
        runs = chance.randrange(1, 30)
        successes = sum(chance.random() < truth for _ in range(runs))
        low, high = posterior_of(seen(successes, runs), 0.4).interval
        hits += low <= truth <= high
    error = (COVERAGE * (1 - COVERAGE) / 2000) ** 0.5
    assert abs(hits / 2000 - COVERAGE) < 4 * error


@given(
    st.floats(min_value=0.0, max_value=1e300),
    st.floats(min_value=0.0, max_value=1.0),
    st.floats(min_value=0.0, max_value=1.0),
)
def test_extreme_counts_give_finite_rates(runs, share, prior):
    """Counts as small and as large as floats get."""
    found = posterior_of(DecayedTally(1, 1, runs, runs * share), prior)
    assert all(isfinite(value) for value in (found.mean, *found.interval))
