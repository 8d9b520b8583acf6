"""News: what changed between two moments, as the worker leaves it behind."""

import time

import pytest
import redis
from sqlalchemy import Engine, insert, select

from tests.worker.working import body, publish
from trackrecord.resources.operation.news import News, NewsKind, changes_between
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


def learn(worker: Services, client: redis.Redis, *bodies: bytes) -> None:
    publish(client, worker.settings, *bodies)
    worker.drain.run()


def test_a_pattern_rises_and_falls(worker, client, news):
    """Proven after helpful outcomes; broken, and a warning, after harmful ones; once each."""
    start = time.time()
    learn(worker, client, *(body(n) for n in range(6)))
    (proven,) = news(start)
    assert proven.kind is NewsKind.PROVEN
    assert '"Split by feature" became proven (6 helpful, 0 harmful).' in proven.text
    assert (proven.project, proven.numbers["helpful"]) == ("default", 6)
    middle = time.time()
    learn(
        worker,
        client,
        *(body(n, success=False, error_count=9, retry_count=9) for n in range(10, 40)),
    )
    assert [each.kind for each in news(middle)] == [NewsKind.BROKE, NewsKind.WARNING]
    assert [each.kind for each in news(start)] == [
        NewsKind.PROVEN, NewsKind.BROKE, NewsKind.WARNING,
    ]  # fmt: skip
    assert news(time.time()) == []


def test_a_project_hears_only_of_itself(worker, client, news):
    """Of its patterns as of its lessons."""
    start = time.time()
    learn(worker, client, body(0, project="other"), body(1))
    worker.adviser.advise("other")
    worker.adviser.advise("default")
    learn(worker, client, *(body(n, project="other", tool_graph=CALLS) for n in range(2, 9)))
    worker.adviser.advise("other")
    worker.adviser.advise("default")
    assert NewsKind.LESSON in [each.kind for each in news(start, "other")]
    assert news(start) == []


def test_a_lesson_appears_once(worker, client, news):
    """When it is established; not those that stood when the project was first counted."""
    start = time.time()
    old = [{"tool": "build", "ok": False, "error": "disk is full"}, {"tool": "ls", "ok": True}]
    learn(worker, client, *(body(n, tool_graph=old) for n in range(5)))
    worker.adviser.advise("default")
    assert NewsKind.LESSON not in [each.kind for each in news(start)]
    learn(worker, client, *(body(n, tool_graph=CALLS) for n in range(10, 15)))
    worker.adviser.advise("default")
    told = [each for each in news(start) if each.kind is NewsKind.LESSON]
    assert told
    assert all("deploy" in each.text and "build" not in each.text for each in told)
    worker.adviser.advise("default", force=True)
    assert [each for each in news(start) if each.kind is NewsKind.LESSON] == told


def test_a_consolidation_that_died_is_news_and_one_at_work_is_not(worker, client, engine, news):
    """It is at work as long as somebody holds the lease."""
    learn(worker, client, body(0))
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
