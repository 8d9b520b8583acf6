"""Numbers that make no sense are refused when the rules are built, and the field is named."""

from collections.abc import Callable
from dataclasses import fields
from math import inf, nan

import pytest

from trackrecord.errors import SettingsError
from trackrecord.inflight.rules import MOST_STRIKES, ErrorRules
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.numbers.decay import DecayRules
from trackrecord.learning.outcomes.scoring import ScoringRules
from trackrecord.learning.patterns.maturity import AntiPatternRules, MaturityRules
from trackrecord.settings.setting_values import settings_of
from trackrecord.settings.settings import load_settings

BAD: list[tuple[str, Callable[..., object], str, float]] = [
    ("scoring", ScoringRules, "success_weight", 0.5),
    ("scoring", ScoringRules, "success_weight", -0.4),
    ("scoring", ScoringRules, "duration_weight", 1.2),
    ("scoring", ScoringRules, "errors_weight", nan),
    ("scoring", ScoringRules, "retries_weight", inf),
    ("scoring", ScoringRules, "fast_ms", 1_800_000),
    ("scoring", ScoringRules, "fast_ms", -1),
    ("scoring", ScoringRules, "slow_ms", 1),
    ("scoring", ScoringRules, "duration_middle", 1.1),
    ("scoring", ScoringRules, "duration_low", -0.1),
    ("scoring", ScoringRules, "errors_middle", 2.0),
    ("scoring", ScoringRules, "errors_low", nan),
    ("scoring", ScoringRules, "retries_middle", 2.0),
    ("scoring", ScoringRules, "retries_low", -1.0),
    ("scoring", ScoringRules, "few_errors", 0),
    ("scoring", ScoringRules, "few_retries", 0),
    ("scoring", ScoringRules, "helpful_from", 0.4),
    ("scoring", ScoringRules, "harmful_to", 0.7),
    ("decay", DecayRules, "half_life_days", 0.0),
    ("decay", DecayRules, "half_life_days", -1.0),
    ("decay", DecayRules, "half_life_days", inf),
    ("decay", DecayRules, "half_life_days", nan),
    ("maturity", MaturityRules, "min_evidence", 0.0),
    ("maturity", MaturityRules, "proven_from", -1.0),
    ("maturity", MaturityRules, "deprecated_above", 1.1),
    ("maturity", MaturityRules, "deprecated_above", 0.1),
    ("maturity", MaturityRules, "proven_below", 0.31),
    ("maturity", MaturityRules, "proven_multiplier", 0.9),
    ("maturity", MaturityRules, "proven_multiplier", inf),
    ("maturity", MaturityRules, "established_multiplier", 2.0),
    ("maturity", MaturityRules, "candidate_multiplier", nan),
    ("maturity", MaturityRules, "deprecated_multiplier", -0.1),
    ("antipatterns", AntiPatternRules, "min_observations", 0),
    ("antipatterns", AntiPatternRules, "failure_share", 0.0),
    ("antipatterns", AntiPatternRules, "failure_share", 1.5),
    ("antipatterns", AntiPatternRules, "failure_share", 1e-9),
    ("scoring", ScoringRules, "harmful_to", 0.7 - 1e-9),
    ("maturity", MaturityRules, "min_evidence", 0.01),
    ("criteria", CriteriaRules, "min_feedback", 0),
    ("criteria", CriteriaRules, "deprecated_above", -0.3),
    ("errors", ErrorRules, "strikes", 0),
    ("errors", ErrorRules, "strikes", MOST_STRIKES + 1),
    ("errors", ErrorRules, "retention_s", 0),
]


def test_every_number_can_be_refused():
    """None of them is taken as it comes; what is true or false, and names, are tested elsewhere."""
    kinds = (ScoringRules, DecayRules, MaturityRules, AntiPatternRules, CriteriaRules, ErrorRules)
    numbers = {
        (kind, each.name)
        for kind in kinds
        for each in fields(kind)
        if each.name in settings_of(kind) and type(each.default) in (int, float)
    }
    assert numbers == {(kind, field) for _, kind, field, _ in BAD}


@pytest.mark.parametrize(("group", "rules", "field", "value"), BAD)
def test_refused_from_the_environment(group, rules, field, value, monkeypatch):
    """One line that names the setting's group and field."""
    monkeypatch.setenv(f"TRACKRECORD_{group}__{field}".upper(), str(value))
    with pytest.raises(SettingsError, match=field) as caught:
        load_settings()
    assert group in str(caught.value)
    assert "\n" not in str(caught.value)
