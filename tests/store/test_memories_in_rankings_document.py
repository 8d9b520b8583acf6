"""What the worker puts into the cached rankings: the memories that count most, and past tasks."""

from unittest.mock import patch

from tests.store.teaching import DAY, NOW, RULES
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.resources.prompt_documents.prompt_document import rank_project
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.recall import reset_clocks
from trackrecord.store.memories.write import confirm, remember

MEMORY_RULES = MemoryRules()
NAMES = ("ash leaves fall", "birch bark peels", "cedar wood smells", "elm roots spread")


def document(store, *, now=NOW):
    most = "trackrecord.resources.prompt_documents.prompt_document.MAX_RANKED"
    with reading(store) as connection, patch(most, 2):
        return rank_project(connection, "default", RULES, now=now)[0]


def test_the_memories_that_count_most(store):
    """By effective confidence, whatever their age; superseded ones are not handed on."""
    with writing(store) as connection:
        project_id = ensure_projects(connection, ["default"])["default"]
        rows = {}
        for text in (*NAMES, "elm roots spread far"):
            kept = remember(
                connection, project_id, text, memory_id=text[:3] + str(len(text)),
                rules=MEMORY_RULES, now=NOW, source="agent-a",
            )  # fmt: skip
            rows[text] = kept.memory.row
        confirm(connection, project_id, "bir16", rules=MEMORY_RULES, now=NOW)
        reset_clocks(connection, [rows[NAMES[2]]], rules=MEMORY_RULES, now=NOW + 90 * DAY)
    built = document(store, now=NOW + 90 * DAY)
    assert [(each.text, each.confidence, each.effective_confidence) for each in built.memories] == [
        ("cedar wood smells", 0.5, 0.5), ("birch bark peels", 0.6, 0.3),
    ]  # fmt: skip
    assert built.memories[0].source == "agent-a"
    assert built.beyond["memories"] == 3
    # As of before anything was recalled or confirmed the oldest ids come first.
