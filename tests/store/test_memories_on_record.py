"""Memories on record: storing, comparing, judging, forgetting, on both databases."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from tests.store.teaching import NOW, outcome, teach
from trackrecord.errors import InvalidMemory, UnknownId
from trackrecord.learning.memories.rules import MemoryRules, MemoryType
from trackrecord.learning.memories.trigrams import trigram_similarity
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.read import changes_of, count_memories, find_memory
from trackrecord.store.memories.similar import similar_memories
from trackrecord.store.memories.tables import memories, memory_changes, memory_sources
from trackrecord.store.memories.write import (
    MemoryFilter,
    confirm,
    forget,
    list_memories,
    reject,
    remember,
)

RULES = MemoryRules()
_numbers = count()
CACHE = "Clear the build cache before the release build starts"
SAME = "clear the build cache before the release build starts!"
CONFLICT = "Never clear the build cache before the release build"


def project_of(store, name="default"):
    with writing(store) as connection:
        return ensure_projects(connection, [name])[name]


def store_text(store, text, memory_id, *, project="default", now=NOW, **more):
    project_id = project_of(store, project)
    with writing(store) as connection:
        return remember(
            connection, project_id, text, memory_id=memory_id, rules=RULES, now=now, **more
        )


def read(store, memory_id):
    with reading(store) as connection:
        return find_memory(connection, 1, memory_id)


def judge(store, change, memory_id, *, now=NOW):
    with writing(store) as connection:
        return change(connection, 1, memory_id, rules=RULES, now=now)


def test_the_same_again_is_returned_as_it_stands(store):
    """Its source is added, its confidence and text stay."""
    store_text(store, CACHE, "m1", source="agent-a")
    judge(store, confirm, "m1")
    again = store_text(store, SAME, "m2", source="agent-b", now=NOW + 1)
    assert trigram_similarity(CACHE, SAME) >= 0.85
    assert (again.is_new, again.memory.id, again.memory.text) == (False, "m1", CACHE)
    assert again.similarity == trigram_similarity(CACHE, SAME)
    assert again.memory.state.confidence == 0.6
    assert again.memory.sources == ("agent-a", "agent-b")
    assert store_text(store, SAME, "m3", source="agent-b").memory.sources == ("agent-a", "agent-b")
    with reading(store) as connection:
        assert count_memories(connection, 1) == 1


def test_the_newer_supersedes_the_older(store):
    """Whose confidence is multiplied by 0.3, and both say so."""
    store_text(store, CACHE, "m1")
    newer = store_text(store, CONFLICT, "m2", now=NOW + 1)
    assert 0.5 <= trigram_similarity(CACHE, CONFLICT) < 0.85
    older = read(store, "m1")
    assert (older.superseded_by, older.state.confidence) == ("m2", 0.15)
    assert newer.memory.supersedes == ("m1",)
    assert (newer.memory.state.confidence, newer.memory.superseded_by) == (0.5, None)
    # As it was before.


def test_force_stores_regardless(store):
    """Also what is the same, and it supersedes nothing."""
    store_text(store, CACHE, "m1")
    forced = store_text(store, CACHE, "m2", force=True)
    assert (forced.is_new, forced.memory.supersedes) == (True, ())
    assert read(store, "m1").superseded_by is None
    # Of two that are the same, the one that was there first is meant from then on.
    assert store_text(store, CACHE, "m3").memory.id == "m1"


def test_short_texts(store):
    """Texts without a trigram are compared by their words."""
    store_text(store, "ab", "m1")
    assert store_text(store, "AB", "m2").memory.id == "m1"
    assert store_text(store, "x", "m3").is_new
    assert store_text(store, "abc", "m4").is_new


def test_three_rejections_and_the_original_text(store):
    """0.35, 0.2, a known pitfall at 0.5; storing the original text again returns the pitfall."""
    store_text(store, CACHE, "m1")
    assert judge(store, reject, "m1", now=NOW + 1).state.confidence == 0.35
    assert judge(store, reject, "m1", now=NOW + 2).state.confidence == 0.2
    pitfall = judge(store, reject, "m1", now=NOW + 3)
    assert pitfall.text == f"KNOWN PITFALL: {CACHE}"
    assert (pitfall.state.type, pitfall.state.confidence) == (MemoryType.ANTI_PATTERN, 0.5)
    for text in (CACHE, pitfall.text):
        again = store_text(store, text, "m2")
        assert (again.is_new, again.memory) == (False, pitfall)
    with reading(store) as connection:
        actions = changes_of(connection, pitfall.row, lambda _at, action, *_: action)
    assert actions == ["stored", "rejected", "rejected", "inverted"]


@pytest.mark.parametrize("text", ["", "  \n\t", "KNOWN PITFALL: ", "x" * 2001])
def test_texts_that_are_refused(store, text):
    """Blank, or too long; nothing is stored."""
    with pytest.raises(InvalidMemory, match="the text of a memory"):
        store_text(store, text, "m1")
    with reading(store) as connection:
        assert count_memories(connection, None) == 0


@pytest.mark.parametrize("memory_id", ["", "a\0b"])
def test_unknown_ids(store, memory_id):
    """Are an error, whatever is asked, and whosever they are."""
    store_text(store, CACHE, "m1", project="other")
    project_of(store, "mine")
    for ask in (
        lambda: judge(store, confirm, memory_id),
        lambda: judge(store, reject, memory_id),
        lambda: read(store, memory_id),
    ):
        with pytest.raises(UnknownId, match="no memory"):
            ask()
    with writing(store) as connection, pytest.raises(UnknownId):
        forget(connection, 2, "m1", now=NOW)


def test_projects_are_kept_apart(store):
    """The same text in another project is another memory."""
    store_text(store, CACHE, "m1")
    assert store_text(store, CACHE, "m2", project="other").is_new
    with reading(store) as connection:
        assert [each.id for each in list_memories(connection, 1)] == ["m1"]
        assert [each.id for each in list_memories(connection, 2)] == ["m2"]


def test_forget_erases(store):
    """Nothing is left of it, and the text can be stored anew."""
    store_text(store, CACHE, "m1", source="agent-a")
    store_text(store, CONFLICT, "m2", now=NOW + 1)
    with writing(store) as connection:
        forget(connection, 1, "m2", now=NOW + 2)
    # What it superseded is superseded no more; its confidence stays what it became.
    older = read(store, "m1")
    assert (older.superseded_by, older.state.confidence) == (None, 0.15)
    with writing(store) as connection:
        forget(connection, 1, "m1", now=NOW + 3)
    with reading(store) as connection:
        for table in (memories, memory_changes, memory_sources):
            assert connection.execute(select(func.count()).select_from(table)).scalar() == 0
        assert similar_memories(connection, 1, CACHE, 0.5) == []
    assert store_text(store, CACHE, "m3").is_new


def test_list_newest_first_with_filters(store):
    """By type, source and confidence; also as of a past moment."""
    store_text(store, CACHE, "m1", source="agent-a", now=NOW)
    store_text(store, "Port 5432 belongs to the database", "m2", source="agent-b", now=NOW + 1)
    store_text(store, "夜间构建需要先清理缓存", "m3", source="agent-a", now=NOW + 2)
    for _ in range(3):
        judge(store, reject, "m2", now=NOW + 3)
    judge(store, confirm, "m3", now=NOW + 4)

    def listed(at=None, limit=None, **wanted):
        with reading(store) as connection:
            found = list_memories(connection, 1, MemoryFilter(**wanted), limit=limit)
        return [each.id for each in found]

    assert listed() == ["m3", "m2", "m1"]
    assert listed(limit=2) == ["m3", "m2"]
    assert listed(source="agent-a") == ["m3", "m1"]
    assert listed(type=MemoryType.ANTI_PATTERN) == ["m2"]
    assert listed(min_confidence=0.6) == ["m3"]


def test_two_agents_at_once(store_url, store):
    """Many who store the same at once make one record, which has all their sources."""

    def agent(number):
        engine = connect_store(store_url, timeout_s=20.0)
        try:
            return store_text(engine, CACHE, f"m{number}", source=f"agent-{number}").is_new
        finally:
            engine.dispose()

    project_of(store)
    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(agent, range(6))) == [False] * 5 + [True]
    with reading(store) as connection:
        (memory,) = list_memories(connection, 1)
    assert set(memory.sources) == {f"agent-{number}" for number in range(6)}


@settings(max_examples=15)
@given(st.lists(st.text("abcd 缓存", min_size=1, max_size=14), min_size=1, max_size=25), st.data())
def test_every_similar_memory_is_found(store, texts, data):
    """Against brute force, with some of them forgotten again."""
    project = f"project-{next(_numbers)}"
    project_id = project_of(store, project)
    kept = {}
    for number, text in enumerate(texts):
        if text.strip():
            store_text(store, text, f"m{number}", project=project, force=True)
            kept[f"m{number}"] = text.strip()
    gone = data.draw(st.sets(st.sampled_from(sorted(kept)))) if kept else set()
    with writing(store) as connection:
        for memory_id in gone:
            forget(connection, project_id, memory_id, now=NOW)
    asked = data.draw(st.text("abcd 缓存", min_size=1, max_size=14))
    expected = {
        memory_id
        for memory_id, text in kept.items()
        if memory_id not in gone and trigram_similarity(asked, text) >= 0.5
    }
    with reading(store) as connection:
        found = similar_memories(connection, project_id, asked, 0.5)
    assert {each.row.memory_id for each in found} == expected


def test_outcomes_credit_what_they_used(store):
    """Helpful confirms, harmful rejects, neutral says nothing; unknown ids are passed."""
    store_text(store, CACHE, "m1")
    teach(store, [outcome(1, memory_ids=["m1", "m1", "nobody", "a\0b"[:1], "x" * 200])])
    assert read(store, "m1").state.confidence == 0.6
    teach(store, [outcome(2, helpful=False, memory_ids=["m1"])])
    assert read(store, "m1").state.confidence == 0.45
    neutral = outcome(3, error_count=4, retry_count=3, duration_ms=10**9, memory_ids=["m1"])
    assert neutral.verdict == "neutral"
    teach(store, [neutral])
    assert read(store, "m1").state.confidence == 0.45
    with reading(store) as connection:
        changes = changes_of(connection, read(store, "m1").row, lambda _, *change: change[:2])
    assert changes[1:] == [("confirmed", "o1"), ("rejected", "o2")]


def test_credit_counts_in_the_order_of_receipt(store):
    """Whatever the order within the batch: the bounds make it matter."""
    store_text(store, CACHE, "m1")
    for number in range(5):
        judge(store, confirm, "m1", now=NOW + number)
    batch = [
        outcome(1, helpful=False, received=NOW + 20, memory_ids=["m1"]),
        outcome(2, received=NOW + 10, memory_ids=["m1"]),
    ]
    teach(store, batch, now=NOW + 30)
    assert read(store, "m1").state.confidence == 0.85
