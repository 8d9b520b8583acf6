"""Questions change nothing: what writes is among the changes."""

import re
from inspect import signature

import pytest
from sqlalchemy import event

from trackrecord.resources.access.project_store import given_stores
from trackrecord.resources.experience.commands import list_commands
from trackrecord.resources.experience.competences import add_competence, list_competences
from trackrecord.resources.experience.lessons import list_lessons
from trackrecord.resources.experience.memories import list_memories, recall
from trackrecord.resources.figures.benchmark import benchmark_run
from trackrecord.resources.reports.feedback import give_feedback
from trackrecord.testing import store_of
from trackrecord_door.api.endpoint_table import RESOURCES

CHANGES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)", re.IGNORECASE)
OUTCOMES = [
    {
        "outcome_id": f"run-{number}", "task_id": f"t{number}", "success": True,
        "instruction": "book a flight to Rome", "criteria": {"readable": "helpful"},
        "strategy": "file-based", "tool_graph": [
            {"tool": "pay", "ok": False, "error": "no", "args": {"command": "pay now"}},
        ],
    }
    for number in range(4)
]  # fmt: skip


@pytest.fixture
def statements():
    """Change a store such that it has something of everything that resources ask about."""
    with store_of(memories=["flights to Rome leave at noon"], outcomes=OUTCOMES):
        give_feedback("helpful", memory="memory-1")
        add_competence(["search", "pay"], triggers=["a flight"])
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
    given = {
        "text": "flight to Rome", "memory_id": "memory-1", "name": "readable",
        "lesson_id": list_lessons()[0].id, "pattern_id": "file-based", "some_id": "file-based",
        "command_id": list_commands(everything=True)[0].id,
        "competence_id": list_competences()[0].id, "outcome_id": "run-1", "tools": "pay",
        "scores": {"readable": 0.5},
    }  # fmt: skip
    posted = {each.route for each in questions if each.route and each.route[:4] != "GET "}
    assert posted == {"POST /criteria/weigh"}
    # News are in Redis as well, and `tests/worker` asks for them.
    stored = [each for each in questions if each.needs_store and each.command != "news"]
    for question in stored:
        names = signature(question.call).parameters
        assert question.call(**{name: value for name, value in given.items() if name in names})
    assert len(questions) >= 25
    assert statements == []

    assert recall("flights", reset=False)
    assert statements == []
    assert list_memories()[0].last_recalled_at is None
    assert recall("flights")
    assert statements
    assert list_memories()[0].last_recalled_at is not None
