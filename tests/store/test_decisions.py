"""Decisions by hand: they stay until reset, are kept with who and why, and hold everywhere."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from tests.store.teaching import DAY, NOW, RULES, note_states_of, outcome, rebuild, standings, teach
from trackrecord.errors import DecisionRefused
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.intake.intake import learn
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.patterns.decide import decide
from trackrecord.store.patterns.read import read_changes
from trackrecord.store.patterns.tables import pattern_transitions


def by_hand(store, action, *, at=NOW, slug="plan", reason="because"):
    with writing(store) as connection:
        return decide(
            connection, project_id_of(connection, "default"), slug, DecisionAction(action),
            actor="ada", reason=reason, rules=RULES, now=at,
        )  # fmt: skip


def history(store):
    with reading(store) as connection:
        return read_changes(connection, project_id_of(connection, "default"), "plan")


def reports(count, *, start=0, helpful=True, received=NOW - DAY):
    return [
        outcome(number, helpful=helpful, received=received, patterns=["plan"])
        for number in range(start, start + count)
    ]


@pytest.fixture
def known(store):
    """A store with one candidate."""
    teach(store, reports(1), now=NOW - DAY)
    note_states_of(store, now=NOW - DAY)
    return store


def test_a_promoted_pattern_stays_proven_whatever_happens(known):
    """Until reset; then it stands where its evidence puts it."""
    change = by_hand(known, "promote")
    assert (change.before, change.after) == ("candidate", "proven")
    assert standings(known)["plan"].multiplier == 1.5
    teach(known, reports(9, start=10, helpful=False))
    assert standings(known)["plan"].state == "proven"
    change = by_hand(known, "reset", at=NOW + 1)
    assert (change.before, change.after) == ("proven", "deprecated")
    assert standings(known)["plan"].decision is None


def test_a_deprecated_pattern_cannot_be_promoted(known):
    """Neither one deprecated by hand nor one that its evidence deprecated; nothing changes."""
    by_hand(known, "deprecate")
    before = (history(known), standings(known))
    with pytest.raises(DecisionRefused, match="reset"):
        by_hand(known, "promote", at=NOW + 1)
    assert (history(known), standings(known)) == before
    by_hand(known, "reset", at=NOW + 2)
    teach(known, reports(9, start=10, helpful=False))
    assert standings(known)["plan"].state == "deprecated"
    with pytest.raises(DecisionRefused):
        by_hand(known, "promote", at=NOW + 3)


def test_who_when_and_why_are_kept_once_each(known):
    """With the numbers of the moment; a later outcome adds nothing to a held state's history."""
    by_hand(known, "promote", at=NOW)
    by_hand(known, "promote", at=NOW + 1)
    teach(known, reports(9, start=10, helpful=False), now=NOW + 2)
    note_states_of(known, now=NOW + 2)
    by_hand(known, "reset", at=NOW + 3)
    found = [
        (each.before, each.after, each.decision, each.by, each.reason, each.at)
        for each in history(known)
        if each.aspect == "maturity"
    ]
    assert found == [
        (None, "candidate", None, None, None, NOW - DAY),
        ("candidate", "proven", "promote", "ada", "because", NOW),
        ("proven", "proven", "promote", "ada", "because", NOW + 1),
        ("proven", "deprecated", "reset", "ada", "because", NOW + 3),
    ]
    assert history(known)[1].helpful == 1


def test_a_rebuild_keeps_decisions(known):
    """Also that on a pattern which no outcome touches any more."""
    by_hand(known, "promote")
    teach(known, [outcome(98, patterns=["Gone"])])
    by_hand(known, "deprecate", slug="gone")
    teach(known, [outcome(98, patterns=["plan"], tool_graph=[{"tool": "a"}], received=NOW + 1)])
    rebuild(known, now=NOW + 5)
    found = standings(known, now=NOW + 5)
    assert {slug: each.state for slug, each in found.items()} == {
        "plan": "proven", "gone": "deprecated",
    }  # fmt: skip
    assert found["gone"].facts.content == "Gone"
    assert len(history(known)) == 2


def test_many_flips_are_noted_once_each_by_two_workers(store, store_url):
    """Inverted and lifted alternate, each with numbers that bear it out, whoever notes what."""
    engines = [connect_store(store_url, timeout_s=20.0) for _ in range(2)]
    batches = [
        reports(4, start=100 * number, helpful=number % 2 == 1, received=NOW)
        for number in range(24)
    ]
    halves = [(engines[0], batches[::2]), (engines[1], batches[1::2])]

    def work(half):
        engine, own = half
        found = []
        for batch in own:
            teach(engine, batch)
            found += note_states_of(engine)
        return found

    with ThreadPoolExecutor(2) as pool:
        told = [change for found in pool.map(work, halves) for change in found]
    for engine in engines:
        engine.dispose()
    with reading(store) as connection:
        kept = connection.execute(
            select(pattern_transitions)
            .where(pattern_transitions.c.aspect == "inversion")
            .order_by(pattern_transitions.c.id)
        ).all()
    assert [each.after for each in kept] == [
        "inverted" if number % 2 == 0 else "lifted" for number in range(len(kept))
    ]
    assert len(kept) == sum(change.aspect == "inversion" for change in told)
    for each in kept:
        share = (each.harmful + each.neutral) / (each.helpful + each.harmful + each.neutral)
        assert (share >= 0.6 - 1e-9) is (each.after == "inverted")


def test_who_notes_states_waits_for_no_batch(known, store_url):
    """What a batch is still writing is noted afterwards; the rest at once."""
    if known.dialect.name == "sqlite":
        pytest.skip("SQLite lets one write at a time")
    teach(known, [*reports(9, start=10), outcome(99, patterns=["other"])])
    other = connect_store(store_url, timeout_s=20.0)
    try:
        with writing(other) as connection:
            learn(connection, reports(1, start=50), RULES, now=NOW)
            assert [each.slug for each in note_states_of(known)] == ["other"]
    finally:
        other.dispose()
    assert [(each.slug, each.after) for each in note_states_of(known)] == [("plan", "proven")]
