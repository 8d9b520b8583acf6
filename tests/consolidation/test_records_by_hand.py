"""Procedures that somebody stored by hand: what they become when episodes of theirs come in."""

import threading
import time

import pytest
from sqlalchemy import text

from tests.consolidation.fleet import Fleet
from trackrecord.errors import InvalidRevision, RevisionRefused
from trackrecord.learning.competences.new_record import new_record, read_new_competence
from trackrecord.learning.competences.record import TriggerCounts
from trackrecord.learning.competences.rules import CompetenceRules, Status
from trackrecord.store.competences.episodes import waiting
from trackrecord.store.competences.read import read_history
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.competences.signatures import add_tallies, changed_signatures
from trackrecord.store.competences.write import write_changes
from trackrecord.store.database.engine import reading, writing
from trackrecord_consolidation.folding import fold
from trackrecord_consolidation.report import Progress
from trackrecord_consolidation.update_records import RecordUpdater

WRITTEN = {
    "tools": ["edit", {"tool": "go_test", "args_schema": {"path": "string"}}],
    "triggers": ["the build is red", {"signal": "a test fails", "conditions": {"os": "linux"}}],
    "failure_modes": ["timeout"],
    "tags": ["go"],
}


def add(fleet: Fleet, now: float = 50.0, **changes):
    new = read_new_competence({**WRITTEN, **changes}, fleet.rules)
    record = new_record(fleet.rules, fleet.project, new, by="ada", now=now)
    with writing(fleet.engine) as connection:
        signed = Signed("ada", "we always do", now)
        return Reviser(connection, fleet.project_id, fleet.rules, signed).add(record)


def one(fleet: Fleet):
    (record,) = fleet.records().values()
    return record


def actions(fleet: Fleet, record):
    with reading(fleet.engine) as connection:
        found = read_history(connection, fleet.project_id, record.id)
    return [(each.action, each.actor, each.rationale) for each in found]


def test_episodes_of_the_same_tools_count_for_it(fleet):
    """There is one record, with the author's recipe and triggers and the episodes' counts."""
    record = add(fleet)
    trigger = {"signal": "a test fails", "conditions": {"os": "mac"}}
    for _ in range(3):
        fleet.report("go_test", "edit", trigger=trigger)
    fleet.report("go_test", "edit", success=False, failure_mode="flaky")
    fleet.consolidate()
    known = one(fleet)
    assert known.id == record.id
    assert (known.performance.success_count, known.performance.failure_count) == (3, 1)
    assert known.recipe == record.recipe
    assert known.triggers == (
        TriggerCounts("the build is red"),
        TriggerCounts("a test fails", {"os": "linux"}, 3, 0, ({"os": "mac"},)),
    )
    assert known.failure_modes == ("timeout", "flaky")
    assert [action for action, *_ in actions(fleet, record)] == ["added", "reinforced"]


def test_a_rebuild_loses_nothing_that_somebody_stored(fleet):
    """With episodes, without any, and retracted; the rebuilt record is the same."""
    first = add(fleet)
    add(fleet, tools=["ask"], triggers=["unclear"])
    for _ in range(2):
        fleet.report("edit", "go_test", trigger={"signal": "a test fails"})
    fleet.consolidate()
    with writing(fleet.engine) as connection:
        Reviser(connection, fleet.project_id, fleet.rules, Signed("ada", "wrong", 200.0)).retract(
            first.id
        )
    before = fleet.records()
    fleet.rebuild(900.0)
    fleet.rebuild(900.0)
    assert fleet.records() == before
    assert before["edit+go_test"].status is Status.RETRACTED
    assert before["ask"].performance.success_count == 0


def test_an_outcome_that_names_it_counts_once(fleet):
    """As an episode of its own, or by its name alone, before and after consolidation."""
    from trackrecord.store.competences.credit import Credit, credit_competences

    record = add(fleet)
    fleet.report("other", competence_id=record.id)
    fleet.report("edit", "go_test", competence_id=record.id)
    rows = {each.outcome: each for each in _credits(fleet, record.id, Credit)}
    with writing(fleet.engine) as connection:
        credit_competences(connection, rows.values())
    assert one(fleet).performance.success_count == 2
    fleet.consolidate()
    assert one(fleet).performance.success_count == 2
    fleet.rebuild(900.0)
    # The fleet's outcomes were received before the record was stored: only its episode is left.
    assert one(fleet).performance.success_count == 1


def _credits(fleet: Fleet, competence_id: str, kind):
    from sqlalchemy import select

    from trackrecord.store.outcomes.tables import outcomes

    with reading(fleet.engine) as connection:
        found = connection.execute(select(outcomes.c.id, outcomes.c.ended_at)).all()
    return [
        kind(fleet.project_id, competence_id, row.id, 60.0, row.ended_at, True, None, True)
        for row in found
    ]


def test_a_second_record_of_the_same_tools_is_refused(fleet):
    """Doubled, in another order, or beside a learnt one: one record stands for a procedure."""
    record = add(fleet)
    for tools in (["edit", "go_test"], ["go_test", "edit", "go_test"]):
        with pytest.raises(RevisionRefused, match=f"of these tools already, {record.id}"):
            add(fleet, tools=tools)
    for _ in range(2):
        fleet.report("lint")
    fleet.consolidate()
    before = fleet.state()
    with pytest.raises(RevisionRefused, match="fork it"):
        add(fleet, tools=["lint"])
    assert fleet.state() == before


def test_an_author_waits_for_a_consolidation_that_makes_the_record(fleet):
    """Between its look at what there is and its writing, nobody stores the same record."""
    if fleet.engine.dialect.name == "sqlite":
        pytest.skip("a writing transaction is alone in SQLite")
    for _ in range(2):
        fleet.report("edit", "go_test")
    rehearsed = fleet.consolidate(dry_run=True)
    assert rehearsed.created == 1
    refused: list[Exception] = []

    def store() -> None:
        try:
            add(fleet)
        except RevisionRefused as error:
            refused.append(error)

    author = threading.Thread(target=store)
    with writing(fleet.engine) as connection:
        folded = fold(
            fleet.rules, waiting(connection, fleet.project_id, after=0, upto=9**9, limit=9)
        )
        add_tallies(connection, fleet.project_id, folded.tallies)
    with writing(fleet.engine) as connection:
        stored = changed_signatures(connection, fleet.project_id, limit=9)
        author.start()
        _wait_until_blocked_or_done(fleet, author)
        updater = RecordUpdater(
            rules=fleet.rules, project=fleet.project, project_id=fleet.project_id,
            actor="test", now=100.0,
        )  # fmt: skip
        changes = updater.decide(connection, stored, Progress())
        write_changes(connection, fleet.project_id, changes, actor="test", now=100.0)
    author.join()
    assert len(refused) == 1
    assert one(fleet).authored is None


def _wait_until_blocked_or_done(fleet: Fleet, author: threading.Thread) -> None:
    waiting_for_a_lock = text(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    end = time.monotonic() + 30
    while author.is_alive() and time.monotonic() < end:
        with reading(fleet.engine) as connection:
            if connection.execute(waiting_for_a_lock).scalar_one():
                return
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tools": []}, "tools"),
        ({"tools": [" "]}, "tools"),
        ({"tools": "edit"}, "tools"),
        ({"tools": [{"tool": "a", "what": 1}]}, "what"),
        ({"tools": ["a\0b"]}, "NUL"),
        ({"tools": [f"t{n}" for n in range(65)]}, "at most 64 tools"),
        ({"triggers": []}, "triggers"),
        ({"triggers": ["x", "x"]}, "named twice"),
        ({"triggers": [f"s{n}" for n in range(21)]}, "at most 20 triggers"),
        ({"triggers": [{"signal": "x", "conditions": {"a": "y" * 3000}}]}, "2048 bytes"),
        ({"triggers": ["x" * 2000]}, "triggers"),
        ({"confidence": 1.5}, "confidence"),
        ({"half_life_days": 0}, "half_life_days"),
        ({"confidence": float("nan")}, "confidence"),
        ({"recipe": []}, "recipe"),
        ({"failure_modes": ["x"] * 11}, "at most 10 failure modes"),
    ],
)
def test_what_cannot_be_stored_is_said_in_one_line(changes, said):
    """By the name of the field."""
    with pytest.raises(InvalidRevision) as raised:
        read_new_competence({**WRITTEN, **changes}, CompetenceRules())
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
