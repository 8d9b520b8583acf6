"""Recalling memories and past tasks by words, on both databases."""

import pytest

from tests.store.teaching import DAY, NOW, outcome, teach
from trackrecord.learning.memories.rules import MAX_CANDIDATES, MemoryRules, MemoryType
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.past_tasks import index_past_tasks, similar_tasks
from trackrecord.store.memories.recall import recall, reset_clocks
from trackrecord.store.memories.write import reject, remember

RULES = MemoryRules()
# Texts that are no longer alike than they need be.
TEXTS = {
    "cache": "Clear the build cache before a release build",
    "port": "Port 5432 belongs to the production database",
    "缓存": "夜间构建之前需要清理缓存",
    "login": "The login test is flaky on Mondays",
}


def store_all(store, texts=TEXTS, *, project="default", now=NOW):
    with writing(store) as connection:
        project_id = ensure_projects(connection, [project])[project]
        for memory_id, each in texts.items():
            remember(
                connection, project_id, each, memory_id=memory_id, rules=RULES, now=now,
                source="agent-a",
            )  # fmt: skip


def asked(store, question, *, now=NOW, project_id=1, **more):
    with reading(store) as connection:
        return recall(connection, project_id, question, rules=RULES, now=now, **more)


def ids(found):
    return [each.memory.id for each in found]


def recalled(store, found, now):
    with writing(store) as connection:
        reset_clocks(connection, [each.memory.row for each in found], rules=RULES, now=now)


def test_unrelated_text_finds_nothing(store):
    """Nor does one that is made of words that every text has."""
    store_all(store)
    for question in ("kubernetes quota", "the a of", "", "?!", "数据", "x" * 5000):
        assert asked(store, question) == [], question


def test_english_and_chinese_alike(store):
    """By words, by pairs of characters, and by a single one."""
    store_all(store)
    for question, first in (
        ("build cache release", "cache"), ("清理缓存", "缓存"), ("缓", "缓存"), ("构建", "缓存"),
        ("flaky login", "login"), ("FLAKY Login!", "login"), ("productionDatabase", "port"),
    ):  # fmt: skip
        assert ids(asked(store, question))[0] == first, question


def test_a_question_is_no_query(store):
    """What means something to a search engine is text like any other; projects are kept apart."""
    store_all(store)
    store_all(store, {"theirs": "Another cache"}, project="other")
    for question in (
        'cache" OR "', "cache' OR 1=1 --", "cache*", "cache AND NOT build", "NEAR(cache build)",
        "words:cache", "cache & !build", "cache <-> build", "^cache", "-cache", "{cache}",
        "cache:*", "\\cache", "p1wcache p2wcache",
    ):  # fmt: skip
        assert ids(asked(store, question)) in ([], ["cache"]), question


def test_one_side_of_a_contradiction_is_recalled(store):
    """The newer one, also when only one is wanted."""
    store_all(store, {"old": "The staging database uses port 5432"})
    store_all(store, {"new": "The staging database uses port 5433"}, now=NOW + 1)
    for limit in (1, 5):
        assert ids(asked(store, "port of the staging database", limit=limit)) == ["new"]


def test_more_of_the_question_is_more_relevant(store):
    """And relevance is relative to the best."""
    store_all(store, {"one": "deploy with helm charts", "both": "deploy by hand on friday"})
    found = asked(store, "deploy friday")
    assert ids(found) == ["both", "one"]
    assert found[0].relevance == 1.0
    assert 0 < found[1].relevance < 1


@pytest.mark.parametrize(("days", "rank"), [(0, 0.85), (90, 0.775), (180, 0.737)])
def test_decay_and_the_reset_of_the_clock(store, days, rank):
    """A memory ages until it is recalled: then it counts in full again, at the next recall."""
    store_all(store)
    later = NOW + days * DAY
    found = asked(store, "flaky login", now=later)
    assert round(found[0].rank, 3) == rank
    # Without a reset it stays as old as it is.
    assert asked(store, "flaky login", now=later) == found
    recalled(store, found, later)
    (again,) = asked(store, "flaky login", now=later)
    assert again.rank == pytest.approx(0.85)
    assert again.memory.state.confidence == 0.5


def test_a_pitfall_is_recalled_as_a_warning(store):
    """Like any other, with its prefix."""
    store_all(store)
    with writing(store) as connection:
        for _ in range(3):
            reject(connection, 1, "login", rules=RULES, now=NOW + 1)
    (found,) = asked(store, "flaky login")
    assert found.memory.text == f"KNOWN PITFALL: {TEXTS['login']}"
    assert found.memory.state.type is MemoryType.ANTI_PATTERN
    # Its prefix is not what it is found by.
    assert asked(store, "known pitfall") == []


def test_words_that_many_memories_hold(store, monkeypatch):
    """Rare words decide; a word that is everywhere finds the newest."""
    monkeypatch.setattr("trackrecord.store.memories.recall.MAX_CANDIDATES", 5)
    names = ("ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine")
    store_all(store, {name: f"{name} {name} {name} deploy" for name in names})
    with reading(store) as connection:

        def found(question):
            return ids(recall(connection, 1, question, rules=RULES, now=NOW))

        assert found("deploy oak") == ["oak"]
        assert set(found("deploy")) == set(names[5:])


def task(number, instruction, *, helpful=True, **more):
    return outcome(number, helpful=helpful, instruction=instruction, **more)


def similar(store, question, **more):
    index_past_tasks(store)
    with reading(store) as connection:
        return similar_tasks(connection, 1, question, most=MAX_CANDIDATES, **more)


def test_similar_past_tasks_and_how_they_ended(store):
    """Found by their instruction; outcomes without one are not there."""
    teach(
        store,
        [
            task(1, "Fix the flaky login test", helpful=False),
            task(2, "Write the release notes"),
            task(3, "修复登录测试"),
            outcome(4),
        ],
    )
    (found,) = similar(store, "the login page is broken")
    assert (found.outcome_id, found.task_id, found.instruction) == (
        "o1", "t1", "Fix the flaky login test",
    )  # fmt: skip
    assert (found.success, found.verdict, found.relevance) == (False, "harmful", 1.0)
    assert [each.task_id for each in similar(store, "登录失败")] == ["t3"]
    assert similar(store, "kubernetes quota") == []


def test_a_task_counts_once(store):
    """By the outcome that ended last, whichever came first."""
    teach(
        store,
        [
            task(1, "Fix the flaky login test", task_id="t", received=NOW + 9),
            task(2, "Fix the flaky login test", task_id="t", helpful=False, received=NOW),
        ],
    )
    (found,) = similar(store, "flaky login")
    assert (found.outcome_id, found.success) == ("o1", True)
