"""A rebuild finds what was learnt."""

from dataclasses import replace

import pytest

from tests.store.teaching import DAY, NOW, RULES, outcome, rebuild, standings, teach
from trackrecord.learning.numbers.decay import DecayRules
from trackrecord.learning.patterns.maturity import MaturityRules
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.recorded_rules import rebuilds_due


def test_patterns_and_criteria_age_by_half_lives_of_their_own(store):
    """From the first outcome on, and after a rebuild."""
    rules = replace(
        RULES,
        maturity=MaturityRules(half_life_days=30),
        criteria=replace(RULES.criteria, half_life_days=180),
    )
    given = [outcome(1, patterns=["x"], criteria={"own": "helpful"}, timestamp=NOW - 90 * DAY)]
    teach(store, given, rules=rules)

    def masses():
        with reading(store) as connection:
            project_id = project_id_of(connection, "default")
            (own,) = read_criteria(connection, project_id, rules.criteria, now=NOW, name="own")
        return standings(store)["x"].evidence.decayed_helpful, own.evidence.decayed_helpful

    expected = pytest.approx((2**-3, 2**-0.5))
    assert masses() == expected
    teach(store, given, rules=RULES)
    rebuild(store, rules)
    assert masses() == expected
    # Without settings of their own both follow the one for all evidence.
    rebuild(store, replace(RULES, decay=DecayRules(45)))
    assert masses() == pytest.approx((2**-2, 2**-2))


def test_a_changed_half_life_of_one_kind_waits_for_a_rebuild(store):
    """Until then its sums keep theirs, for further outcomes, too; the store knows it is due."""
    teach(store, [outcome(1, criteria={"own": "helpful"}, timestamp=NOW - 90 * DAY)])
    changed = replace(RULES, criteria=replace(RULES.criteria, half_life_days=45))
    teach(store, [outcome(2, criteria={"own": "helpful"}, timestamp=NOW - 90 * DAY)], rules=changed)
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        (own,) = read_criteria(connection, project_id, changed.criteria, now=NOW, name="own")
        due = rebuilds_due(connection, changed.recorded, changed.half_lives)
    assert own.evidence.decayed_helpful == pytest.approx(1.0)
    assert due == {
        "default": ("criteria.half_life_days: sums were computed with 90, the setting is 45",)
    }
    rebuild(store, changed)
    with reading(store) as connection:
        (own,) = read_criteria(connection, project_id, changed.criteria, now=NOW, name="own")
        assert rebuilds_due(connection, changed.recorded, changed.half_lives) == {}
    assert own.evidence.decayed_helpful == pytest.approx(0.5)
