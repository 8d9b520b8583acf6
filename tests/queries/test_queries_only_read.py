"""Questions change nothing: what writes is among the changes."""

import ast
import re
from inspect import signature
from pathlib import Path

import pytest
from sqlalchemy import event

import trackrecord.queries
import trackrecord.resources
from trackrecord.calls.given_store import store_of
from trackrecord.resources.benchmark import benchmark_run
from trackrecord.resources.feedback import give_feedback
from trackrecord.resources.memories import list_memories, recall
from trackrecord.resources.project_store import given_stores
from trackrecord_door.api.endpoint_table import RESOURCES

# What opens a transaction that writes, and what changes a stream.
WRITES = {"writing", "changing", "change_project", "write_project", "xadd", "xdel"}
CHANGES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)", re.IGNORECASE)
OUTCOME = {
    "task_id": "t1", "success": True, "instruction": "book a flight to Rome",
    "criteria": {"readable": "helpful"},
}  # fmt: skip
GIVEN = {
    "text": "flight to Rome", "memory_id": "memory-1", "name": "readable",
    "outcome_id": "outcome-1",
}  # fmt: skip


@pytest.fixture
def statements():
    """What changes a store with a memory and a task that was done."""
    with store_of(memories=["flights to Rome leave at noon"], outcomes=[OUTCOME]):
        give_feedback("helpful", memory="memory-1")
        benchmark_run()
        changed: list[str] = []

        @event.listens_for(given_stores.get().engine, "before_cursor_execute")
        def note(_connection, _cursor, statement, *_):
            if CHANGES.match(statement):
                changed.append(statement)

        yield changed


def test_what_needs_only_a_token_to_read_changes_nothing(statements):
    """Each question of each resource; recalling, which is a change, resets the clock."""
    questions = [
        each for resource in RESOURCES for each in resource.operations if each.permission == "read"
    ]
    assert all(each.route.startswith("GET ") for each in questions)
    for question in [each for each in questions if each.needs_store]:
        names = signature(question.call).parameters
        assert question.call(**{name: value for name, value in GIVEN.items() if name in names})
    assert len(questions) >= 4
    assert statements == []

    assert recall("flights", reset=False)
    assert statements == []
    assert list_memories()[0].last_recalled_at is None
    assert recall("flights")
    assert statements
    assert list_memories()[0].last_recalled_at is not None


def test_no_module_of_questions_writes():
    """But for the store of its own that recorded runs are evaluated in."""
    modules = sorted(Path(trackrecord.queries.__file__).parent.glob("*.py"))
    named = {
        module.stem: {
            name
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
            for name in _names(node)
        }
        for module in modules
    }
    assert named["flow"] >= {"xrange"}
    assert {name for name, used in named.items() if used & WRITES} == {"evaluation"}


def _names(node):
    if isinstance(node, ast.ImportFrom):
        return [each.name for each in node.names]
    return [node.attr] if isinstance(node, ast.Attribute) else []
