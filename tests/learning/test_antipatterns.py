"""When a pattern is inverted."""

import pytest

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
def test_inversion(succeeded, failed, inverted):
    """At least three tasks, at least 60% failures, raw."""
    assert is_inverted(RULES, tasks(succeeded, failed)) is inverted


def test_feedback_speaks_for_a_pattern_and_makes_no_failures():
    """Tasks that succeeded are never "Failed 5/7"; what people find helpful is not warned of."""
    assert not is_inverted(RULES, tasks(7, 0, harmful=30))
    assert not is_inverted(RULES, tasks(1, 3, helpful=3))
    assert is_inverted(RULES, tasks(1, 3, helpful=1))
