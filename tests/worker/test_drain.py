"""Draining the stream: each outcome counts once, and nothing holds up the others."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, event, select, text

from tests.worker.working import all_counted, body, changed, learnt_counts, publish, recorded_ids
from trackrecord.redis.keys import CONSUMER_GROUP
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.memories.tables import past_tasks
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.outcome import Outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome
from trackrecord_worker.jobs import learn_waiting
from trackrecord_worker.learning.drain import BackgroundStream, BatchSize
from trackrecord_worker.learning.stream import OutcomeStream
from trackrecord_worker.services import Services

WorkerOf = Callable[[Settings], Services]


def pending(client: redis.Redis, settings: Settings) -> int:
    answer: Any = client.xpending(settings.keys.outcomes, CONSUMER_GROUP)
    return int(answer["pending"])


def test_redis_waits_on_while_the_worker_does_not(store_settings, client):
    """What comes then is neither lost nor read twice."""
    stream = OutcomeStream(client, store_settings.keys)
    stream.ensure_group()
    background = BackgroundStream(stream, BatchSize(10, 1000, 1000))
    for number in range(3):
        # It would wait for longer than a test may.
        assert background.next_batch(3600.0, wait_s=0.01) == []
        assert background.next_batch(3600.0, wait_s=0.0) == []
        (entry_id,) = publish(client, store_settings, body(number))
        assert [each for each, _ in background.next_batch(3600.0)] == [entry_id]
    assert background.next_batch(0.01) == []
    assert pending(client, store_settings) == 3


def test_the_database_is_asked_only_where_something_was_learnt(worker, store_settings, client):
    """A wake-up every second costs it nothing; the task that was learnt is found at once."""
    asked: list[str] = []
    event.listen(worker.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    learn_waiting(worker)
    assert asked == []
    publish(client, store_settings, body(instruction="Book a flight to Rome"))
    learn_waiting(worker)
    with reading(worker.engine) as connection:
        assert list(connection.execute(select(past_tasks.c.is_indexed)).scalars()) == [True]


def test_without_an_id_the_entry_is_the_id(worker, store_settings, client, engine):
    """The same one when the entry is delivered again."""
    (entry_id,) = publish(client, store_settings, body(outcome_id=None))
    stream = OutcomeStream(client, store_settings.keys)
    stream.ensure_group()
    entries = stream.read_new(10, None)
    done = worker.drain.run()
    assert worker.drain.learn_entries(entries, done)
    assert worker.drain.learn_entries(entries, done)
    assert (done["recorded"], done["duplicates"]) == (1, 1)
    assert recorded_ids(engine) == {f"stream:{entry_id.decode()}"}


def test_received_when_redis_took_it(worker, store_settings, client, engine):
    """Not when the worker came to it; an entry with an id of the future is received now."""
    an_hour_ago = int((time.time() - 3600) * 1000)
    fields: Any = {"v": "1", "body": body(1)}
    client.xadd(store_settings.keys.outcomes, fields, id=f"{an_hour_ago}-0")
    fields = {"v": "1", "body": body(2, timestamp=4e9)}
    client.xadd(store_settings.keys.outcomes, fields, id=f"{an_hour_ago * 2}-0")
    worker.drain.run()
    with reading(engine) as connection:
        rows = connection.execute(
            select(outcomes.c.outcome_id, outcomes.c.received_at, outcomes.c.ended_at)
        ).all()
    by_id = {row.outcome_id: row for row in rows}
    assert by_id["o1"].received_at == an_hour_ago / 1000 == by_id["o1"].ended_at
    assert by_id["o2"].received_at == pytest.approx(time.time(), abs=5)
    assert by_id["o2"].ended_at == by_id["o2"].received_at


def test_what_was_read_and_not_learnt_is_tried_again(worker, store_settings, client, engine):
    """First of all, by the same process, at its next drain."""
    publish(client, store_settings, *(body(n) for n in range(3)))
    lock = engine.connect()
    if engine.dialect.name == "sqlite":
        lock = lock.execution_options(writes=True)
    with lock, lock.begin():
        if engine.dialect.name != "sqlite":
            lock.execute(text("LOCK TABLE outcomes IN ACCESS EXCLUSIVE MODE"))
        assert worker.drain.run()["batches"] == 0
        assert pending(client, store_settings) == 3
        assert worker.outage.is_pausing
        assert worker.drain.run()["batches"] == 0
    publish(client, store_settings, body(3))
    worker.outage._resume_at = 0.0  # as if the pause were over
    done = worker.drain.run()
    assert (done["recorded"], done["duplicates"], done["batches"]) == (4, 0, 2)
    assert learnt_counts(engine) == all_counted(4)


def test_what_a_dead_worker_left_is_taken_over(
    worker, worker_of, store_settings, client,
    engine
):  # fmt: skip
    """After the idle time, not before, and in as many batches as it takes."""
    publish(client, store_settings, *(body(n) for n in range(25)), b"bad")
    dead = OutcomeStream(client, store_settings.keys)
    dead.ensure_group()
    assert len(dead.read_new(100, None)) == 26
    patient = worker_of(changed(store_settings, claim_idle_s=3600))
    assert patient.drain.take_over()["batches"] == 0
    time.sleep(2 * store_settings.claim_idle_s)
    quick = changed(store_settings, batch_size=10)
    done = worker_of(quick).drain.take_over()
    assert (done["recorded"], done["refused"], done["batches"]) == (25, 1, 3)
    assert pending(client, store_settings) == 0
    assert learnt_counts(engine) == all_counted(25)


def test_an_entry_that_was_deleted_by_hand(worker, store_settings, client):
    """While it was pending: it is forgotten, and holds up nothing."""
    ids = publish(client, store_settings, *(body(n) for n in range(3)))
    stream = OutcomeStream(client, store_settings.keys)
    stream.ensure_group()
    stream.read_new(100, None)
    client.xdel(store_settings.keys.outcomes, ids[1])
    time.sleep(2 * store_settings.claim_idle_s)
    assert worker.drain.take_over()["recorded"] == 2
    worker.drain.run()
    assert pending(client, store_settings) == 0


def test_consumers_that_are_gone_are_forgotten(worker, store_settings, client, monkeypatch):
    """Once they owe nothing; one that still owes entries is kept."""
    publish(client, store_settings, body(1))
    owing, free = (OutcomeStream(client, store_settings.keys) for _ in range(2))
    owing.ensure_group()
    owing.read_new(1, None)
    free.read_new(1, None)
    consumers: Any = client.xinfo_consumers(store_settings.keys.outcomes, CONSUMER_GROUP)
    names = {each["name"] for each in consumers}
    assert len(names) >= 1
    assert worker.drain._stream.forget_gone_consumers() == 0
    monkeypatch.setattr("trackrecord_worker.learning.stream._FORGET_CONSUMER_AFTER_MS", 20)
    time.sleep(0.05)
    worker.drain._stream.forget_gone_consumers()
    consumers = client.xinfo_consumers(store_settings.keys.outcomes, CONSUMER_GROUP)
    assert [each["pending"] for each in consumers] == [1]


def test_a_long_backlog_wakes_another(worker_of, store_settings,
                                      client):  # fmt: skip
    """Once in a drain; a short one wakes nobody."""
    small = changed(store_settings, batch_size=5)
    stages = worker_of(small)
    woken: list[int] = []
    stages.drain._wake_another = lambda: woken.append(1)
    publish(client, small, *(body(n) for n in range(10)))
    stages.drain.run()
    assert woken == []
    publish(client, small, *(body(n) for n in range(10, 60)))
    assert stages.drain.run()["batches"] == 10
    assert woken == [1]


def test_the_slice_ends(worker_of, store_settings, client):
    """A drain gives its process back after its slice, however much is waiting."""
    small = changed(store_settings, batch_size=1, drain_slice_s=0.3)
    stages = worker_of(small)
    publish(client, small, *(body(n) for n in range(3000)))
    done = stages.drain.run()
    assert 0 < done["recorded"] < 3000


def refuse(engine: Engine, condition: str) -> None:
    """Make the database refuse some outcomes, by a trigger."""
    if engine.dialect.name == "sqlite":
        function = ""
        trigger = f"WHEN {condition} BEGIN SELECT RAISE(ABORT, 'poison'); END"
    else:
        raising = f"BEGIN IF {condition} THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END"
        function = f"CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $${raising}$$;"
        trigger = "FOR EACH ROW EXECUTE FUNCTION poison()"
    with writing(engine) as connection:
        connection.exec_driver_sql(
            f"{function} CREATE TRIGGER poison BEFORE INSERT ON outcomes {trigger}"
        )


def test_what_the_database_refuses(worker, store_settings, client, engine):
    """Only that goes to the dead letters; the rest of its batch is learnt, once."""
    refuse(engine, "NEW.task_id = 't7'")
    publish(client, store_settings, *(body(n) for n in range(20)))
    done = worker.drain.run()
    assert (done["recorded"], done["refused"], done["duplicates"]) == (19, 1, 0)
    letters: Any = client.xrange(store_settings.keys.dead)
    assert [fields[b"body"] for _, fields in letters] == [body(7)]
    assert b"the database refuses it" in letters[0][1][b"reason"]
    assert learnt_counts(engine) == all_counted(19)
    assert not worker.outage.is_pausing


def test_an_outcome_that_the_database_refuses_once(worker, store_settings, client, engine):
    """What was wrong is over before it is blamed."""
    refusals = iter([True])

    def refuse_once(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "outcomes" in statement and statement.lstrip().startswith(("INSERT", "WITH")):
            for _ in refusals:
                raise worker.engine.dialect.loaded_dbapi.InternalError  # type: ignore[attr-defined]

    event.listen(worker.engine, "after_cursor_execute", refuse_once)
    publish(client, store_settings, body(7))
    done = worker.drain.run()
    assert (done["recorded"], done["refused"], list(refusals)) == (1, 0, [])
    assert learnt_counts(engine) == all_counted(1)


def test_a_database_that_refuses_everything_is_away(worker, store_settings, client, engine):
    """Nothing is the outcomes' fault then: they wait, and none goes to the dead letters."""
    with writing(engine) as connection:
        connection.exec_driver_sql("ALTER TABLE receipts RENAME TO mislaid")
    publish(client, store_settings, *(body(n) for n in range(20)), b"bad")
    worker.drain.run()
    assert worker.outage.is_pausing
    assert client.xlen(store_settings.keys.dead) <= 1
    with writing(engine) as connection:
        connection.exec_driver_sql("ALTER TABLE mislaid RENAME TO receipts")
    worker.outage._resume_at = 0.0  # as if the pause were over
    assert worker.drain.run()["recorded"] == 20
    assert client.xlen(store_settings.keys.dead) == 1
    assert learnt_counts(engine) == all_counted(20)


def test_a_fault_of_ours_holds_up_nothing(worker, store_settings, client, engine):
    """An outcome that cannot be scored, for an unforeseen reason, goes to the dead letters."""

    class Faulty(OutcomeScorer):
        def score(self, outcome: Outcome, *arguments: Any, **named: Any) -> ScoredOutcome:
            if outcome.task_id == "t3":
                raise ZeroDivisionError
            return super().score(outcome, *arguments, **named)

    faulty = Faulty(store_settings.scoring, worker.recogniser, store_settings.criteria)
    worker.drain._context = replace(worker.drain._context, scorer=faulty)
    publish(client, store_settings, *(body(n) for n in range(6)))
    done = worker.drain.run()
    assert (done["recorded"], done["refused"]) == (5, 1)
    letters: Any = client.xrange(store_settings.keys.dead)
    assert letters[0][1][b"body"] == body(3)
    assert b"cannot be scored" in letters[0][1][b"reason"]
    assert client.xlen(store_settings.keys.outcomes) == 0


def test_the_log_says_how_many_patterns_changed_and_not_which(
    worker, store_settings, client, capsys, caplog
):
    """Their names would stay in the log after the project was forgotten."""
    caplog.set_level("INFO")
    plans = ["secret plan", "another secret"]
    publish(client, store_settings, *(body(n, patterns=plans) for n in range(6)))
    worker.drain.run()
    # Where it goes depends on which test of the process was first to set up logs.
    said = caplog.text + "".join(capsys.readouterr())
    # Both places, where a test before set up both.
    (line, *_) = (each for each in said.splitlines() if "patterns_changed" in each)
    assert re.search(r"maturity_proven\W+2\b", line)
    assert "secret" not in said
