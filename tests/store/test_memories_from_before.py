"""What was there before trackrecord kept it is taken over: foreign memories, unnoted tasks."""

import pytest
from sqlalchemy import text

from tests.store.teaching import NOW, RULES, outcome, teach
from trackrecord.learning.memories.rules import MemoryRules, MemoryType
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.intake.rebuild import rebuild_patterns
from trackrecord.store.memories.past_tasks import index_past_tasks, similar_tasks
from trackrecord.store.memories.recall import recall
from trackrecord.store.memories.similar import mark_waiting
from trackrecord.store.memories.write import list_memories, remember

RULES_OF_MEMORIES = MemoryRules()


@pytest.fixture
def engine(empty_store_url):
    engine = connect_store(empty_store_url)
    yield engine
    engine.dispose()


def test_memories_from_before_any_of_this(engine):
    """Missing columns are added; old rows are of type memory with no source, and are found."""
    statements = (
        "CREATE TABLE memories (id VARCHAR(40), content TEXT, confidence FLOAT, created_at FLOAT)",
        "INSERT INTO memories VALUES ('old-1', 'Port 5432 belongs to the database', 0.7, 1000.0)",
        "INSERT INTO memories VALUES ('old-2', '夜间构建之前需要清理缓存', NULL, NULL)",
        "INSERT INTO memories VALUES ('old-3', '  ', 0.5, 1000.0)",
    )
    with writing(engine) as connection:
        for statement in statements:
            connection.execute(text(statement))
    assert migrate(engine) is True
    with reading(engine) as connection:
        kept = {each.id: each for each in list_memories(connection, 1)}
    assert kept.keys() == {"old-1", "old-2"}
    old = kept["old-1"]
    assert (old.text, old.state.type, old.sources) == (
        "Port 5432 belongs to the database", MemoryType.MEMORY, (),
    )  # fmt: skip
    assert (old.state.confidence, old.created_at) == (0.7, 1000.0)
    assert kept["old-2"].state.confidence == 0.5
    assert mark_waiting(engine, RULES_OF_MEMORIES) == 2
    assert mark_waiting(engine, RULES_OF_MEMORIES) == 0
    with writing(engine) as connection:
        (found,) = recall(connection, 1, "清理缓存", rules=RULES_OF_MEMORIES, now=NOW)
        same = remember(
            connection, 1, "port 5432 belongs to the database", memory_id="new",
            rules=RULES_OF_MEMORIES, now=NOW,
        )  # fmt: skip
        new = remember(
            connection, 1, "Something else", memory_id="new", rules=RULES_OF_MEMORIES, now=NOW
        )
    assert (found.memory.id, same.memory.id, new.is_new) == ("old-2", "old-1", True)


def test_a_rebuild_finds_tasks_that_were_not_noted(engine):
    """Past tasks are noted from the recorded bodies, each once."""
    migrate(engine)
    teach(engine, [outcome(1, instruction="Fix the flaky login test")])
    with writing(engine) as connection:
        connection.execute(text("DELETE FROM past_tasks"))
    for _ in range(2):
        with writing(engine) as connection:
            rebuilt = rebuild_patterns(connection, 1, RULES, now=NOW)
            assert rebuilt.outcomes == 1
    assert index_past_tasks(engine) == 1
    with reading(engine) as connection:
        (found,) = similar_tasks(connection, 1, "login", most=10)
    assert found.task_id == "t1"
