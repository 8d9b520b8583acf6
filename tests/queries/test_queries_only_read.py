"""Questions change nothing: what writes is among the changes."""

import ast
from pathlib import Path

import sqlalchemy

import trackrecord.queries
from trackrecord.changes.memories import find_similar_tasks, recall_and_reset
from trackrecord.daemon_settings import DaemonSettings
from trackrecord.factories import scorer_of
from trackrecord.queries.memories import list_memories, list_similar_tasks, recall_memories
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects, learn
from trackrecord.store.memories.write import remember
from trackrecord.wire.outcome import decode_outcome, encode_body

NOW = 1_780_000_000.0
SETTINGS = DaemonSettings()
# What opens a transaction that writes, and what changes a stream.
WRITES = {"writing", "xadd", "xdel"}


def refuse_changes(connection):
    """Let the database itself refuse them, for this transaction."""
    is_sqlite = connection.dialect.name == "sqlite"
    forbid = "PRAGMA query_only = 1" if is_sqlite else "SET TRANSACTION READ ONLY"
    connection.execute(sqlalchemy.text(forbid))


def allow_changes(connection):
    """SQLite remembers it for the connection, which others get."""
    if connection.dialect.name == "sqlite":
        connection.execute(sqlalchemy.text("PRAGMA query_only = 0"))


def taught(store):
    """One memory and one task that was done."""
    fields = {
        "outcome_id": "o1", "task_id": "t1", "project": "default", "success": True,
        "instruction": "book a flight to Rome", "timestamp": NOW,
    }  # fmt: skip
    body = encode_body(fields)
    scored = scorer_of(SETTINGS.rules).score(
        decode_outcome(body), body, received_at=NOW, outcome_id="none"
    )
    with writing(store) as connection:
        learn(connection, [scored], SETTINGS.rules, now=NOW)
        remember(
            connection, ensure_projects(connection, ["default"])["default"],
            "flights to Rome leave at noon", memory_id="m1", rules=SETTINGS.memories, now=NOW,
            source=None, force=False,
        )  # fmt: skip


def last_recalled(store):
    (known,) = list_memories(store, SETTINGS, "default")
    return known.memory.last_recalled_at


def test_a_question_about_memories_and_tasks_changes_nothing(store):
    """The database refuses every change meanwhile; recalling through a change resets the clock."""
    taught(store)
    before = last_recalled(store)
    with reading(store) as connection:
        refuse_changes(connection)
        (recalled,) = recall_memories(connection, SETTINGS, "default", "flights", limit=5)
        similar = list_similar_tasks(connection, SETTINGS, "default", "book a flight", limit=5)
        allow_changes(connection)
    assert (recalled.id, similar) == ("m1", [])
    assert last_recalled(store) == before

    assert find_similar_tasks(store, SETTINGS, "default", "book a flight", limit=5)
    recall_and_reset(store, SETTINGS, "default", "flights", limit=5, reset=False)
    assert last_recalled(store) == before
    recall_and_reset(store, SETTINGS, "default", "flights", limit=5)
    assert last_recalled(store) != before


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
    assert named["dead_letters"] >= {"xrange"}
    assert {name for name, used in named.items() if used & WRITES} == {"evaluation"}


def _names(node):
    if isinstance(node, ast.ImportFrom):
        return [each.name for each in node.names]
    return [node.attr] if isinstance(node, ast.Attribute) else []
