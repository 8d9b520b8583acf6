"""Criteria: weights, the floor, deprecation, and how evidence ages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.criteria.weights import (
    CriteriaRules,
    CriterionEvidence,
    criterion_standing,
    feedback_value,
    formula_weight,
    is_criterion_deprecated,
)
from trackrecord.learning.numbers.decay import DAY, decayed
from trackrecord.learning.outcomes.scoring import Verdict

RULES = CriteriaRules()


def feedback(*given: tuple[str, float], value: float = 1.0) -> CriterionEvidence:
    """Evidence from (verdict, age in days)."""
    masses = {"helpful": 0.0, "harmful": 0.0, "neutral": 0.0}
    counts = dict.fromkeys(masses, 0)
    for verdict, days in given:
        masses[verdict] += decayed(value, days * DAY, 90.0)
        counts[verdict] += 1
    return CriterionEvidence(
        counts["helpful"], counts["neutral"], counts["harmful"], masses["helpful"],
        masses["harmful"], 0.0 if given else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("evidence", "formula", "weight", "deprecated"),
    [
        (feedback(("helpful", 0), ("harmful", 90)), 0.6667, 0.6667, False),
        (feedback(("helpful", 180), ("harmful", 0)), 0.20, 0.20, False),
        (feedback(("helpful", 0), *[("harmful", 0)] * 20), 0.10, 0.0, True),
        (feedback(*[("helpful", 0)] * 7, *[("harmful", 0)] * 3), 0.7, 0.7, False),
        (feedback(*[("helpful", 0)] * 2, ("harmful", 0)), 0.6667, 0.0, True),
        (feedback(), 1.0, 1.0, False),
        (feedback(*[("neutral", 0)] * 5), 1.0, 1.0, False),
        (feedback(("harmful", 0), ("harmful", 0)), 0.1, 0.1, False),
    ],
)
def test_examples(evidence, formula, weight, deprecated):
    """The examples of the rules, and their borders."""
    standing = criterion_standing(RULES, "readable", evidence)
    assert standing.formula_weight == pytest.approx(formula, abs=5e-5)
    assert standing.weight == pytest.approx(weight, abs=5e-5)
    assert standing.deprecated is deprecated


@pytest.mark.parametrize(
    ("verdict", "raw_score", "value"),
    [("helpful", 0.78, 0.78), ("harmful", 0.14, 0.86), ("neutral", 0.54, 0.0)],
)
def test_the_value_of_an_outcomes_own_verdict(verdict, raw_score, value):
    """The raw score when helpful, what is missing to 1 when harmful, nothing when neutral."""
    assert feedback_value(Verdict(verdict), raw_score) == pytest.approx(value)


def test_the_ratio_does_not_age_but_the_evidence_does():
    """Ten helpful reports of long ago still weigh 1, and are marked as little evidence."""
    old = criterion_standing(RULES, "readable", feedback(*[("helpful", 360)] * 10))
    fresh = criterion_standing(RULES, "readable", feedback(*[("helpful", 0)] * 10))
    assert old.weight == fresh.weight == 1.0
    assert (old.has_little_evidence, fresh.has_little_evidence) == (True, False)
    assert old.evidence.decayed_total == pytest.approx(10 / 16)


@pytest.mark.parametrize(("mass", "little"), [(2.98, True), (2.991, False), (3.0, False)])
def test_what_counts_as_little_evidence(mass, little):
    """Fewer than three, with the tolerance of decayed counts."""
    evidence = CriterionEvidence(helpful=4, decayed_helpful=mass)
    assert criterion_standing(RULES, "x", evidence).has_little_evidence is little


def test_feedback_too_faint_for_a_float_still_has_its_counts():
    """No division by nothing, and no weight of 1 for what only ever hurt."""
    assert formula_weight(CriterionEvidence(helpful=1, harmful=3)) == 0.25
    assert formula_weight(CriterionEvidence(harmful=3)) == 0.1


@given(st.integers(0, 100), st.integers(0, 100), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_weights_lie_between_the_floor_and_one(helpful, harmful, helpful_mass, harmful_mass):
    """And deprecation overrides the floor."""
    evidence = CriterionEvidence(
        helpful, 0, harmful, helpful_mass * (helpful > 0), harmful_mass * (harmful > 0)
    )
    standing = criterion_standing(RULES, "x", evidence)
    assert 0.1 <= standing.formula_weight <= 1.0
    assert standing.weight == (0.0 if standing.deprecated else standing.formula_weight)
    assert standing.deprecated is is_criterion_deprecated(RULES, evidence)
