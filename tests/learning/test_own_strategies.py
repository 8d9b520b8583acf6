"""A project's own strategies, from settings to what an outcome touches."""

import json

import pytest

from trackrecord.errors import SettingsError
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.strategies.catalogue import Strategy
from trackrecord.settings.settings import load_settings
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import recogniser_of, scorer_of

OWN = [{"name_en": "Split by tenant", "name_zh": "按租户拆分", "splits_by": ["tenant", "租户"]}]
SLUG = "split-by-tenant"


def touched(settings, **fields):
    body = json.dumps({"task_id": "t", "success": True, **fields}).encode()
    scored = scorer_of(settings.rules).score(
        decode_outcome(body), body, received_at=1.0, outcome_id="o"
    )
    return [(each.slug, each.kind) for each in scored.touches]


@pytest.mark.parametrize(
    "fields",
    [
        {"description": "We group the work per tenant."},
        {"description": "我们按租户拆分。"},
        {"strategy": "按租户拆分"},
        {"strategy": "split by TENANT"},
    ],
)
def test_they_are_recognised_like_the_twelve(monkeypatch, fields):
    """In prose and by name, in both languages, under one slug."""
    assert touched(load_settings(), description="We group the work per tenant.") == []
    monkeypatch.setenv("TRACKRECORD_STRATEGIES", json.dumps(OWN))
    assert touched(load_settings(), **fields) == [(SLUG, "strategy")]


def test_from_a_file(tmp_path, monkeypatch):
    """Each is a table of its own in TOML."""
    file = tmp_path / "own.toml"
    file.write_text(
        '[[strategies]]\nname_en = "Split by tenant"\nsplits_by = ["tenant"]\n'
        '[criteria]\ndefaults = ["kind"]\n'
    )
    monkeypatch.setenv("TRACKRECORD_CONFIG", str(file))
    settings = load_settings()
    assert settings.strategies == (Strategy("Split by tenant", splits_by=("tenant",)),)
    assert settings.criteria == CriteriaRules(defaults=("kind",))
    assert settings.strategies[0] in recogniser_of(settings.rules).strategies


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("STRATEGIES", '[{"name_en": "Split by component"}]', "split-by-component"),
        ("STRATEGIES", '[{"name_en": "x"}, {"name_en": "X"}]', "'x'"),
        ("STRATEGIES", '[{"name_en": "!"}]', "name_en"),
        ("STRATEGIES", '[{"name_en": "x", "phrases": ["(("]}]', "phrases"),
        ("STRATEGIES", '[{"colour": "x"}]', "colour"),
        ("STRATEGIES", "split by tenant", "strategies"),
        ("CRITERIA__DEFAULTS", "kind", "defaults"),
        ("CRITERIA__DEFAULTS", '["a", "a"]', "defaults"),
        ("CRITERIA__DEFAULTS", '[" a"]', "defaults"),
        ("CRITERIA__DEFAULTS", "[1]", "defaults"),
        ("CRITERIA__MIN_FEEDBACK", "0", "min_feedback"),
        ("CRITERIA__DEPRECATED_ABOVE", "-0.1", "deprecated_above"),
    ],
)
def test_what_makes_no_sense_is_named(monkeypatch, variable, value, named):
    """One line, with the setting and what is wrong with it."""
    monkeypatch.setenv(f"TRACKRECORD_{variable}", value)
    with pytest.raises(SettingsError, match=named) as caught:
        load_settings()
    assert "\n" not in str(caught.value)
