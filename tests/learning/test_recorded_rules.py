"""When a rebuild is due: after a change of what recorded numbers depend on, and of nothing else."""

import json

import pytest

from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.criteria.weights import CriteriaRules
from trackrecord.learning.numbers.decay import HalfLives
from trackrecord.learning.outcomes.recorded_rules import Recorded, RecordedRules, why_rebuild
from trackrecord.learning.outcomes.scoring import ScoringRules
from trackrecord.learning.strategies.catalogue import Strategy

USUAL = HalfLives(90.0, 90.0)
NOTED = Recorded(RecordedRules().as_json(), mixed=False, half_lives=USUAL)


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        (
            RecordedRules(scoring=ScoringRules(fast_ms=1000)),
            "scoring.fast_ms: recorded with 300000, the setting is 1000",
        ),
        (
            RecordedRules(criteria=CriteriaRules(defaults=("safe",))),
            ('criteria.defaults: recorded with [], the setting is ["safe"]'),
        ),
        (
            RecordedRules(competence=CompetenceRules(keep_repeats=True)),
            "competence.keep_repeats: recorded with false, the setting is true",
        ),
        (
            RecordedRules(strategies=(Strategy("By moon"),)),
            "strategies: other strategies were recognised",
        ),
    ],
)
def test_what_differs_is_named(rules, line):
    """Each number with both values."""
    assert why_rebuild(NOTED, rules, USUAL) == (line,)


@pytest.mark.parametrize(
    "rules",
    [
        RecordedRules(),
        RecordedRules(criteria=CriteriaRules(min_feedback=5, deprecated_above=0.5)),
        RecordedRules(competence=CompetenceRules(min_successes=5)),
    ],
)
def test_what_is_derived_when_read_needs_none(rules):
    """Nor do the same rules: thresholds take effect at once."""
    assert why_rebuild(NOTED, rules, USUAL) == ()


def test_what_became_a_setting_later_was_its_default_until_then():
    """An upgrade asks for no rebuild that would change nothing."""
    then = json.loads(NOTED.rules)
    del then["scoring.few_errors"]
    earlier = json.dumps(then)
    assert (
        why_rebuild(Recorded(earlier, mixed=False, half_lives=USUAL), RecordedRules(), USUAL) == ()
    )
    assert RecordedRules().gave(earlier)
    other = RecordedRules(scoring=ScoringRules(few_errors=3))
    assert not other.gave(earlier)
    assert why_rebuild(Recorded(earlier, mixed=False, half_lives=USUAL), other, USUAL) == (
        "scoring.few_errors: recorded with 2, the setting is 3",
    )
    assert not RecordedRules().gave("{}")


def test_a_number_that_is_a_setting_no_more():
    """What it was recorded with may not be what holds now: a rebuild is due."""
    other = json.dumps(json.loads(NOTED.rules) | {"scoring.tolerance": 0.01})
    assert not RecordedRules().gave(other)
    assert why_rebuild(Recorded(other, mixed=False, half_lives=USUAL), RecordedRules(), USUAL) == (
        "scoring.tolerance: recorded with 0.01, a setting that has been removed",
    )


def test_half_life_mixture_and_ignorance_are_reasons():
    """Sums of another half-life, outcomes of several rules, and numbers of an earlier version."""
    assert why_rebuild(NOTED, RecordedRules(), HalfLives(30.0, 30.0)) == (
        "decay.half_life_days: sums were computed with 90, the setting is 30",
    )
    assert why_rebuild(NOTED, RecordedRules(), HalfLives(90.0, 30.0)) == (
        "criteria.half_life_days: sums were computed with 90, the setting is 30",
    )
    assert why_rebuild(NOTED, RecordedRules(), HalfLives(60.0, 30.0)) == (
        "maturity.half_life_days: sums were computed with 90, the setting is 60",
        "criteria.half_life_days: sums were computed with 90, the setting is 30",
    )
    mixed = Recorded(NOTED.rules, mixed=True, half_lives=USUAL)
    assert len(why_rebuild(mixed, RecordedRules(), USUAL)) == 1
    unknown = Recorded("{}", mixed=True, half_lives=USUAL)
    assert why_rebuild(unknown, RecordedRules(), USUAL) == (
        "the recorded numbers were learnt by an earlier version",
    )
