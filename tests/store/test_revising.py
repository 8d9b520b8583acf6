"""Revision: each change by hand is one transaction, is signed, and is in the history for good."""

import math
from dataclasses import replace

import pytest
from sqlalchemy import select

from tests.store.teaching import DAY, NOW, outcome, teach
from tests.store.test_choosing import RULES, put, record
from trackrecord.errors import InvalidRevision, RevisionRefused, UnknownId
from trackrecord.learning.competences.record import Relation
from trackrecord.learning.competences.revision import ForkChanges
from trackrecord.learning.competences.rules import Lifecycle, Status
from trackrecord.store.competences.read import read_competence, read_history
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.competences.tables import (
    competence_history,
    competence_numbers,
    competence_words,
    competences,
)
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_revisions

LATER = NOW + DAY


def revise(store, project_id, work, *, now=LATER, actor="ada", rationale="seen it fail"):
    """One revision in one transaction."""
    with writing(store) as connection:
        return work(Reviser(connection, project_id, RULES, Signed(actor, rationale, now)))


def read(store, project_id, some_id):
    """One record."""
    with reading(store) as connection:
        return read_competence(connection, project_id, some_id)


def everything(store):
    """All that a revision could touch."""
    tables = (competences, competence_history, competence_numbers, competence_words)
    with reading(store) as connection:
        return [sorted(connection.execute(select(each)).all(), key=str) for each in tables]


def history(store, project_id, some_id):
    """Return the changes of a record: their kind, author and reason."""
    with reading(store) as connection:
        return [
            (each.action, each.actor, each.rationale)
            for each in read_history(connection, project_id, some_id)
        ]


def test_reinforce_and_penalize(store):
    """By the gain, at most 1, ageing anew; by an amount, at least the minimum; the rate stays."""
    life = Lifecycle(30, 0.1, 0.25, NOW - 9 * DAY)
    project_id = put(store, replace(record("a", good=3, bad=1), salience=0.5, lifecycle=life))
    raised = revise(store, project_id, lambda reviser: reviser.reinforce("a"))
    assert raised.salience == pytest.approx(0.6)
    assert raised.lifecycle.last_reinforced_at == LATER
    lowered = revise(store, project_id, lambda reviser: reviser.penalize("a", 0.2))
    assert lowered.salience == pytest.approx(0.4)
    assert lowered.lifecycle.last_reinforced_at == LATER
    assert revise(store, project_id, lambda each: each.penalize("a", 9)).salience == 0.25
    assert revise(store, project_id, lambda each: each.reinforce("a", 9)).salience == 1.0
    final = read(store, project_id, "a")
    assert final.performance.success_rate == 0.75
    assert final.version == 5
    assert [each[0] for each in history(store, project_id, "a")] == [
        "created", "reinforced", "penalized", "penalized", "reinforced",
    ]  # fmt: skip


def test_supersede(store):
    """The old one is selected no longer; the new one says which one it supersedes."""
    project_id = put(store, record("old"), record("new"))
    revise(store, project_id, lambda reviser: reviser.supersede("old", "new"))
    assert read(store, project_id, "old").status is Status.SUPERSEDED
    new = read(store, project_id, "new")
    assert (new.status, new.relations) == (Status.ACTIVE, (Relation("supersedes", "old"),))
    assert history(store, project_id, "old")[-1] == ("superseded", "ada", "seen it fail")
    assert history(store, project_id, "new")[-1] == ("supersedes", "ada", "seen it fail")


def test_fork(store):
    """Both stay active; the new one is derived from the old, with the changes and untried."""
    project_id = put(store, record("a", signals=("red build",), tags=("ci",)))
    changes = ForkChanges(tools=("a", "go_test"), triggers=("red",), confidence=0.5, pinned=True)
    made = revise(store, project_id, lambda reviser: reviser.fork("a", changes))
    assert read(store, project_id, "a").status is Status.ACTIVE
    assert read(store, project_id, made.id) == made
    assert (made.status, made.relations) == (Status.ACTIVE, (Relation("derived_from", "a"),))
    assert [(each.tool, each.validation) for each in made.recipe] == [
        ("a", ("go_test",)), ("go_test", ()),
    ]  # fmt: skip
    assert [each.signal for each in made.triggers] == ["red"]
    assert (made.confidence, made.lifecycle.pinned, made.tags) == (0.5, True, ("ci",))
    assert made.performance.success_count == 0
    assert history(store, project_id, made.id) == [("forked", "ada", "seen it fail")]


def test_contest(store):
    """By a record or by named evidence; it is still selectable, and known as contested."""
    project_id = put(store, record("a"), record("b"))
    revise(store, project_id, lambda reviser: reviser.contest("a", "b", is_record=True))
    revise(store, project_id, lambda reviser: reviser.contest("a", "run 7", is_record=False))
    contested = read(store, project_id, "a")
    assert contested.status is Status.CONTESTED
    assert contested.status.is_selectable
    assert contested.relations == (Relation("contested_by", "b"), Relation("contested_by", "run 7"))


def test_merge(store):
    """The sources are retracted; performance is summed, what outcomes credited included."""
    project_id = put(
        store,
        record("a", good=9, bad=1, signals=("x", "y"), tags=("one",)),
        record("b", good=1, bad=1, signals=("x",), tags=("two", "one")),
    )
    teach(store, [outcome(1, competence_id="b", duration_ms=40, timestamp=NOW - 5)])
    made = revise(store, project_id, lambda reviser: reviser.merge(["b", "a"]))
    for source in ("a", "b"):
        assert read(store, project_id, source).status is Status.RETRACTED
        assert history(store, project_id, source)[-1][0] == "retracted"
    performance = read(store, project_id, made.id).performance
    assert (performance.success_count, performance.failure_count) == (11, 2)
    assert (performance.avg_latency_ms, performance.last_used_at) == (40, NOW - 5)
    assert made.relations == (Relation("derived_from", "b"), Relation("derived_from", "a"))
    assert (made.tags, [each.signal for each in made.triggers]) == (("two", "one"), ["x", "y"])
    # What was credited is not stored with the source as well.
    assert read(store, project_id, "b").performance.success_count == 2


def test_what_is_wrong_changes_nothing(store):
    """One clear error; everything is rolled back, the history too."""
    project_id = put(store, record("a"), record("b"))
    before = everything(store)
    for work, error in (
        (lambda each: each.supersede("a", "a"), InvalidRevision),
        (lambda each: each.supersede("a", "missing"), UnknownId),
        (lambda each: each.merge(["a"]), InvalidRevision),
        (lambda each: each.merge(["a", "b", "a"]), InvalidRevision),
        (lambda each: each.contest("a", "missing", is_record=True), UnknownId),
        (lambda each: each.contest("a", "a", is_record=True), InvalidRevision),
        (lambda each: each.retract("missing"), UnknownId),
        (lambda each: each.penalize("a", -0.1), InvalidRevision),
        (lambda each: each.penalize("a", math.inf), InvalidRevision),
        (lambda each: (each.retract("b"), each.retract("missing")), UnknownId),
    ):
        with pytest.raises(error) as raised:
            revise(store, project_id, work)
        assert "\n" not in str(raised.value)
        assert everything(store) == before


@pytest.mark.parametrize("status", [Status.RETRACTED, Status.SUPERSEDED])
def test_what_was_given_up_is_not_acted_on(store, status):
    """The error says that it is retracted or superseded already; nothing is half done."""
    project_id = put(store, record("a"), record("gone", status=status))
    before = everything(store)
    for work in (
        lambda each: each.retract("gone"),
        lambda each: each.contest("gone", "run 7", is_record=False),
        lambda each: each.fork("gone", ForkChanges()), lambda each: each.supersede("gone", "a"),
        lambda each: each.supersede("a", "gone"), lambda each: each.merge(["a", "gone"]),
        lambda each: each.reinforce("gone"), lambda each: each.penalize("gone", 0.1),
    ):  # fmt: skip
        with pytest.raises(RevisionRefused, match=f"'gone' is {status} already"):
            revise(store, project_id, work)
        assert everything(store) == before


def test_another_projects_record_is_unknown(store):
    """Nothing is ever changed across projects."""
    put(store, record("a"))
    teach(store, [outcome(1, project="other")])
    with reading(store) as connection:
        other = {name: row for row, name in enumerate(project_revisions(connection), start=1)}
    with pytest.raises(UnknownId):
        revise(store, other["other"], lambda reviser: reviser.retract("a"))
