"""The store remembers the rules of its numbers; thresholds take effect without a rebuild."""

from dataclasses import replace

from structlog.testing import capture_logs

from tests.store.teaching import CRITERIA, DEFAULTS, NOW, RULES, outcome, rebuild, teach
from trackrecord.learning.numbers.decay import DecayRules, HalfLives
from trackrecord.learning.outcomes.scoring import ScoringRules
from trackrecord.learning.patterns.maturity import AntiPatternRules, Maturity, MaturityRules
from trackrecord.learning.rules_bundle import Rules
from trackrecord.settings.settings import load_settings
from trackrecord.store.criteria.sums import read_criteria
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.intake import learn
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.recorded_rules import rebuilds_due
from trackrecord.store.patterns.read import read_standings
from trackrecord_worker.services import RebuildReminder

OTHER = replace(RULES, scoring=ScoringRules(fast_ms=1000))


def due(store, rules=RULES, half_life_days=90.0, of_criteria=None):
    half_lives = HalfLives(half_life_days, of_criteria or half_life_days)
    with reading(store) as connection:
        return rebuilds_due(connection, rules.recorded, half_lives)


def learn_by(store, rules, number):
    with writing(store) as connection:
        learn(connection, [outcome(number)], rules, now=NOW)


def test_a_rebuild_is_due_after_a_change_and_no_more_after_it(store):
    """Of scoring, or of the half-life."""
    teach(store, [outcome(1)])
    assert due(store) == {}
    assert list(due(store, OTHER)) == ["default"]
    assert list(due(store, half_life_days=30.0)) == ["default"]
    rebuild(store, replace(OTHER, decay=DecayRules(30.0)))
    assert due(store, OTHER, 30.0) == {}
    assert list(due(store)) == ["default"]


def test_a_change_that_was_taken_back_leaves_a_mixture(store):
    """What was learnt meanwhile was scored otherwise: the product does not forget that."""
    teach(store, [outcome(1)])
    learn_by(store, OTHER, 2)
    learn_by(store, RULES, 3)
    ((reason,),) = due(store).values()
    assert "rules that differ" in reason


def test_a_worker_says_so_once(store):
    """In its log, with the way out; again when the reasons change."""
    teach(store, [outcome(1)])
    settings = load_settings(criteria={"defaults": DEFAULTS}, scoring={"fast_ms": 1000})
    reminder = RebuildReminder(store, settings)
    with capture_logs() as logs:
        reminder.remind()
        reminder.remind()
    assert [each["event"] for each in logs] == ["rebuild_due"]
    assert logs[0]["remedy"] == "trackrecord rebuild --project default"
    with capture_logs() as logs:
        RebuildReminder(store, load_settings(criteria={"defaults": DEFAULTS})).remind()
    assert logs == []


def test_thresholds_take_effect_at_once(store):
    """Maturity, inversion and weights are derived when read: nothing recorded is touched."""
    batch = [outcome(number, patterns=["plan"]) for number in range(3)]
    batch += [outcome(9, helpful=False, patterns=["plan"])]
    teach(store, batch)

    def stands(maturity, antipatterns):
        rules = Rules(maturity=maturity, antipatterns=antipatterns)
        with reading(store) as connection:
            project_id = project_id_of(connection, "default")
            (standing,) = read_standings(connection, project_id, rules, now=NOW)
        return standing.state, standing.is_inverted

    plain, anti = MaturityRules(), AntiPatternRules()
    assert stands(plain, anti) == (Maturity.ESTABLISHED, False)
    assert stands(replace(plain, min_evidence=10), anti)[0] is Maturity.CANDIDATE
    assert stands(replace(plain, deprecated_above=0.2), anti)[0] is Maturity.DEPRECATED
    assert stands(plain, replace(anti, failure_share=0.25))[1] is True
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        for rules, deprecated in (
            (CRITERIA, False),
            (replace(CRITERIA, deprecated_above=0.2), True),
        ):
            found = read_criteria(connection, project_id, rules, now=NOW, name="readable")
            assert found[0].deprecated is deprecated


def test_numbers_of_the_first_version_are_known_to_be_of_another(empty_store_url):
    """The migration marks projects that were learnt without criteria."""
    engine = connect_store(empty_store_url)
    migrate(engine)
    teach(engine, [outcome(1)])
    with writing(engine) as connection:
        from trackrecord.store.outcomes.tables import recorded_rules

        connection.execute(recorded_rules.update().values(rules="{}", mixed=True))
    teach(engine, [outcome(2)])
    assert due(engine) == {"default": ("the recorded numbers were learnt by an earlier version",)}
    engine.dispose()
