"""Consolidation and rebuild leave what people decided about records as it is."""

from tests.consolidation.fleet import Fleet
from trackrecord.learning.competences.revision import ForkChanges
from trackrecord.learning.competences.rules import Status
from trackrecord.store.competences.read import read_competences
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.database.engine import reading, writing


def revise(fleet: Fleet, work, now: float = 150.0):
    with writing(fleet.engine) as connection:
        signed = Signed("ada", "seen", now)
        return work(Reviser(connection, fleet.project_id, fleet.rules, signed))


def filled(fleet: Fleet) -> dict[str, str]:
    """Two records; answers their ids by signature."""
    for tool in "aabb":
        fleet.report(tool)
    fleet.consolidate(now=100.0)
    return {name: record.id for name, record in fleet.records().items()}


def all_records(fleet: Fleet):
    with reading(fleet.engine) as connection:
        return {each.id: each for each in read_competences(connection, fleet.project_id)}


def test_new_evidence_brings_nothing_back(fleet):
    """Of retracted, superseded and merged records it is counted, and reported as such."""
    ids = filled(fleet)
    merged = revise(fleet, lambda reviser: reviser.merge([ids["a"], ids["b"]]))
    fleet.report("a")
    fleet.report("b", success=False)
    dry = fleet.consolidate(now=200.0, dry_run=True)
    report = fleet.consolidate(now=200.0)
    assert report.skipped == dry.skipped == {"retracted, evidence counted": 2}
    assert (report.created, report.reinforced, report.updated) == (0, 0, 2)
    found = all_records(fleet)
    assert [found[each].status for each in ids.values()] == [Status.RETRACTED] * 2
    assert found[ids["a"]].performance.success_count == 3
    assert found[ids["a"]].salience == 1.0
    assert found[merged.id] == merged


def test_a_rebuild_keeps_records_made_by_hand(fleet):
    """They have no sums of their own that it could recompute, and their statuses stay."""
    ids = filled(fleet)
    fork = revise(fleet, lambda reviser: reviser.fork(ids["a"], ForkChanges(tags=("x",))))
    revise(fleet, lambda reviser: reviser.supersede(ids["a"], fork.id))
    revise(fleet, lambda reviser: reviser.contest(ids["b"], "run 7", is_record=False))
    before = all_records(fleet)
    fleet.rebuild(300.0)
    assert all_records(fleet) == before
