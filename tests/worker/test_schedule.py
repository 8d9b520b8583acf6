"""When consolidation runs, and when a missed run is caught up."""

import contextlib
import os
import subprocess
from datetime import UTC, datetime

import pytest
from celery.schedules import crontab
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, insert, update

from tests.store.teaching import outcome, teach
from trackrecord.errors import SettingsError
from trackrecord.settings.daemon_settings import RetentionSettings
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.competences.tables import consolidation_runs
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.outcomes.tables import outcomes, projects, waiting_episodes
from trackrecord_consolidation.retention import remove_all_old
from trackrecord_worker.app import create_app
from trackrecord_worker.job_table import TASKS
from trackrecord_worker.jobs import is_consolidation_due
from trackrecord_worker.process_services import ServicesOfProcess
from trackrecord_worker.schedule import beat_schedule, parse_crontab
from trackrecord_worker.up.daemon import Daemon, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis


@pytest.mark.parametrize(
    "expression",
    [
        "", "* * *", "* * * * * *", "a b c d e", "60 * * * *", "-1 * * * *", "*/0 * * * *",
        ", * * * *", "0 0 31 2 *", "* * * * 9", "1/2 * * * *", "\x00 * * * *", "1-- * * * *",
    ],
)  # fmt: skip
def test_what_is_no_crontab(expression, home):
    """One clear error that names the setting, before anything is started."""
    with pytest.raises(SettingsError) as said:
        parse_crontab(expression)
    assert "setting consolidation_crontab" in str(said.value)
    assert "\n" not in str(said.value)
    settings = load_settings(home=home, consolidation_crontab=expression)
    with pytest.raises(SettingsError, match="setting consolidation_crontab"):
        create_app(settings)
    with pytest.raises(SettingsError, match="setting consolidation_crontab"):
        Daemon(settings)


@given(st.lists(st.text("0123456789*/,-abmon", min_size=1, max_size=5), min_size=5, max_size=5))
def test_any_text_is_a_crontab_or_an_error_of_ours(fields):
    """Nothing else comes out."""
    with contextlib.suppress(SettingsError):
        parse_crontab(" ".join(fields))


def test_what_beat_wakes(settings):
    """Each is of a task that there is, and carries nothing but names of jobs, not even a moment."""
    app = create_app(settings)
    app.loader.import_task_module("trackrecord_worker.tasks")
    for name, entry in beat_schedule(settings).items():
        assert entry["task"] in app.tasks, name
        names = [name for each in entry.get("args", ()) for name in each()]
        assert set(names) <= set(app.tasks)
        assert not entry.get("kwargs")
        assert "options" not in entry
    assert set(TASKS) == {task for task in app.tasks if task.startswith("trackrecord.")}
    assert set(TASKS) == set(app.amqp.queues)


def test_stages_belong_to_a_process(settings):
    """A forked child builds its own: connections must not be shared."""
    stages = ServicesOfProcess(settings, create_app(settings))
    mine = stages.get()
    assert stages.get() is mine
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"other" if stages.get() is not mine else b"same")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"other"
    os.close(reader)
    os.close(writer)
    assert stages.get() is mine


@pytest.fixture
def store(store_url: str) -> Engine:
    engine = connect_store(store_url)
    yield engine
    engine.dispose()


NIGHT = datetime(2026, 3, 10, 3, 0, tzinfo=UTC).timestamp()
HOUR = 3600.0
DAY = 24 * HOUR


def project(engine: Engine, name: str, *, waiting: float | None, runs: list[float | None]) -> None:
    """A project with an episode received then, and runs that ended then (None: they died)."""
    with writing(engine) as connection:
        project_id = connection.execute(
            insert(projects)
            .values(name=name, revision=0, outcomes=0, successes=0)
            .returning(projects.c.id)
        ).scalar_one()
        for ended in runs:
            connection.execute(
                insert(consolidation_runs).values(
                    project_id=project_id, actor="nightly", started_at=NIGHT, finished_at=ended,
                    episodes_read=0, signatures_touched=0, records_created=0,
                    records_reinforced=0, records_updated=0, skipped="{}",
                )
            )  # fmt: skip
        if waiting is not None:
            row = connection.execute(
                insert(outcomes)
                .values(
                    project_id=project_id, outcome_id="o", task_id="t", received_at=waiting,
                    ended_at=waiting, success=True, raw_score=1.0, verdict="helpful", body=b"{}",
                )
                .returning(outcomes.c.id)
            ).scalar_one()  # fmt: skip
            connection.execute(insert(waiting_episodes).values(project_id=project_id, outcome=row))


def is_due(engine: Engine, settings: Settings, now: float, expression: str = "0 3 * * *") -> bool:
    minute, hour, *_ = expression.split()
    app = create_app(settings)
    schedule = crontab(
        minute=minute,
        hour=hour,
        app=app,
        nowfun=lambda: datetime.fromtimestamp(now, UTC).astimezone(app.timezone),
    )
    with reading(engine) as connection:
        return is_consolidation_due(connection, schedule, settings.retention)


def test_a_missed_night_is_caught_up(store, settings):
    """And a night that was not missed is not repeated."""
    project(store, "p", waiting=NIGHT - 5 * HOUR, runs=[NIGHT - 24 * HOUR])
    assert not is_due(store, settings, NIGHT - 60)
    assert is_due(store, settings, NIGHT + 60)
    project(store, "q", waiting=NIGHT + 2 * HOUR, runs=[NIGHT + 60])
    assert is_due(store, settings, NIGHT + 3 * HOUR)


def test_what_came_after_the_run_waits_for_the_next(store, settings):
    """Not for a catch-up."""
    project(store, "p", waiting=NIGHT + 2 * HOUR, runs=[NIGHT - 24 * HOUR, NIGHT + 60])
    assert not is_due(store, settings, NIGHT + 20 * HOUR)
    assert is_due(store, settings, NIGHT + 24 * HOUR + 60)


@pytest.mark.parametrize("what", ["bodies_days", "outcomes_days"])
def test_a_removal_that_was_missed_is_caught_up(store, settings, what):
    """Also where no episode waits: once a night has passed since something became too old."""
    retention = RetentionSettings(**{what: 7})
    settings = settings.model_copy(update={"retention": retention})
    for name in ("p", "q"):
        teach(store, [outcome(name, received=NIGHT - 8 * DAY, project=name)], now=NIGHT - 8 * DAY)
    assert not is_due(store, settings, NIGHT - 60)
    assert is_due(store, settings, NIGHT + 60)
    assert is_due(store, settings, NIGHT + 5 * HOUR)
    assert not is_due(store, load_settings(home=settings.home), NIGHT + 60)
    remove_all_old(store, retention, settings.rules, now=NIGHT + 5 * HOUR)
    for later in (NIGHT + 6 * HOUR, NIGHT + 2 * DAY):
        assert not is_due(store, settings, later), "the newest outcome is kept: no reason"
    with writing(store) as connection:
        until = what.replace("days", "until")
        connection.execute(update(projects).values({until: NIGHT - 9 * DAY}))
    assert is_due(store, settings, NIGHT + 60), "what it would have removed is there"


def test_a_run_that_died_halfway_is_caught_up(store, settings):
    """One project was done, the other was not."""
    project(store, "done", waiting=None, runs=[NIGHT - 24 * HOUR, NIGHT + 5])
    project(store, "died", waiting=NIGHT - HOUR, runs=[NIGHT - 24 * HOUR, None])
    assert is_due(store, settings, NIGHT + 600)


def test_the_time_zone_is_that_of_the_settings(store, home):
    """Three in the morning in Shanghai is seven in the evening in UTC."""
    shanghai = load_settings(home=home, timezone="Asia/Shanghai")
    assert create_app(shanghai).conf.timezone == "Asia/Shanghai"
    three_there = NIGHT - 8 * HOUR
    project(store, "p", waiting=three_there - HOUR, runs=[])
    assert not is_due(store, shanghai, three_there - 60)
    assert is_due(store, shanghai, three_there + 60)
    utc = load_settings(home=home)
    assert not is_due(store, utc, three_there + 60)


def test_a_worker_that_cannot_import_its_tasks_ends(settings, tmp_path):
    """It does not wait for wake-ups that it could not follow; its last line says why."""
    (tmp_path / "sqlalchemy.py").write_text("raise ModuleNotFoundError('no sqlalchemy')")
    with EmbeddedRedis(settings.home / "redis", settings.embedded_redis_socket):
        ended = subprocess.run(
            worker_command(settings),
            env={**os.environ, **settings.as_environment(), "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=200,
        )
    assert ended.returncode != 0
    assert ended.stderr.splitlines()[-1] == "ModuleNotFoundError: no sqlalchemy"
