"""PostgreSQL behind pgbouncer, in either mode: all that reads and writes works as without it."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tests.forgetting.whole_store import whole
from tests.support.postgres import pgbouncer
from tests.worker.working import body, command_line, publish
from trackrecord.errors import StoreBusy, StoreUnavailable
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord_worker.checks.server_checks import check_database

PROJECT = "default"
NOW = 1_780_000_000.0
MODES = ("session", "transaction")

pytestmark = pytest.mark.usefixtures("redis_server")


@pytest.fixture(params=MODES)
def pooled(
    request: pytest.FixtureRequest, settings: Settings, postgres_url: str
) -> Iterator[Settings]:
    """Settings whose database is reached through a pooler."""
    # Where transactions share them, one is enough for all: nothing holds two at a time.
    sessions = 1 if request.param == "transaction" else 8
    with pgbouncer(postgres_url, request.param, sessions=sessions) as url:
        yield load_settings(
            home=settings.home,
            database_url=url,
            database_timeout_s=60.0,
            drain_slice_s=100.0,
            drain_block_s=0.01,
            batch_size=20,
        )


@pytest.fixture
def direct(postgres_url: str) -> Iterator[Engine]:
    """The same database without the pooler."""
    engine = connect_store(postgres_url)
    yield engine
    engine.dispose()


def command(settings: Settings, *arguments: str) -> str:
    """Return what a command prints."""
    done = command_line(settings, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(numbers: range) -> list[bytes]:
    """Outcomes with tool calls, patterns, an instruction and two sources."""
    return [
        body(
            number,
            source=f"agent-{number % 2}",
            success=number % 5 > 0,
            instruction=f"repair the import of report {number}",
            tool_graph=[{"tool": "grep", "args": {"path": "a"}}, {"tool": "edit"}],
        )
        for number in numbers
    ]


def test_whatever_reads_and_writes(pooled, direct, client, worker_of):
    """Drains beside each other, consolidation, lists, rebuild and forgetting."""
    check_database(pooled)
    publish(client, pooled, *told(range(200)))
    workers = [worker_of(pooled) for _ in range(3)]
    with ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(lambda each: each.drain.run(), workers))
    assert client.xlen(pooled.keys.outcomes) == 0
    assert command(pooled, "consolidate", "--project", PROJECT)
    for arguments in (("patterns", "list"), ("competences", "list"), ("runs", "list")):
        json.loads(command(pooled, *arguments, "--json"))
    before = whole(direct, PROJECT, at=NOW)
    assert len(before["outcomes"]) == 200
    assert before["competences"]
    command(pooled, "rebuild", "--project", PROJECT)
    after = whole(direct, PROJECT, at=NOW)
    # What records were before them is not rebuilt.
    del before["competence_history"], after["competence_history"]
    assert after == before
    command(pooled, "forget", "--project", PROJECT, "--source", "agent-1", "--yes")
    assert len(whole(direct, PROJECT, at=NOW)["outcomes"]) == 100


@pytest.mark.parametrize("mode", MODES)
def test_a_lock_is_waited_for_no_longer_than_set(postgres_url, mode):
    """And the time is one transaction's own: another client of the same session does not get it."""
    with pgbouncer(postgres_url, mode, sessions=2) as url:
        quick, patient = connect_store(url, timeout_s=0.2), connect_store(url, timeout_s=60.0)
        check_database(load_settings(database_url=url))
        query = text("SELECT setting FROM pg_settings WHERE name = 'lock_timeout'")
        try:
            held, release = threading.Event(), threading.Event()

            def hold() -> None:
                with writing(patient) as connection:
                    connection.execute(text("LOCK TABLE leases IN ACCESS EXCLUSIVE MODE"))
                    held.set()
                    assert release.wait(200)

            with ThreadPoolExecutor(1) as pool:
                holding = pool.submit(hold)
                assert held.wait(200)
                try:
                    with pytest.raises(StoreBusy), writing(quick) as connection:
                        connection.execute(text("SELECT * FROM leases"))
                finally:
                    release.set()
                holding.result()
            for engine, milliseconds in ((quick, 200), (patient, 60_000), (quick, 200)):
                with reading(engine) as connection:
                    assert int(connection.execute(query).scalar_one()) == milliseconds
        finally:
            quick.dispose()
            patient.dispose()


def test_a_pooler_without_transactions(postgres_url, settings):
    """Statement pooling cannot be worked with; the line says what stands in the way."""
    with pgbouncer(postgres_url, "statement") as url:
        with pytest.raises(StoreUnavailable) as said:
            check_database(load_settings(home=settings.home, database_url=url))
        assert "statement pooling" in str(said.value)
