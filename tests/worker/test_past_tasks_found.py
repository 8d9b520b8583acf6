"""Past tasks are found at prompt time, however old they are; what is cached of them heals."""

import random

import pytest
from sqlalchemy import delete, insert, select, update
from working import body, publish

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.prompt.client import RankingsReader
from trackrecord.prompt.past_task_cache import (
    SUMMARY,
    alone_with_tasks,
    find_tasks,
    forget_cached_tasks,
    unpack_summary,
)
from trackrecord.queries.past_rankings import past_tasks_at, rankings_at
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.tables import past_tasks
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.subject import Subject
from trackrecord_capture.forgetting.call import opened
from trackrecord_worker.past_task_writer import PastTaskWriter
from trackrecord_worker.past_tasks import PastTaskIndexer

RIGHT = "The importer drops umlauts when a supplier's catalogue is encoded in Latin-1"
ASKED = "Umlauts are missing after the import of a catalogue in Latin-1"
WORDS = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}q" for n in range(900)]
WEIGHTS = [1.0 / (1 + n) for n in range(len(WORDS))]


def tasks(count, *, first=0, seed=0, **fields):
    """Bodies of outcomes whose words are as unevenly frequent as those of a language."""
    chance = random.Random(seed)
    return [
        body(number, instruction=" ".join(chance.choices(WORDS, WEIGHTS, k=12)), **fields)
        for number in range(first, first + count)
    ]


def learn(worker, client, settings, *bodies):
    publish(client, settings, *bodies)
    worker.drain.run()


def cached(client, settings, project="default"):
    """All that is cached, but for how far it is."""
    words = client.hgetall(settings.keys.past_task_words(project))
    records = client.hgetall(settings.keys.past_tasks(project))
    words.pop(SUMMARY, None)
    records.pop(b"state", None)
    return words, records


def order(client, settings):
    return client.get(settings.keys.past_task_order("default"))


def made_anew(worker, client, settings):
    """What is cached when it is made from nothing."""
    forget_cached_tasks(client, settings.keys, "default")
    assert worker.past_tasks.update("default")
    return cached(client, settings)


def found(settings, task=ASKED, project="default", **more):
    answer = RankingsReader(settings).read(project=project, task=task, **more)
    assert answer.problem is None
    return [each.task_id for each in answer.past_tasks]


def test_the_oldest_of_thousands_is_found(worker, store_settings, client):
    """In other words than its own, where the newest hundred know nothing of it."""
    call = {"tool_graph": [{"tool": "read_catalogue"}, {"tool": "detect_encoding"}]}
    learn(worker, client, store_settings, body(1, instruction=RIGHT, **call))
    learn(worker, client, store_settings, *tasks(3000, first=2))
    assert "t1" not in found(store_settings)
    assert worker.past_tasks.update_due() == 1
    answer = RankingsReader(store_settings).read(task=ASKED)
    assert [each.task_id for each in answer.past_tasks] == ["t1"]
    line = answer.past_tasks[0].lines["en"]
    assert line.endswith("[succeeded: read_catalogue → detect_encoding]")
    assert line in answer.prompt
    worker.adviser.advise("default")
    assert found(store_settings)[0] == "t1"
    assert worker.past_tasks.update_due() == 0


def test_new_ones_are_added_and_nothing_twice(worker, store_settings, client):
    """Batch by batch as all at once; beginning again in between changes nothing."""
    for number in range(4):
        learn(worker, client, store_settings, *tasks(60, first=60 * number, seed=number))
        worker.past_tasks.update("default")
        before = cached(client, store_settings), order(client, store_settings)
        worker.past_tasks.update("default", compare=True)
        assert (cached(client, store_settings), order(client, store_settings)) == before
    assert len(before[0][1]) == 240
    assert made_anew(worker, client, store_settings) == before[0]


@pytest.mark.parametrize("lost", ["past_tasks", "past_task_words", "past_task_order", "all"])
def test_what_a_server_lost_is_made_anew(worker, store_settings, client, lost):
    """Also where only one key was evicted."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT), *tasks(50, first=2))
    worker.past_tasks.update_due()
    before = cached(client, store_settings)
    if lost == "all":
        client.flushall()
    else:
        client.delete(getattr(store_settings.keys, lost)("default"))
    worker.refresher.refresh("default")
    assert found(store_settings)[:1] == ["t1"], "the newest hundred are in the rankings"
    assert worker.past_tasks.update_due() == 1
    assert cached(client, store_settings) == before


def test_killed_in_between(worker, store_settings, client, monkeypatch):
    """After the words and before the records, or after both: what is done again counts once."""
    learn(worker, client, store_settings, *tasks(80))
    expected = made_anew(worker, client, store_settings)
    learn(worker, client, store_settings, *tasks(80, first=80, seed=1))
    state = PastTaskWriter(client, store_settings, "default").read().state
    worker.past_tasks.update("default")
    for step in ("_new_in_order", "note"):
        # As a kill would: nothing after it happens.
        PastTaskWriter(client, store_settings, "default").note(state, 0)
        learn(worker, client, store_settings, *tasks(10, first=160, seed=2))

        def die(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(PastTaskWriter, step, die)
            with pytest.raises(KeyboardInterrupt):
                worker.past_tasks.update("default")
        worker.past_tasks.update("default")
    assert len(cached(client, store_settings)[1]) == 170
    assert len(order(client, store_settings)) == 4 * 170
    done = cached(client, store_settings)
    assert done == made_anew(worker, client, store_settings) != expected


def test_an_amended_outcome_counts_as_it_is_now(worker, store_settings, client):
    """With its new verdict at once; without a verdict it is not found any more."""
    one = {"instruction": RIGHT, "outcome_source": "heuristic", "success": True}
    learn(worker, client, store_settings, *tasks(20, first=5), body(1, **one))
    worker.past_tasks.update("default")
    learn(
        worker, client, store_settings,
        body(1, success=False, outcome_source="tests", failure_mode="wrong charset"),
    )  # fmt: skip
    worker.past_tasks.update("default")
    (task,) = RankingsReader(store_settings).read(task=ASKED).past_tasks
    assert (task.success, "wrong charset" in task.lines["en"]) == (False, True)
    worker.past_tasks.update("default", compare=True)
    assert cached(client, store_settings) == made_anew(worker, client, store_settings)


def test_what_is_erased_is_gone(worker, store_settings, client, engine):
    """Rows that are no longer in the store are not cached after the next comparison."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT), *tasks(50, first=2))
    worker.past_tasks.update("default")
    with writing(engine) as connection:
        row = connection.execute(
            select(outcomes.c.id).where(outcomes.c.outcome_id == "o1")
        ).scalar_one()
        connection.execute(delete(past_tasks).where(past_tasks.c.outcome == row))
    worker.past_tasks.update("default", compare=True)
    assert find_tasks(client, store_settings.keys, "default", ASKED) == ()
    assert cached(client, store_settings) == made_anew(worker, client, store_settings)


def test_what_a_person_forgets_is_gone_at_once(worker, store_settings, client, engine):
    """From all that is cached: the next update does without it."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT), *tasks(50, first=2))
    worker.past_tasks.update("default")
    with opened(engine, store_settings, Subject("task", "default", "t1"), print) as forgetter:
        forgetter.forget(actor="test")
    assert cached(client, store_settings) == ({}, {})
    worker.past_tasks.update_due()
    assert len(cached(client, store_settings)[1]) == 50
    assert find_tasks(client, store_settings.keys, "default", ASKED) == ()


def test_a_row_that_is_committed_late_is_found(worker, store_settings, client, engine):
    """Though a later one was there before it."""
    learn(worker, client, store_settings, *tasks(20, first=2), body(1, instruction=RIGHT))
    learn(worker, client, store_settings, *tasks(20, first=30, seed=1))
    with writing(engine) as connection:
        row = connection.execute(select(past_tasks).where(past_tasks.c.instruction == RIGHT)).one()
        connection.execute(delete(past_tasks).where(past_tasks.c.outcome == row.outcome))
    # Rows of one batch are in the order of their ids: it is the first of all.
    worker.past_tasks.update("default")
    assert find_tasks(client, store_settings.keys, "default", ASKED) == ()
    with writing(engine) as connection:
        connection.execute(insert(past_tasks).values(**row._mapping))
    worker.past_tasks.update("default", compare=True)
    (best,) = find_tasks(client, store_settings.keys, "default", ASKED)
    assert best.record.task_id == "t1"
    assert cached(client, store_settings) == made_anew(worker, client, store_settings)


def test_another_store_behind_the_same_project(worker, store_settings, client, engine):
    """The newest row says another thing than when it was cached: all is made anew."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT))
    worker.past_tasks.update("default")
    with writing(engine) as connection:
        connection.execute(update(outcomes).values(outcome_id="other"))
        connection.execute(update(past_tasks).values(instruction="Paint the shed"))
    worker.past_tasks.update("default")
    assert find_tasks(client, store_settings.keys, "default", ASKED) == ()
    (best,) = find_tasks(client, store_settings.keys, "default", "paint the shed")
    assert best.record.id == "other"


def limited(settings, most):
    return settings.model_copy(update={"memories": MemoryRules(max_found_tasks=most)})


def test_the_oldest_leave_first(worker, store_settings, client, engine):
    """However many there are, no more are cached, and none of the words of those that left."""
    few = limited(store_settings, 100)
    indexer = PastTaskIndexer(engine, client, few)
    learn(worker, client, store_settings, body(1, instruction=RIGHT), *tasks(90, first=2))
    indexer.update("default")
    for number in range(5):
        learn(worker, client, store_settings, *tasks(30, first=100 + 30 * number, seed=number))
        indexer.update("default", compare=True)
        assert 98 <= len(cached(client, store_settings)[1]) <= 100
    assert find_tasks(client, store_settings.keys, "default", ASKED) == ()
    words, records = cached(client, store_settings)
    forget_cached_tasks(client, few.keys, "default")
    indexer.update("default")
    anew = cached(client, store_settings)
    assert records.items() <= anew[1].items()
    PastTaskIndexer(engine, client, limited(store_settings, 0)).update_due()
    assert cached(client, store_settings) == ({}, {})
    assert all(len(value) > 4 for value in words.values())


def test_a_raised_bound_brings_older_ones_back(worker, store_settings, client, engine):
    """What is cached is made for one bound."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT), *tasks(60, first=2))
    PastTaskIndexer(engine, client, limited(store_settings, 10)).update("default")
    assert find_tasks(client, store_settings.keys, "default", ASKED) == ()
    worker.past_tasks.update("default")
    assert find_tasks(client, store_settings.keys, "default", ASKED)


def test_projects_are_kept_apart(worker, store_settings, client):
    """No words of one lead to the tasks of another."""
    learn(
        worker, client, store_settings,
        body(1, instruction=RIGHT, project="other"), body(2, instruction="Paint the shed"),
    )  # fmt: skip
    assert worker.past_tasks.update_due() == 2
    assert found(store_settings) == []
    assert found(store_settings, project="other") == ["t1"]


def test_chinese(worker, store_settings, client):
    """By pairs of characters."""
    chinese = body(1, instruction="修复登录页面在午夜之后拒绝有效会话的问题")
    learn(worker, client, store_settings, chinese, *tasks(200, first=2))
    worker.past_tasks.update_due()
    answer = RankingsReader(store_settings).read(task="午夜之后登录页面拒绝会话", lang="zh")
    assert [each.task_id for each in answer.past_tasks] == ["t1"]
    assert "[成功]" in answer.prompt


def test_equal_texts_are_one_line(worker, store_settings, client):
    """With how often they succeeded, and in what the last failure ended."""
    learn(
        worker, client, store_settings,
        body(1, instruction=RIGHT, timestamp=1e9, success=False),
        body(2, instruction=RIGHT, timestamp=1.1e9),
        body(3, instruction=RIGHT, timestamp=1.2e9, failure_mode="timeout", success=False),
    )  # fmt: skip
    worker.past_tasks.update_due()
    (task,) = RankingsReader(store_settings).read(task=ASKED).past_tasks
    assert (task.task_id, task.success) == ("t3", False)
    assert "[1 of 3 succeeded; a failure ended in: timeout]" in task.lines["en"]


def test_a_moment_of_the_past(worker, store_settings, client, engine):
    """Answers as the cache did then: nothing that was received later counts."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT), *tasks(300, first=2))
    worker.past_tasks.update_due()
    with reading(engine) as connection:
        moment = max(connection.execute(select(outcomes.c.received_at)).scalars()) + 0.0005
    asked = [ASKED, " ".join(WORDS[:8]), " ".join(WORDS[40:60])]

    def now():
        return [find_tasks(client, store_settings.keys, "default", each) for each in asked]

    then = now()
    assert then[0][0].record.task_id == "t1"
    assert len(then[1]) > 3
    later = [body(900 + n, instruction=f"{RIGHT} {n}", success=False) for n in range(40)]
    learn(worker, client, store_settings, *later, *tasks(300, first=1000, seed=5))
    learn(worker, client, store_settings, body(1, success=False, outcome_source="evaluator"))
    worker.past_tasks.update_due()
    index_past_tasks(engine)
    assert now() != then
    with reading(engine) as connection:
        document = rankings_at(connection, store_settings, "default", moment)
        # Of the newest ones the rankings have no tools: here they are found by their words alone.
        document = replaced(document)
        answered = [past_tasks_at(connection, document, each, moment) for each in asked]
        assert past_tasks_at(connection, document, None, moment) is None
        assert past_tasks_at(connection, document, ASKED, 1.0) == ()
    assert answered == then


def replaced(document):
    return type(document)(project=document.project, revision=0, computed_at=0.0)


def test_two_workers_do_not_write_at_once(worker, store_settings, client):
    """The second one leaves it to the first; whoever erases waits, and a dead one's lock ends."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT))
    keys = store_settings.keys
    with alone_with_tasks(client, keys, "default") as first:
        assert first
        assert not worker.past_tasks.update("default")
        with alone_with_tasks(client, keys, "default", wait_s=0.2) as second:
            assert not second
        assert 0 < client.pttl(keys.past_task_lock("default")) <= 60_000
    assert worker.past_tasks.update("default")
    assert client.exists(keys.past_task_lock("default")) == 0


def test_what_another_version_wrote_is_passed_over(worker, store_settings, client):
    """By agents, who have the newest of the rankings; a worker makes it anew."""
    learn(worker, client, store_settings, body(1, instruction=RIGHT))
    worker.past_tasks.update("default")
    keys = store_settings.keys
    name = next(field for field in client.hkeys(keys.past_tasks("default")) if len(field) == 4)
    client.hset(keys.past_tasks("default"), name, b"\xc1")
    assert found(store_settings) == ["t1"]
    client.hset(keys.past_task_words("default"), SUMMARY, b"another form")
    assert found(store_settings) == ["t1"]
    worker.past_tasks.update_due()
    (best,) = find_tasks(client, keys, "default", ASKED)
    assert best.record.task_id == "t1"


def test_the_newest_are_found_before_they_are_cached(worker, store_settings, client):
    """While the cache is behind the rankings, their newest past tasks are looked at, too."""
    learn(worker, client, store_settings, *tasks(10, first=2))
    worker.past_tasks.update("default")
    learn(worker, client, store_settings, body(1, instruction=RIGHT))
    summary = unpack_summary(client.hget(store_settings.keys.past_task_words("default"), SUMMARY))
    assert summary.size == 10
    assert found(store_settings) == ["t1"]
    assert found(store_settings, "quite another thing") == []
