"""Every episode counts exactly once: whoever dies, and however many run at once."""

import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, event, text, update

from tests.consolidation.fleet import Fleet, graph
from tests.consolidation.killed_run import run_until
from tests.support.dying import exit_code_of
from trackrecord.errors import AlreadyRunning
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.database.dialects import sqlite
from trackrecord.store.database.engine import connect_store, dialect_of, reading, writing
from trackrecord.store.database.leases import leases
from trackrecord.store.database.migrate import migrate
from trackrecord_consolidation.run import consolidate
from trackrecord_consolidation.run_lease import RunLease


def report_some(fleet: Fleet) -> None:
    chance = random.Random(7)
    fleet.report_bodies(
        [
            (
                chance.random() < 0.7,
                {
                    "outcome_id": f"some-{n}",
                    "tool_graph": graph(*chance.sample("abcd", chance.randint(1, 3))),
                    "trigger": {"signal": chance.choice(["x", "y"])},
                    "duration_ms": n,
                },
            )
            for n in range(14)
        ]
    )


def start_over(fleet: Fleet) -> None:
    """The state of the store before the first run."""
    with writing(fleet.engine) as connection:
        for table in (
            "waiting_episodes", "episodes", "signature_facts", "competences", "signatures",
            "competence_history", "consolidation_runs", "leases", "outcomes",
        ):  # fmt: skip
            connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - the names above
    report_some(fleet)


def without_rows(state: dict[str, list[object]]) -> dict[str, list[object]]:
    """Return the state without the numbers of outcomes' rows, which differ from fleet to fleet."""
    episodes = [each[1:] for each in state["episodes"]]  # type: ignore[index]
    return {**state, "episodes": sorted(episodes)}  # type: ignore[type-var]


@pytest.mark.faults
def test_killed_anywhere_the_next_run_finishes(fleet, store_url):
    """SIGKILL before any statement or commit: the next run's result is that of a whole run."""
    report_some(fleet)
    fleet.consolidate(episodes_at_once=4)
    whole = without_rows(fleet.state())
    assert whole["competences"]
    killed, number = 0, 1
    while True:
        start_over(fleet)
        fleet.engine.dispose()
        exit_code = exit_code_of(run_until, number, store_url)
        if exit_code == 0:
            break
        assert exit_code == -signal.SIGKILL
        killed += 1
        time.sleep(0.02)  # longer than the dead run's turn
        fleet.consolidate(episodes_at_once=4)
        assert without_rows(fleet.state()) == whole, f"killed at step {number}"
        number += 8
    assert killed > 4


def test_a_run_waits_while_others_write(tmp_path):
    """Longer than one wait for the database lasts; SQLite itself keeps no queue."""
    url = f"sqlite:///{tmp_path}/store.sqlite"
    engine, other = connect_store(url, timeout_s=0.001), connect_store(url)
    migrate(engine)
    fleet = Fleet(engine)
    fleet.report("a", "b")
    was_refused = threading.Event()
    event.listen(engine, "handle_error", lambda _context: was_refused.set())
    with ThreadPoolExecutor(1) as pool:
        with writing(other):
            report = pool.submit(fleet.consolidate)
            assert was_refused.wait(200)
        assert report.result(60).episodes_read == 1
    engine.dispose()
    other.dispose()


def test_a_log_that_a_reader_made_long_is_cut(tmp_path, monkeypatch):
    """By the next run after the reader, by a worker at rest, and as soon as the log begins anew."""
    largest = 8 * 1024 * 1024
    monkeypatch.setattr(sqlite, "LARGEST_LOG", largest)
    url = f"sqlite:///{tmp_path}/store.sqlite"
    engine, other = connect_store(url), connect_store(url)
    migrate(engine)
    fleet = Fleet(engine)
    log = tmp_path / "store.sqlite-wal"
    for then in ("consolidates", "rests", "learns"):
        with reading(other) as connection:
            connection.execute(text("SELECT count(*) FROM outcomes")).all()
            while log.stat().st_size < 2 * largest:
                fleet.report("a", "b", description="x" * 1_000_000)
            fleet.consolidate()
            dialect_of(engine).bound_log(engine)
            assert log.stat().st_size >= 2 * largest
        if then == "consolidates":
            fleet.consolidate()
        elif then == "rests":
            dialect_of(engine).bound_log(engine)
        assert (log.stat().st_size == 0) == (then != "learns")
    for _ in range(3):
        fleet.report("a", "b")
    assert log.stat().st_size <= largest
    engine.dispose()
    other.dispose()


def test_two_runs_with_a_turn_of_no_length(fleet, store_url):
    """Even where each believes the other dead, nothing counts twice: the work itself is fenced."""
    fleet.report_bodies([(True, {"tool_graph": graph("a", f"b{n % 7}")}) for n in range(200)])
    engines = [connect_store(store_url, timeout_s=20.0) for _ in range(3)]

    def run(engine: Engine) -> None:
        for _ in range(5):
            try:
                consolidate(
                    engine, CompetenceRules(), "default",
                    now=5.0, actor="test", episodes_at_once=10, turn_s=0.0,
                )  # fmt: skip
            except AlreadyRunning:
                continue
        engine.dispose()

    with ThreadPoolExecutor(len(engines)) as pool:
        list(pool.map(run, engines))
    fleet.consolidate()
    records = fleet.records().values()
    assert sum(record.performance.success_count for record in records) == 200
    assert len(fleet.state()["episodes"]) == 200


def test_one_run_at_a_time(fleet):
    """A second one says so, changes nothing, and takes over when the first is dead."""
    fleet.report("a")
    with writing(fleet.engine) as connection:
        RunLease("default", 60).take(connection)
    with pytest.raises(AlreadyRunning, match="is being consolidated already"):
        fleet.consolidate()
    assert fleet.state()["waiting"]
    with writing(fleet.engine) as connection:
        connection.execute(update(leases).values(until=time.time()))
    assert fleet.consolidate().episodes_read == 1


def test_a_lease_of_a_clock_that_was_set_back_ends(fleet):
    """Nobody waits until the clock has caught up."""
    fleet.report("a")
    with writing(fleet.engine) as connection:
        RunLease("default", 60).take(connection)
        connection.execute(update(leases).values(until=time.time() + 3_700))
    assert fleet.consolidate().episodes_read == 1


def test_who_lost_the_turn_stops(fleet):
    """In the transaction that notices, nothing is written."""
    slow, quick = RunLease("default", -1.0), RunLease("default", 60.0)
    with writing(fleet.engine) as connection:
        slow.take(connection)
    with writing(fleet.engine) as connection:
        quick.take(connection)

    def keep(turn: RunLease) -> None:
        with writing(fleet.engine) as connection:
            turn.keep(connection)

    keep(quick)
    with pytest.raises(AlreadyRunning, match="has taken over"):
        keep(slow)


def test_outcomes_that_arrive_meanwhile(fleet):
    """They are left to the next run."""
    fleet.report("a")
    fleet.report("a")
    late: list[str] = []

    def report_late(_connection: Connection) -> None:
        if not late:
            late.append("")
            late.append(fleet.report("a"))

    # After the first commit of the run: when it has begun.
    event.listen(fleet.engine, "begin", report_late)
    fleet.consolidate()
    event.remove(fleet.engine, "begin", report_late)
    fleet.consolidate()
    assert fleet.records()["a"].performance.success_count == 3
