"""When a pattern is inverted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.patterns.antipatterns import AntiPatternRules, is_inverted
from trackrecord.learning.patterns.evidence import Evidence

RULES = AntiPatternRules()


@pytest.mark.parametrize(
    ("helpful", "neutral", "harmful", "inverted"),
    [
        (2, 0, 5, True),
        (3, 0, 12, True),
        (0, 0, 2, False),
        (0, 0, 3, True),
        (2, 0, 3, True),  # exactly 60%
        (3, 0, 4, False),
        (1, 2, 0, True),  # neutral counts as failure
        (0, 3, 0, True),
        (0, 0, 0, False),
    ],
)
def test_inversion(helpful: int, neutral: int, harmful: int, inverted: bool) -> None:
    """At least three observations, at least 60% failures, raw."""
    assert is_inverted(RULES, Evidence(helpful, neutral, harmful)) is inverted


def test_neutral_outcomes_can_be_ignored() -> None:
    """Then they are no observations at all."""
    rules = AntiPatternRules(neutral_is_failure=False)
    assert rules.observations(Evidence(1, 2, 1)) == 2
    assert not is_inverted(rules, Evidence(1, 2, 0))
    assert not is_inverted(rules, Evidence(0, 2, 2))
    assert is_inverted(rules, Evidence(0, 2, 3))


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), st.floats(0, 10))
def test_age_does_not_matter(helpful: int, neutral: int, harmful: int, decayed: float) -> None:
    """Inversion looks at raw counts only."""
    fresh = Evidence(helpful, neutral, harmful, float(helpful), float(harmful))
    old = Evidence(helpful, neutral, harmful, decayed, decayed)
    assert is_inverted(RULES, fresh) is is_inverted(RULES, old)


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_success_never_inverts(helpful: int, harmful: int) -> None:
    """A pattern does not become an anti-pattern by succeeding, nor cease to be one by failing."""
    if harmful + helpful < 3:
        return
    if not is_inverted(RULES, Evidence(helpful, 0, harmful)):
        assert not is_inverted(RULES, Evidence(helpful + 1, 0, harmful))
    else:
        assert is_inverted(RULES, Evidence(helpful, 0, harmful + 1))
