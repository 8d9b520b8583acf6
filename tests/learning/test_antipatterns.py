"""When a pattern is inverted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, is_inverted

RULES = AntiPatternRules()


def tasks(succeeded: int, failed: int, helpful: int = 0, harmful: int = 0) -> Evidence:
    """The evidence of tasks, and of feedback."""
    told = helpful + harmful
    return Evidence(
        succeeded + helpful, 0, failed + harmful,
        succeeded=succeeded, feedback=told, helpful_feedback=helpful,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("succeeded", "failed", "inverted"),
    [
        (2, 5, True),
        (3, 12, True),
        (0, 2, False),
        (0, 3, True),
        (2, 3, True),  # exactly 60%
        (3, 4, False),
        (0, 0, False),
    ],
)
def test_inversion(succeeded: int, failed: int, inverted: bool) -> None:
    """At least three tasks, at least 60% failures, raw."""
    assert is_inverted(RULES, tasks(succeeded, failed)) is inverted


def test_feedback_speaks_for_a_pattern_and_makes_no_failures() -> None:
    """Tasks that succeeded are never "Failed 5/7"; what people find helpful is not warned of."""
    assert not is_inverted(RULES, tasks(7, 0, harmful=30))
    assert not is_inverted(RULES, tasks(1, 3, helpful=3))
    assert is_inverted(RULES, tasks(1, 3, helpful=1))


@given(st.integers(0, 500), st.integers(0, 500), st.floats(0, 10))
def test_age_does_not_matter(succeeded: int, failed: int, decayed: float) -> None:
    """Inversion looks at raw counts only."""
    fresh = Evidence(succeeded, 0, failed, float(succeeded), float(failed), succeeded)
    old = Evidence(succeeded, 0, failed, decayed, decayed, succeeded)
    assert is_inverted(RULES, fresh) is is_inverted(RULES, old)


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_success_never_inverts(succeeded: int, failed: int) -> None:
    """A pattern does not become an anti-pattern by succeeding, nor cease to be one by failing."""
    if succeeded + failed < 3:
        return
    if not is_inverted(RULES, tasks(succeeded, failed)):
        assert not is_inverted(RULES, tasks(succeeded + 1, failed))
    else:
        assert is_inverted(RULES, tasks(succeeded, failed + 1))
