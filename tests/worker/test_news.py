"""News: what changed between two moments, as the worker leaves it behind."""

import time
from datetime import UTC, datetime

import pytest
import redis
from sqlalchemy import Engine, insert, select

from tests.worker.working import body, learn
from trackrecord.resources.operation.news import News, NewsKind, changes_between
from trackrecord.resources.operation.status import read_status
from trackrecord.settings.settings import Settings
from trackrecord.store.competences.tables import consolidation_runs
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.database.leases import take_lease
from trackrecord.store.outcomes.tables import projects
from trackrecord_worker.services import Services

CALLS = [{"tool": "deploy", "ok": False, "error": "no such host"}, {"tool": "ls", "ok": True}]


@pytest.fixture
def news(worker: Services, store_settings: Settings, engine: Engine, client: redis.Redis):
    """Asks for the news of a project since a moment."""

    def ask(since: float, project: str = "default") -> list[News]:
        _ = worker.engine  # migrated
        with reading(engine) as connection:
            return changes_between(
                connection, client, store_settings, project, since=since, until=time.time()
            )

    return ask


def test_a_pattern_rises_and_falls(worker, news):
    """Proven after helpful outcomes; broken, and a warning, after harmful ones; once each."""
    start = time.time() - 0.01  # the stream counts in milliseconds
    learn(worker, *(body(n) for n in range(6)))
    (proven,) = news(start)
    assert proven.kind is NewsKind.PROVEN
    assert '"Split by feature" became proven (6 helpful, 0 harmful).' in proven.text
    assert (proven.project, proven.numbers["helpful"]) == ("default", 6)
    time.sleep(0.01)
    middle = time.time()
    time.sleep(0.01)
    learn(worker, *(body(n, success=False, error_count=9, retry_count=9) for n in range(10, 40)))
    assert [each.kind for each in news(middle)] == [NewsKind.BROKE, NewsKind.WARNING]
    assert [each.kind for each in news(start)] == [
        NewsKind.PROVEN, NewsKind.BROKE, NewsKind.WARNING,
    ]  # fmt: skip
    assert news(time.time()) == []


def test_the_moment_of_news_is_that_of_the_run_that_brought_it(worker, news):
    """Of old logs, too: what they say happened long ago, and not when they were read."""
    end = time.time() - 20 * 86_400.0
    old = [body(n, timestamp=end - (9 - n) * 60.0, tool_graph=CALLS) for n in range(10)]
    learn(worker, old[0])
    worker.adviser.advise("default")
    learn(worker, *old[1:])
    worker.adviser.advise("default", force=True)
    told = {each.kind: each.at for each in news(end - 1.0)}
    assert told == {NewsKind.PROVEN: end, NewsKind.LESSON: end}
    assert news(end) == []


def test_a_project_hears_only_of_itself(worker, news):
    """Of its patterns as of its lessons."""
    start = time.time() - 0.01
    learn(worker, body(0, project="other"), body(1))
    worker.adviser.advise("other")
    worker.adviser.advise("default")
    learn(worker, *(body(n, project="other", tool_graph=CALLS) for n in range(2, 9)))
    worker.adviser.advise("other")
    worker.adviser.advise("default")
    assert NewsKind.LESSON in [each.kind for each in news(start, "other")]
    assert news(start) == []


def test_a_lesson_appears_once(worker, news):
    """When it is established; not those that stood when the project was first counted."""
    start = time.time()
    old = [{"tool": "build", "ok": False, "error": "disk is full"}, {"tool": "ls", "ok": True}]
    learn(worker, *(body(n, tool_graph=old) for n in range(5)))
    worker.adviser.advise("default")
    assert NewsKind.LESSON not in [each.kind for each in news(start)]
    learn(worker, *(body(n, tool_graph=CALLS) for n in range(10, 15)))
    worker.adviser.advise("default")
    told = [each for each in news(start) if each.kind is NewsKind.LESSON]
    assert told
    assert all("deploy" in each.text and "build" not in each.text for each in told)
    worker.adviser.advise("default", force=True)
    assert [each for each in news(start) if each.kind is NewsKind.LESSON] == told


def test_a_consolidation_that_died_is_news_and_one_at_work_is_not(worker, engine, news):
    """It is at work as long as somebody holds the lease."""
    learn(worker, body(0))
    start = time.time() - 1
    with writing(engine) as connection:
        row = connection.execute(select(projects.c.id)).scalar_one()
        connection.execute(
            insert(consolidation_runs).values(
                project_id=row, actor="nightly", started_at=time.time(), episodes_read=0,
                signatures_touched=0, records_created=0, records_reinforced=0,
                records_updated=0, skipped="{}",
            )
        )  # fmt: skip
        take_lease(connection, "consolidate:default", "me", now=time.time(), seconds=1000)
    assert news(start) == []
    with writing(engine) as connection:
        take_lease(connection, "consolidate:default", "you", now=time.time() + 2000, seconds=-2001)
    (failed,) = news(start)
    assert failed.kind is NewsKind.CONSOLIDATION_FAILED
    assert "was not finished" in failed.text


def tried(number: int, line: str, *, starts: bool, instead: str = "", **fields: object) -> bytes:
    """A session that tries to run its tests with a line, one a day until today."""
    lines = [(line, starts), *([(instead, True)] if instead else [])]
    calls = [
        {
            "tool": "shell:npm test", "args": {"command": each}, "ok": ok,
            "error": None if ok else "sh: 1: vitest: not found",
            "checks": [{
                "kind": "test", "state": "passed" if ok else "not started", "line": each,
                "is_whole": True,
            }],
        }
        for each, ok in lines
    ]  # fmt: skip
    at = time.time() - (30 - number) * 86_400.0
    fields = {"tool_graph": calls, "captured_from": "transcript", "timestamp": at, **fields}
    return body(number, **fields, metadata={"session": f"s{number}"})


def day(number: int) -> str:
    """The day of a session, as it is told."""
    then = datetime.fromtimestamp(time.time() - (30 - number) * 86_400.0, UTC)
    return f"{then.day} {then:%B}"


@pytest.fixture
def status(worker: Services, store_settings: Settings, engine: Engine, client: redis.Redis):
    """Asks for the standing defects in the status."""

    def ask(project: str | None = "default") -> tuple[str, ...]:
        with reading(engine) as connection:
            found = read_status(client, connection, store_settings, project=project)
        return found.standing_defects

    return ask


def test_a_standing_defect_is_told_when_it_begins_and_when_it_ends(
    worker, worker_of, store_settings, news, status
):
    """Once each: in the news and in the status, whatever is repeated or restarted."""
    start = time.time() - 40 * 86_400.0  # it happened when it failed, not when that was read
    settings = store_settings

    def count(*bodies: bytes) -> list[tuple[str, str]]:
        """Learn runs, count them, and count and look again with new workers."""
        learn(worker, *bodies)
        worker.adviser.advise("default")
        for again in (worker_of(settings), worker_of(settings)):
            learn(again, *bodies)
            again.adviser.advise("default", force=True)
        told = [each for each in news(start) if each.kind.startswith("defect")]
        return [(str(each.kind), each.text) for each in sorted(told, key=lambda each: each.at)]

    fails = [tried(n, "npm test", starts=False, instead="npx vitest") for n in range(6)]
    assert count(*fails[:4]) == []
    assert status() == ()
    began = (
        f"`npm test` never ran: it failed in each of 5 sessions since {day(0)} (vitest: not found)"
        "; `npx vitest` then ran in 5"
    )
    assert count(fails[4]) == [("defect.began", f"{began}.")]
    assert status() == (began,)
    assert status(None) == (f"default: {began}",)
    assert len(count(fails[5])) == 1
    time.sleep(0.01)  # the stream counts in milliseconds
    ended = (
        f"`npm test` has run again since {day(6)}: before, it failed in each of 6 sessions since "
        f"{day(0)}."
    )
    assert count(tried(6, "npm test", starts=True)) == [("defect.ended", ended)]
    assert status() == ()
    (last,) = (each for each in news(start) if each.kind.startswith("defect"))
    assert (last.kind, last.text) == (NewsKind.DEFECT_ENDED, ended)
    assert last.numbers == {"sessions": 6}
    assert count(tried(7, "npm test", starts=False))[2:] == []


def test_a_defect_of_before_the_first_count_is_no_news_but_stands(worker, news, status):
    """Nor is one that another project has; what a person dismisses stands no more."""
    start = time.time() - 40 * 86_400.0  # it happened when it failed, not when that was read
    learn(worker, *(tried(n, "npm test", starts=False) for n in range(5)))
    learn(worker, body(50, project="other"))
    worker.adviser.advise("default")
    worker.adviser.advise("other")
    assert NewsKind.DEFECT not in {each.kind for each in news(start)}
    assert [each.partition(":")[0] for each in status()] == ["`npm test` never ran"]
    assert status("other") == ()
    # The same calls by other words are no news, either; and it ends.
    learn(worker, *(tried(n, f"npm test {n}", starts=False) for n in range(10, 16)))
    worker.adviser.advise("default")
    assert NewsKind.DEFECT not in {each.kind for each in news(start)}
    learn(worker, tried(20, "npm test", starts=True))
    worker.adviser.advise("default")
    assert NewsKind.DEFECT_ENDED in {each.kind for each in news(start)}
