"""The cached advice follows the runs, without taking much of a worker's time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, event, select

import trackrecord
from tests.worker.working import body, changed, learn, publish
from trackrecord.learning.advice.moments.commands import command_id
from trackrecord.learning.advice.moments.facts import KnownFailure, decode_moments
from trackrecord.prompt.reading.cache import read_moments
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.resources.access.project_store import ProjectStore, calls_use
from trackrecord.resources.experience.patterns import Pattern
from trackrecord.settings.settings import Settings
from trackrecord.store.advice.lesson_decisions import LessonAction, LessonDecision, decide_lesson
from trackrecord.store.advice.tables import run_counts
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.wire.subject import Subject
from trackrecord_consolidation.forget import forget_in_store
from trackrecord_worker.services import Services


def runs_advised(settings: Settings, project: str = "default") -> int | None:
    """The number of runs that an agent's advice was counted from; None without any advice."""
    advice = RankingsReader(settings).cached(project).advice
    return None if advice is None else advice.runs


def test_advice_is_counted_again_after_new_runs_and_not_without(worker, store_settings, client):
    """Of each project that has some."""
    learn(worker, body(1), body(1, project="other"))
    # A slow machine leaves the second project to the next call; then nothing is due.
    assert sum(iter(worker.adviser.advise_due, 0)) == 2
    assert (runs_advised(store_settings), runs_advised(store_settings, "other")) == (1, 1)
    learn(worker, body(2))
    # As if the last count had been long ago, compared with how long it took.
    client.hset(store_settings.keys.rankings("default"), "advice_cost_s", "0")
    assert worker.adviser.advise_due() == 1
    assert runs_advised(store_settings) == 2


def test_a_count_that_took_long_is_not_repeated_soon(worker, store_settings, client):
    """A twentieth of the time at most goes into it."""
    learn(worker, body(1))
    worker.adviser.advise("default")
    client.hset(store_settings.keys.rankings("default"), "advice_cost_s", "3600")
    learn(worker, body(2))
    assert worker.adviser.advise_due() == 0
    assert runs_advised(store_settings) == 1


def test_a_quiet_project_does_not_wait_for_a_round_of_large_ones(
    worker, store_settings, client, monkeypatch
):
    """What is counted first is most overdue for its cost, not the oldest."""
    names = ["large-0", "large-1", "large-2", "quiet"]
    learn(worker, *(body(number, project=name) for number, name in enumerate(names)))
    while worker.adviser.advise_due():
        pass
    learn(worker, *(body(9 + number, project=name) for number, name in enumerate(names)))
    for name in names:
        cost, age = ("0.01", 10.0) if name == "quiet" else ("3", 300.0)
        fields = {"advice_cost_s": cost, "advice_computed_at": repr(time.time() - age)}
        assert not client.hset(store_settings.keys.rankings(name), mapping=fields)  # no new ones
    order: list[str] = []
    monkeypatch.setattr(worker.adviser, "advise", lambda name, force: order.append(name))
    assert worker.adviser.advise_due() == len(names)
    assert order[0] == "quiet"


def test_what_waits_is_learnt_first(worker_of, store_settings, client):
    """While more outcomes wait than one batch takes, nothing is counted."""
    settings = changed(store_settings, batch_size=2)
    worker = worker_of(settings)
    learn(worker, body(1))
    publish(client, settings, *(body(n) for n in range(2, 5)))
    assert worker.adviser.advise_due() == 0
    assert runs_advised(settings) is None
    worker.drain.run()
    assert worker.adviser.advise_due() == 1
    assert runs_advised(settings) == 4


def test_what_is_known_at_a_failure_is_cached_beside_it(worker, store_settings, client):
    """With the line that a session's start says, from five sessions on."""
    calls = [
        {
            "tool": "shell:bun test", "args": {"command": line}, "ok": state == "passed",
            "error": None if state == "passed" else "error: unrecognized subcommand 'bun'",
            "checks": [{"kind": "test", "state": state, "line": line, "is_whole": True}],
        }
        for line, state in (("rtk bun run test", "not started"), ("bun run test", "passed"))
    ]  # fmt: skip
    for number in range(5):
        fields = {"tool_graph": calls, "captured_from": "transcript"}
        learn(worker, body(number, **fields, metadata={"session": f"s{number}"}))
    worker.adviser.advise("default")
    _, data = read_moments(client, store_settings, "default")
    assert data is not None
    (facts,) = decode_moments(data).repositories.values()
    failure = facts.failure("line rtk bun run test", "")
    assert failure is not None
    assert (failure.sessions, failure.remedy) == (5, "bun run test")
    advice = RankingsReader(store_settings).cached("default").advice
    assert advice is not None
    (line,) = advice.standing.values()
    assert line.startswith("Tests ran in this repository with `bun run test` (5 sessions")
    assert line.endswith("`rtk bun run test` has failed in the last 5 sessions.")
    # What tells of the same calls is known, so that no session is told twice.
    (lesson,) = (each for each in advice.lessons if each.tools == ("shell:bun test",))
    assert advice.standing_lessons == (lesson.id,)

    def decided(action: LessonAction) -> tuple[KnownFailure | None, dict[str, str], list[str]]:
        """Decide as a person; return the known failure, the lines of a start, the lessons."""
        broken = LessonDecision(
            command_id("", "test", "rtk bun run test"), action, "ada", "known", time.time()
        )
        with writing(worker.engine) as connection:
            project_id = project_id_of(connection, "default")
            assert project_id is not None
            assert decide_lesson(connection, project_id, broken)
        worker.adviser.advise("default")
        reader = RankingsReader(store_settings)
        advice = reader.cached("default").advice
        assert advice is not None
        known = reader.moments("default").of("").failure("line rtk bun run test", "")
        return known, dict(advice.standing), [each.id for each in advice.lessons]

    # Nor is it told as a lesson of the same calls.
    assert decided(LessonAction.DISMISS) == (None, {}, [])
    restored, standing, lessons = decided(LessonAction.RESTORE)
    assert (restored, list(standing.values()), lessons) == (failure, [line], [lesson.id])


@pytest.fixture
def large(worker: Services, client: redis.Redis) -> Services:
    """A worker that has learnt and counted a project of more runs than readers count themselves."""
    teach(worker, client, range(1010))
    worker.adviser.advise("default")
    return worker


def teach(worker: Services, client: redis.Redis, numbers: range, **fields: Any) -> None:
    """Have runs learnt, one in three of which fails at a step of its own."""
    publish(client, worker.settings, *(_run(number, **fields) for number in numbers))
    while client.xlen(worker.settings.keys.outcomes):
        worker.drain.run()


def _run(number: int, **fields: Any) -> bytes:
    step = {"tool": f"step-{number % 9}", "ok": number % 3 > 0, "error": f"no seat {number % 9}"}
    values = {
        "success": number % 3 > 0,
        "source": "pilot",
        "patterns": [f"pattern {number % 50}"],
        "tool_graph": [{"tool": "find", "ok": True}, step],
    }
    return body(number, **values | fields)


@contextmanager
def asking(engine: Engine, settings: Settings) -> Iterator[list[str]]:
    """Answer questions from a store; yield the statements by which runs were read for that."""
    found: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "FROM runs" in statement:
            found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        with calls_use(ProjectStore(engine, settings, "default")):
            yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


@contextmanager
def once_before(engine: Engine, words: str, act: Callable[[], None]) -> Iterator[None]:
    """Do something before the first statement with these words is executed."""
    left = [act]

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if words in statement and left:
            left.pop()()

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert not left


def parts_on_record(engine: Engine) -> set[str]:
    """Return what the worker's last counts are of."""
    with reading(engine) as connection:
        return set(connection.execute(select(run_counts.c.part)).scalars())


def in_order(patterns: list[Pattern]) -> list[tuple[str, float]]:
    """Return what the order of patterns follows from, apart from some seconds of age."""
    return [(each.state_in_words, round(each.score, 4)) for each in patterns]


def test_readers_of_a_large_project_count_no_runs(large, store_settings, client, engine):
    """They show what the worker counted: the same, and beside it what is not counted from runs."""
    with asking(engine, store_settings) as runs_read:
        lessons = [(each.id, each.text, each.agents) for each in trackrecord.list_lessons()]
        best = trackrecord.list_patterns(limit=50)
        shown = trackrecord.show_pattern(best[0].id)
        assert not runs_read
    with engine.begin() as connection:
        kept = [dict(row) for row in connection.execute(select(run_counts)).mappings()]
        connection.execute(run_counts.delete())
    with asking(engine, store_settings) as runs_read:
        assert [(each.id, each.text, each.agents) for each in trackrecord.list_lessons()] == lessons
        assert lessons
        assert in_order(trackrecord.list_patterns(limit=50)) == in_order(best)
        assert {each.id for each in trackrecord.list_patterns()} == {each.id for each in best}
        assert trackrecord.show_pattern(best[0].id).estimate.words == shown.estimate.words
        assert runs_read
    with engine.begin() as connection:
        connection.execute(run_counts.insert(), kept)
    # A change, and a pattern that no count knows.
    teach(large, client, range(2000, 2008), success=True, patterns=["brand new"])
    with asking(engine, store_settings) as runs_read:
        assert [each.id for each in trackrecord.list_lessons()] == [each[0] for each in lessons]
        page = found = trackrecord.list_patterns(limit=20)
        while page:
            page = trackrecord.list_patterns(limit=20, after=page[-1].cursor)
            found = [*found, *page]
        assert "brand-new" in {each.id for each in found}
        assert len(found) == len({each.slug for each in found}) == 51
        assert trackrecord.show_pattern("brand-new").success_count == 8
        assert not runs_read


def test_what_was_counted_is_not_shown_once_much_has_come_since(
    large, store_settings, client, engine
):
    """Nor once much was amended, or after a change of the rules: it is counted again."""
    other = changed(store_settings, lessons={"max_lessons": 1})
    with asking(engine, other) as runs_read:
        assert len(trackrecord.list_lessons()) == 1
        assert runs_read
    teach(large, client, range(3000, 3030), tool_graph=[{"tool": "land", "ok": False}])
    with asking(engine, store_settings) as runs_read:
        assert any(each.tools == ("land",) for each in trackrecord.list_lessons())
        assert runs_read
    large.adviser.advise("default")
    # Amendments, without a new outcome.
    teach(large, client, range(1, 91, 3), success=False)
    with asking(engine, store_settings) as runs_read:
        trackrecord.list_lessons()
        assert runs_read


def test_what_was_counted_goes_with_what_is_forgotten(large, store_settings, engine):
    """It tells of runs; nor does a count come on record that read them just before."""
    assert parts_on_record(engine) == {"lessons", "estimates", "patterns"}
    subject = Subject("task", "default", "t1")
    begun_at = time.time()

    def forget() -> None:
        rules = store_settings.rules
        forget_in_store(engine, rules, subject, (), actor="test", now=begun_at)
        assert not parts_on_record(engine)

    # Once the runs are read, and before anything else is.
    with once_before(large.engine, "FROM tried_calls", forget):
        large.adviser.advise("default")
    assert not parts_on_record(engine)
    large.adviser.advise("default")
    assert parts_on_record(engine) == {"lessons", "estimates", "patterns"}


def test_what_was_counted_may_be_dropped_while_it_is_read(large, store_settings, engine):
    """A reader that no longer finds it counts for itself, or sees the store as it was."""

    def drop() -> None:
        with large.engine.begin() as connection:
            connection.execute(run_counts.delete())

    with asking(engine, store_settings), once_before(engine, "SELECT run_counts.data", drop):
        assert trackrecord.list_lessons()
    assert not parts_on_record(engine)
