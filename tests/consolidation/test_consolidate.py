"""Consolidation: what becomes a record, and what new episodes do to it."""

from dataclasses import replace

import pytest

from tests.consolidation.fleet import graph
from tests.support.prompt_answers import answer_from
from trackrecord.learning.competences.record import TriggerCounts
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.learning.rules_bundle import Rules
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.store.competences.provenance import read_provenance
from trackrecord.store.database.engine import reading

SIGNATURE = "go_build+go_test+lint"


def test_two_successes_in_any_order(fleet):
    """One record, rate 1.0, two derived_from."""
    one = fleet.report("go_test", "go_build", "lint")
    other = fleet.report("lint", "go_build", "go_test", "lint")
    report = fleet.consolidate()
    assert (report.episodes_read, report.signatures_touched, report.created) == (2, 1, 1)
    (record,) = fleet.records().values()
    assert record.signature == SIGNATURE
    assert record.performance.success_rate == 1.0
    with reading(fleet.engine) as connection:
        provenance = read_provenance(connection, fleet.project_id, record)
    assert (provenance.count, provenance.outcome_ids) == (2, (one, other))


def test_checks_that_decided_are_no_part_of_a_procedure(fleet):
    """Else each further check would be a procedure of its own, that fails more often."""
    for found in ("passed", "failed", "passed"):
        tools = ("read", "edit", "go_test", *["lint"] * (found == "failed"))
        ground = {"kind": f"check {found}", "call": len(tools) - 1}
        fleet.report(*tools, success=found == "passed", grounds=[ground])
    fleet.consolidate()
    (record,) = fleet.records().values()
    assert record.signature == "edit+read"
    assert record.performance.success_rate == pytest.approx(2 / 3)


def test_triggers_arguments_and_conditions(fleet):
    """As the episodes had them, by frequency; never an argument's value."""
    calls = [{"tool": "edit", "args": {"path": "secret.txt", "line": 7}}, {"tool": "go_test"}]
    for conditions in ({"os": "linux"}, {"os": "mac"}, {"os": "mac"}):
        trigger = {"signal": "test fails", "conditions": conditions}
        fleet.report_bodies([(True, {"tool_graph": calls, "trigger": trigger})])
    fleet.report_bodies(
        [(False, {"tool_graph": calls, "trigger": {"signal": "test fails"}, "failure_mode": "x"})]
    )
    fleet.report_bodies([(True, {"tool_graph": calls, "trigger": {"signal": "a bug"}})])
    fleet.consolidate()
    (record,) = fleet.records().values()
    assert record.triggers == (
        TriggerCounts("test fails", {"os": "mac"}, 3, 1, ({"os": "linux"},)),
        TriggerCounts("a bug", None, 1, 0),
    )
    assert record.recipe[0].args_schema == {"line": "number", "path": "string"}
    assert record.recipe[0].validation == ("go_test",)
    assert "secret" not in str(fleet.state())


def test_new_successes_reinforce(fleet):
    """Counts, provenance and recipe follow; salience rises by the gain, once, at most to 1."""
    fleet.rules = CompetenceRules(salience=0.5)
    fleet.report("a", "b")
    fleet.report("b", "a")
    fleet.consolidate(now=100.0)
    assert [step.tool for step in fleet.records()["a+b"].recipe] == ["a", "b"]
    fleet.report("b", "a")
    fleet.report("b", "a")
    report = fleet.consolidate(now=200.0)
    assert report.reinforced == 1
    record = fleet.records()["a+b"]
    assert record.performance.success_count == 4
    assert record.salience == pytest.approx(0.6)
    # When the newest run ended, and not when that was learnt.
    assert record.lifecycle.last_reinforced_at == 10.0
    assert [step.tool for step in record.recipe] == ["b", "a"]
    assert fleet.revision == 200_000  # of the run at 200 s, in milliseconds


def test_a_dry_run_says_what_would_change(fleet):
    """The same as the run then does; nothing is written."""
    fleet.report("a")
    fleet.report("a")
    fleet.consolidate(now=100.0)
    for tools in (("a",), ("b", "c"), ("c", "b"), ("d",), (" ",)):
        fleet.report(*tools)
    before = fleet.state()
    rehearsed = fleet.consolidate(now=200.0, dry_run=True, episodes_at_once=2)
    assert fleet.state() == before
    done = fleet.consolidate(now=200.0)
    assert replace(done, dry_run=True, duration_ms=0, finished_at=0) == replace(
        rehearsed, duration_ms=0, finished_at=0, changes=done.changes
    )
    assert sorted(map(str, rehearsed.changes)) == sorted(map(str, done.changes))


def test_odd_bodies(fleet):
    """Neither long names nor odd arguments stop a run."""
    long = "x" * 200
    odd = [
        {"tool": f"{long}{n}", "args": args}
        for n, args in enumerate((None, 7, [1], "{", '{"a\\u0000":1}'))
    ]
    body = {"tool_graph": odd, "trigger": {"signal": "s" * 1024, "conditions": {"k": "v" * 5000}}}
    fleet.report_bodies([(True, body), (True, body)])
    fleet.report_bodies([(True, {"tool_graph": graph(*(f"{long}{n}" for n in range(64)))})] * 2)
    assert fleet.consolidate().created == 2


def test_what_never_succeeded_is_told(fleet):
    """22 of 22 failures leave no record, and a prompt says so; two are too few to say it."""
    for _ in range(22):
        fleet.report("issue_refund", success=False)
    for _ in range(2):
        fleet.report("get_user", success=False)
    for success in (False, False, False, True):
        fleet.report("get_order", success=success)
    fleet.consolidate(now=1000.0)
    with reading(fleet.engine) as connection:
        document, _ = rank_project(connection, "default", Rules(), now=1001.0)
    assert [each.id for each in document.failing] == ["issue_refund"]
    prompt = answer_from(
        document, project="default", problem=None, task=None, budget=400, limit=None,
        language="en", now=1001.0, memory_rules=MemoryRules(),
    ).prompt  # fmt: skip
    line = "## Tool Procedures That Never Succeeded\n\n- issue_refund [0 of 22 runs succeeded]"
    assert line in prompt
