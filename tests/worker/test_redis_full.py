"""Redis's memory is full: agents spool, workers go on learning, and people are told the truth."""

import itertools
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import redis
from sqlalchemy import Engine

from tests.worker.working import (
    body,
    learnt_counts,
    log_lines,
    process,
    publish,
    recorded_ids,
    until,
)
from trackrecord.redis.problems import memory_is_full
from trackrecord.resources.operation.status import read_status
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store, reading
from trackrecord.store.database.migrate import migrate
from trackrecord_cli.main import run
from trackrecord_producers.publishing.publisher import Publisher
from trackrecord_worker.app import create_app
from trackrecord_worker.job_table import DRAIN
from trackrecord_worker.services import Services
from trackrecord_worker.up.daemon import beat_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

pytestmark = pytest.mark.faults

MIB = 1024 * 1024
LARGE = "x" * 20_000


@pytest.fixture
def small(home: Path) -> Iterator[EmbeddedRedis]:
    """A server that holds a few megabytes, in place of the home's own."""
    with EmbeddedRedis(home / "redis", home / "redis.sock", max_memory=8 * MIB) as server:
        yield server


@pytest.fixture
def client(small: EmbeddedRedis) -> Iterator[redis.Redis]:
    """A client of the small server."""
    with small.client() as connected:
        yield connected


@pytest.fixture
def settings(home: Path) -> Settings:
    """Settings of a home with short waits."""
    return load_settings(
        home=home, retry_after_s=0.1, batch_size=20, worker_concurrency=1, claim_idle_s=1.0
    )


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    """The store."""
    engine = connect_store(settings.effective_database_url)
    migrate(engine)
    yield engine
    engine.dispose()


def until_refused(write: Callable[[int], object]) -> int:
    """Write until Redis refuses for lack of memory; return how often it did not."""
    for number in itertools.count():
        try:
            write(number)
        except redis.OutOfMemoryError:
            return number
    raise AssertionError


def fill(client: redis.Redis, settings: Settings) -> set[str]:
    """Publish until Redis refuses; return the ids of the outcomes that it took."""

    def report(number: int) -> None:
        if number % 10 == 5:
            error = {"task_id": f"t{number}", "message": "it failed " * 100}
            fields = {"v": "1", "error": msgspec.json.encode(error)}
            client.xadd(settings.keys.outcomes, fields)  # type: ignore[arg-type]
        publish(client, settings, body(number, description=LARGE))

    taken = {f"o{number}" for number in range(until_refused(report))}
    until_refused(lambda _: client.append("filler", "x" * 100))  # not even what is small
    assert memory_is_full(client)
    return taken


def test_a_worker_that_starts_makes_room(client, settings, engine, tmp_path):
    """It learns before it begins; the status blames Redis, not the missing worker alone."""
    taken = fill(client, settings)
    with reading(engine) as connection:
        found = read_status(client, connection, settings)
    assert found.memory_full
    assert found.verdict.startswith("Redis's memory is full, and agents spool")
    publisher = Publisher(lambda: settings)
    spooled = {publisher.publish({"task_id": "t", "success": True}) for _ in range(5)}
    publisher.flush(5)
    publisher.close()
    assert publisher.stats().dropped == {}
    assert publisher.stats().spooled == 5
    log = tmp_path / "log"
    with (
        process(worker_command(settings), settings, log),
        process(beat_command(settings), settings, log),
    ):
        until(lambda: recorded_ids(engine) == taken | spooled)
        until(lambda: not client.xlen(settings.keys.outcomes))
    assert len(log_lines(log, "redis_full")) >= 1
    assert learnt_counts(engine)["rows"] == len(taken) + 5
    assert client.xlen(settings.keys.dead) == 0
    assert b"Traceback" not in log.read_bytes()


def test_a_worker_that_runs_goes_on(client, settings, engine, tmp_path):
    """Redis refuses new wake-ups, and all else that Kombu might want to write."""
    log = tmp_path / "log"
    with process(worker_command(settings), settings, log) as worker:
        with process(beat_command(settings), settings, log):
            publish(client, settings, body(1_000_000))
            until(lambda: not client.xlen(settings.keys.outcomes))
        # No beat, as if Redis refused all that it sends. Nothing is learnt while Redis is filled:
        # the filler would take the room.
        os.killpg(worker.pid, signal.SIGSTOP)
        with create_app(settings) as app:
            for _ in range(3):
                app.send_task(DRAIN, queue=DRAIN)
        taken = fill(client, settings)
        os.killpg(worker.pid, signal.SIGCONT)
        until(lambda: recorded_ids(engine) >= taken)
        until(lambda: not memory_is_full(client))
        assert worker.poll() is None
    assert learnt_counts(engine)["rows"] == len(taken) + 1


def test_beat_says_so_once(client, settings, tmp_path):
    """In one line, however many wake-ups are refused; it sends them again when there is room."""
    fill(client, settings)
    log = tmp_path / "log"
    environment = {**os.environ, **settings.as_environment()}
    with log.open("ab") as file:
        beat = subprocess.Popen(beat_command(settings), env=environment, stdout=file, stderr=file)
        try:
            until(lambda: log_lines(log, "redis_full"))
            client.delete("filler", settings.keys.outcomes)
            queue = f"{settings.redis_prefix}:celery:trackrecord.drain"
            until(lambda: client.llen(queue) == 1)
        finally:
            beat.terminate()
            beat.wait(200)
    assert len(log_lines(log, "redis_full")) == 1
    assert b"Traceback" not in log.read_bytes()


def test_forget_says_so_in_one_line(client, settings, engine, monkeypatch, capfd):
    """The cache cannot be renewed; the same command finishes it when there is room."""
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    publish(client, settings, body(1, source="bob"))
    Services(settings, create_app(settings)).drain.run()
    assert recorded_ids(engine) == {"o1"}
    until_refused(lambda _: client.append("filler", "x" * 10_000))
    until_refused(lambda _: client.append("filler", "x" * 100))
    command = ["forget", "--source", "bob", "--project", "default", "--yes"]
    assert run(command) == 3
    said = capfd.readouterr().err
    assert "memory is full" in said
    assert "Traceback" not in said
    client.delete("filler")
    assert run(command) == 0
    assert recorded_ids(engine) == set()
