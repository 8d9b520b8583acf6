"""Refolding: a rebuild comes to the same, and to what changed rules demand."""

import pytest
from sqlalchemy import text

from trackrecord.errors import AlreadyRunning
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.competences.read import read_history
from trackrecord.store.database.engine import reading, writing
from trackrecord_consolidation.run_lease import RunLease


def test_broken_sums_are_repaired(fleet):
    """Without salience."""
    fleet.rules = CompetenceRules(salience=0.5)
    fleet.report("a")
    fleet.report("a")
    fleet.consolidate(now=100.0)
    before = fleet.state()
    with writing(fleet.engine) as connection:
        connection.execute(text("UPDATE signatures SET successes = 77"))
        connection.execute(text("DELETE FROM signature_facts"))
    fleet.rebuild(500.0)
    assert fleet.state() == before


def test_changed_rules_change_signatures(fleet):
    """Records of signatures that are no more are removed; their history stays."""
    for _ in range(2):
        fleet.report("a", "b", "a")
        fleet.report("a", "b")
    fleet.consolidate(now=100.0)
    old = fleet.records()["a+b"]
    fleet.rules = CompetenceRules(keep_repeats=True, min_successes=2)
    fleet.rebuild(500.0)
    assert sorted(fleet.records()) == ["a+a+b", "a+b"]
    assert fleet.records()["a+b"].performance.success_count == 2
    assert fleet.records()["a+b"].salience == old.salience
    fleet.rules = CompetenceRules(min_successes=5)
    progress = fleet.rebuild(600.0)
    assert fleet.records() == {}
    assert progress.updated == 2
    with reading(fleet.engine) as connection:
        history = read_history(connection, fleet.project_id, old.id)
    assert [each.action for each in history] == ["created", "updated", "removed"]
    assert history[-1].record is None


def test_not_while_a_run_is_at_work(fleet):
    """One at a time, here too."""
    with writing(fleet.engine) as connection:
        RunLease(fleet.project, 60.0).take(connection)
    with pytest.raises(AlreadyRunning):
        fleet.rebuild(500.0)
