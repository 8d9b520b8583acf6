"""The past answers as it did then; a rebuild finds what was learnt."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from teaching import DAY, NOW, RULES, known, outcome, standings, teach

from trackrecord.learning.numbers.decay import DecayRules
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of


def comparable(found):
    return {
        slug: (
            each.state,
            each.is_inverted,
            each.evidence.helpful,
            each.evidence.neutral,
            each.evidence.harmful,
            pytest.approx(each.evidence.decayed_helpful),
            pytest.approx(each.evidence.decayed_harmful),
            each.facts.last_validated,
        )
        for slug, each in found.items()
    }


def learn_for_days(store, days):
    """A batch a day; answers what was known at each day's end."""
    chance = random.Random(5)
    answers = []
    for day in range(days):
        now = NOW + day * DAY
        teach(
            store,
            [
                outcome(
                    f"{day}-{n}",
                    helpful=chance.random() < 0.6,
                    patterns=[chance.choice("xyz")],
                    received=now,
                    timestamp=now - chance.random() * 50 * DAY,
                )
                for n in range(6)
            ],
            now=now,
        )
        answers.append((now, standings(store, now=now)))
    return answers


def test_at_gives_what_was_true_then(store):
    """The same question about a past moment, whatever came later."""
    answers = learn_for_days(store, 8)
    for at, then in answers:
        past = standings(store, now=NOW + 900 * DAY, at=at)
        assert comparable(past) == comparable(then)
    assert standings(store, at=NOW - 1) == {}


def test_what_came_later_does_not_count_in_the_past(store):
    """Counted by the time of receipt, not by when the task ended."""
    teach(store, [outcome(1)], now=NOW)
    teach(store, [outcome(2, received=NOW + 10, timestamp=NOW - DAY)], now=NOW + 10)
    with reading(store) as connection:
        project_id = project_id_of(connection, "default")
        assert count_outcomes(connection, project_id, NOW + 5).outcomes == 1
        assert count_outcomes(connection, project_id, NOW + 15).outcomes == 2


def rebuild(store, *, now, decay=None):
    with writing(store) as connection:
        project_id = project_id_of(connection, "default")
        return rebuild_patterns(
            connection,
            project_id,
            replace(RULES, decay=decay or DecayRules()),
            now=now,
        )


def test_a_rebuild_finds_what_was_learnt(store):
    """The statistics computed anew are those that were added up."""
    learn_for_days(store, 8)
    now = NOW + 20 * DAY
    before = known(store, now=now)
    rebuilt = rebuild(store, now=now)
    assert (rebuilt.outcomes, rebuilt.patterns) == (48, 3)
    assert known(store, now=now) == before
    learn_more = [outcome("late", patterns=["x"], received=now)]
    teach(store, learn_more, now=now)
    assert standings(store, now=now)["x"].evidence.observations == (
        sum(before["default"].patterns["x"][3:6]) + 1
    )


def test_a_half_life_takes_effect_by_a_rebuild_alone(store):
    """Sums keep the half-life they were made with until they are computed anew."""
    teach(store, [outcome(1, patterns=["x"], timestamp=NOW - 90 * DAY)])
    short = DecayRules(half_life_days=45)
    teach(
        store,
        [outcome(2, patterns=["x"], timestamp=NOW - 90 * DAY)],
        rules=replace(RULES, decay=short),
    )
    assert standings(store)["x"].evidence.decayed_helpful == pytest.approx(1.0)
    rebuild(store, now=NOW, decay=short)
    assert standings(store)["x"].evidence.decayed_helpful == pytest.approx(0.5)


def test_a_rebuild_that_fails_changes_nothing(store):
    """It is one transaction."""
    learn_for_days(store, 2)
    before = known(store)
    with suppress(RuntimeError), writing(store) as connection:
        project_id = project_id_of(connection, "default")
        rebuild_patterns(
            connection, project_id, replace(RULES, decay=DecayRules(half_life_days=1)), now=NOW
        )
        raise RuntimeError
    assert known(store) == before


def test_a_rebuild_counts_each_success_once(store):
    """How many tasks that a pattern was used for succeeded does not grow with each rebuild."""
    teach(store, [outcome(1, patterns=["plan"]), outcome(2, patterns=["plan"], helpful=False)])
    for _ in range(2):
        with writing(store) as connection:
            rebuild_patterns(connection, 1, RULES, now=NOW)
    (standing,) = standings(store).values()
    assert (standing.evidence.succeeded, standing.evidence.failed) == (1, 1)
