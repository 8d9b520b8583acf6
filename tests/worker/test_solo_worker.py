"""The worker of one machine, which is its own beat: what it does, and what it does not ask."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, event, func, select
from sqlalchemy.pool import QueuePool

from tests.store.teaching import outcome, teach
from tests.worker.working import body, learn, process, publish
from trackrecord.settings.settings import Settings
from trackrecord.store.competences.read import read_competences
from trackrecord.store.competences.tables import consolidation_runs
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord_consolidation.run_lease import RunLease
from trackrecord_worker import jobs
from trackrecord_worker.job_table import BY_NAME, CONSOLIDATE
from trackrecord_worker.services import Stopping
from trackrecord_worker.up.daemon import solo_command

NIGHT_S = 86_400.0
# What takes tens of megabytes, and none of which the named module needs.
HEAVY = {
    "trackrecord_cli.commands.start.up_": (
        "redis", "sqlalchemy", "structlog", "celery", "pydantic", "starlette", "asyncio",
    ),
    "trackrecord_worker.app": ("sqlalchemy", "alembic", "mcp", "starlette"),
    "trackrecord_worker.tasks": ("alembic", "mcp", "starlette", "jinja2"),
    "trackrecord_door.__main__": (
        "sqlalchemy", "celery", "pydantic", "mcp", "jinja2", "google.protobuf",
    ),
}  # fmt: skip


@pytest.mark.parametrize("module", HEAVY)
def test_what_runs_all_day_imports_only_what_it_needs(module):
    """Each of these packages is installed, and would be found."""
    code = (
        f"import importlib, importlib.util, json, sys; importlib.import_module({module!r}); "
        f"print(json.dumps([[name for name in {HEAVY[module]} if name in sys.modules], "
        f"[name for name in {HEAVY[module]} if not importlib.util.find_spec(name)]]))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(answer.stdout) == [[], []]


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    """The test's own look into the store."""
    engine = connect_store(settings.effective_database_url)
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.mark.faults
def test_it_ends_where_its_beat_has_ended(settings, tmp_path):
    """So that `up` starts it again: nothing would wake it any more."""
    code = (
        "import sys; from celery.__main__ import main\n"
        "from trackrecord_worker.celery_steps.beat import SteadyScheduler\n"
        "def fail(self): raise RuntimeError('planted')\n"
        "SteadyScheduler.tick = fail\n"
        f"sys.argv[1:] = {solo_command(settings)[4:]!r}; sys.exit(main())"
    )
    log = tmp_path / "log"
    with process([sys.executable, "-c", code], settings, log) as worker:
        assert worker.wait(200) == 1
    assert "planted" in log.read_text()


@pytest.fixture
def missed(engine: Engine) -> None:
    """A project whose episodes have been waiting for two days."""
    long_ago = time.time() - 2 * NIGHT_S
    graph = [{"tool": "grep"}, {"tool": "edit"}]
    told = [outcome(n, received=long_ago, project="missed", tool_graph=graph) for n in range(3)]
    teach(engine, told, now=long_ago)


@pytest.mark.usefixtures("client", "missed")
def test_a_missed_night_is_caught_up_once(worker_of, settings, engine):
    """One that could not be done, as another process was at it, is tried again; then it is over."""
    worker = worker_of(settings)
    other = RunLease("missed", 600.0)
    with writing(engine) as connection:
        other.take(connection)
    jobs.catch_up_consolidation(worker)
    assert _records(engine, "missed") == 0
    with writing(engine) as connection:
        other.give_back(connection)
    jobs.catch_up_consolidation(worker)
    assert _records(engine, "missed") == 1
    assert _runs(engine) == 1
    jobs.catch_up_consolidation(worker)
    assert _runs(engine) == 1


@pytest.mark.usefixtures("client", "missed")
def test_a_night_that_is_stopped_gives_its_turn_back(worker_of, settings, engine):
    """The next process need not wait until its lease is over."""
    worker = worker_of(settings)
    vars(worker)["end_if_stopping"] = _end
    with pytest.raises(Stopping):
        jobs.consolidate_all_projects(worker)
    jobs.carry_out(BY_NAME[CONSOLIDATE], worker, begun=lambda: None)  # is no error of the task
    with writing(engine) as connection:
        RunLease("missed", 60.0).take(connection)


def _end(_done: int) -> None:
    raise Stopping


def _runs(engine: Engine) -> int:
    with reading(engine) as connection:
        query = select(func.count()).select_from(consolidation_runs)
        return int(connection.execute(query).scalar_one())


def _records(engine: Engine, project: str) -> int:
    with reading(engine) as connection:
        project_id = project_id_of(connection, project)
        return 0 if project_id is None else len(read_competences(connection, project_id))


def test_idle_is_as_cheap_with_many_projects(worker, store_settings, client):
    """Looks at the caches of all projects cost a few commands, and find what is lost."""
    costs = []
    for number in (1, 20):
        learn(worker, *(body(n, project=f"p{n}") for n in range(number)))
        for _ in range(number):
            worker.adviser.advise_due()
        worker.refresher.refresh_stale()
        before = _commands(client)
        assert worker.refresher.refresh_stale() == 0
        assert worker.adviser.advise_due() == 0
        costs.append(_commands(client) - before)
    assert costs[1] <= costs[0] + 1
    client.delete(store_settings.keys.rankings("p17"))
    assert worker.refresher.refresh_stale(worker.adviser.look_again) == 1
    assert worker.adviser.advise_due() == 1


def test_a_store_that_nobody_writes_to_is_not_read(worker_of, settings, client):
    """Nor kept open; what another process writes is seen at the next look."""
    worker = worker_of(settings)
    learn(worker, body(1, project="p"))
    statements: list[str] = []
    event.listen(worker.engine, "before_cursor_execute", lambda *it: statements.append(it[2]))
    for _ in range(6):
        _age_the_store(settings)
        jobs.renew_advice(worker)
        jobs.refresh_caches(worker)
    pool = worker.engine.pool
    assert isinstance(pool, QueuePool)
    assert pool.checkedin() == 0
    statements.clear()
    jobs.refresh_caches(worker)
    jobs.renew_advice(worker)
    assert statements == []
    other = worker_of(settings)
    learn(other, body(2, project="q"))
    client.delete(settings.keys.rankings("q"))
    jobs.refresh_caches(worker)
    assert client.exists(settings.keys.rankings("q"))


def _age_the_store(settings: Settings) -> None:
    """Let the last write be some time ago, and be the same one at each call."""
    for path in settings.home.glob("trackrecord.db*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))


def _commands(client: redis.Redis) -> int:
    stats: Any = client.info("stats")
    return int(stats["total_commands_processed"])


def test_a_settled_drain_asks_once(worker, store_settings, client):
    """An idle drain is one command; one whose group is gone makes it again, and learns."""
    worker.drain.run()
    before = _commands(client)
    worker.drain.run()
    assert _commands(client) - before == 2  # and the one that asks for the number
    client.flushall()
    publish(client, store_settings, body(1))
    assert worker.drain.run()["recorded"] == 1
