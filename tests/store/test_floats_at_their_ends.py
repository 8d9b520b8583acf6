"""Numbers that are too small for a float: old evidence and short half-lives break nothing."""

from dataclasses import replace

import pytest
from sqlalchemy import delete

from tests.store.teaching import DAY, NOW, RULES, note_states_of, outcome, rebuild, standings, teach
from trackrecord.learning.numbers.decay import DecayRules
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.store.patterns.read import read_changes


@pytest.mark.parametrize("age_in_half_lives", [0, 1060])
@pytest.mark.parametrize("later_in_half_lives", [501, 1e6])
def test_the_landmark_moves_past_the_end_of_floats(store, age_in_half_lives, later_in_half_lives):
    """What is left of old evidence is nothing, on both databases, and no error."""
    decay = DecayRules(half_life_days=0.001)
    half_life = 0.001 * DAY
    teach(
        store,
        [
            outcome(1, patterns=["x"], timestamp=max(0.0, NOW - age_in_half_lives * half_life)),
            outcome(2, patterns=["x"], helpful=False),
            outcome(3, patterns=["y"], timestamp=max(0.0, NOW - age_in_half_lives * half_life)),
        ],
        rules=replace(RULES, decay=decay),
    )
    later = NOW + later_in_half_lives * half_life
    teach(
        store, [outcome(4, patterns=["x"], received=later)], now=later,
        rules=replace(RULES, decay=decay),
    )  # fmt: skip
    evidence = standings(store, now=later)["x"].evidence
    assert (evidence.helpful, evidence.harmful) == (2, 1)
    assert evidence.decayed_helpful == pytest.approx(1.0)
    assert evidence.decayed_harmful == pytest.approx(0.0, abs=1e-9)


def test_decades_in_the_past(store):
    """A question about evidence that is a thousand half-lives old has an answer."""
    decay = DecayRules(half_life_days=1.0)
    teach(
        store,
        [outcome(n, patterns=["x"], timestamp=float(n), helpful=n % 2 == 0) for n in range(4)],
        rules=replace(RULES, decay=decay),
    )
    for now in (NOW, NOW + 10_000 * DAY):
        evidence = standings(store, now=now)["x"].evidence
        assert (evidence.helpful, evidence.harmful) == (2, 2)
        assert evidence.decayed_total == pytest.approx(0.0, abs=1e-200)


def test_a_rebuild_forgets_what_no_outcome_says(store):
    """A spelling, or a kind, that only an erased outcome gave is gone afterwards."""
    teach(
        store,
        [
            outcome(1, patterns=["big bang"]),
            outcome(2, patterns=[], strategy="BIG BANG"),
            outcome(3, patterns=["only here"]),
        ],
    )
    assert standings(store)["big-bang"].facts.content == "BIG BANG"
    with writing(store) as connection:
        connection.execute(delete(outcomes).where(outcomes.c.outcome_id.in_(["o2", "o3"])))
    rebuild(store)
    (standing,) = standings(store).values()
    assert (standing.facts.content, standing.facts.kind) == ("big bang", "named")
    assert standing.evidence.helpful == 1


def test_a_rebuild_reports_no_change_where_there_is_none(store):
    """History is kept, and not repeated."""
    teach(store, [outcome(n, patterns=["x"], helpful=n > 4) for n in range(12)])
    note_states_of(store)

    def history():
        with reading(store) as connection:
            project_id = project_id_of(connection, "default")
            assert project_id is not None
            return read_changes(connection, project_id, "x")

    before = history()
    assert before
    rebuild(store)
    rebuild(store, now=NOW + 1)
    assert note_states_of(store, now=NOW + 1) == ()
    assert history() == before
