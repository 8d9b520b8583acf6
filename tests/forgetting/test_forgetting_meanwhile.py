"""Forgetting while others learn, read and forget."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Engine, select

from tests.forgetting.told_store import HOUR, NOW, RULES, Told
from trackrecord.errors import AlreadyRunning, StoreBusy
from trackrecord.inflight.retry_record import RetryTexts
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.outcome_scorer import scorer_of
from trackrecord.wire.subject import Subject
from trackrecord_capture.forgetting.forget import Forgetter
from trackrecord_consolidation.run_lease import RunLease
from trackrecord_worker.learning.drain import decode_entries, take_in
from trackrecord_worker.learning.entries import IntakeContext

PROJECT = "meanwhile"


@pytest.fixture
def settings(home: Path, store_url: str) -> Settings:
    """Settings with a store of either dialect."""
    return load_settings(home=home, database_url=store_url, competence={"min_successes": 2})


@pytest.fixture
def others(store_url: str) -> Iterator[Engine]:
    """The engine of another process."""
    engine = connect_store(store_url, timeout_s=30.0)
    yield engine
    engine.dispose()


def bodies(source: str, *, first: int = 0, count: int = 20) -> list[dict[str, object]]:
    """Outcomes of a source."""
    return [
        {
            "outcome_id": f"{source}-{number}", "task_id": f"{source}-{number}", "source": source,
            "success": True, "patterns": ["small steps"], "tool_graph": [{"tool": "find"}],
        }
        for number in range(first, first + count)
    ]  # fmt: skip


def on_record(engine: Engine, project: str = PROJECT) -> set[str]:
    """The ids of the outcomes on record."""
    with reading(engine) as connection:
        project_id = project_id_of(connection, project)
        query = select(outcomes.c.outcome_id).where(outcomes.c.project_id == project_id)
        return set(connection.execute(query).scalars())


@pytest.mark.parametrize("what", ["source", "project"])
def test_a_worker_that_learns_meanwhile_brings_nothing_back(engine, others, client, settings, what):
    """The same is delivered again and again while it is forgotten; what is new is learnt."""
    Told(engine, RULES, PROJECT).learn(bodies("bob") + bodies("ada"), NOW)
    stop = threading.Event()

    def learn() -> int:
        told, turns = Told(others, RULES, PROJECT), 0
        while not stop.is_set():
            told.learn(bodies("bob") + bodies("new", first=turns), NOW + turns)
            turns += 1
        return turns

    name = "bob" if what == "source" else PROJECT
    with ThreadPoolExecutor(1) as pool:
        learning = pool.submit(learn)
        try:
            # Whatever was learnt before is gone: the second time, what was new the first time.
            for _ in range(3):
                known = on_record(engine)
                gone = {each for each in known if what == "project" or each.startswith("bob")}
                subject = Subject(what, PROJECT, name)  # type: ignore[arg-type] # one of the three
                forgetter = Forgetter(engine, client, settings, subject, warn=print)
                if not forgetter.found_nothing:
                    forgetter.forget(actor="test")
                assert not gone & on_record(engine)
        finally:
            stop.set()
        assert learning.result() > 0
    Told(engine, RULES, PROJECT).learn(bodies("bob"), NOW + HOUR)
    assert not any(each.startswith("bob") for each in on_record(engine))


def test_a_reader_sees_before_or_after(engine, others, client, settings):
    """Never something in between."""
    Told(engine, RULES, PROJECT).learn(bodies("bob") + bodies("ada"), NOW)
    stop = threading.Event()

    def read() -> set[tuple[int, int]]:
        seen = set()
        while not stop.is_set():
            with reading(others) as connection:
                project_id = project_id_of(connection, PROJECT)
                query = select(outcomes.c.id).where(outcomes.c.project_id == project_id)
                counts = count_outcomes(connection, project_id)
                if others.dialect.name == "sqlite":
                    seen.add((counts.outcomes, len(connection.execute(query).all())))
                else:  # each statement sees what is committed when it begins
                    seen.add((counts.outcomes, counts.successes))
        return seen

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        try:
            forgetter = Forgetter(
                engine, client, settings, Subject("source", PROJECT, "bob"), warn=print
            )
            try:
                forgetter.forget(actor="test")
            except StoreBusy:  # the reader is in the log of a file all the time
                assert engine.dialect.name == "sqlite"
        finally:
            stop.set()
        assert reader.result() <= {(40, 40), (20, 20)}


def test_memories_and_exposures_do_not_come_back(engine, client, settings):
    """The entry that is delivered again changes nothing, and makes no project anew."""
    memory = {"text": "never merge on a friday", "project": PROJECT, "memory_id": "m"}
    exposure = {"task_id": "t", "entries": ["p"], "project": PROJECT, "exposure_id": "e"}
    entries = [
        (b"1-1", {b"v": b"1", b"memory": msgspec.json.encode(memory)}),
        (b"1-2", {b"v": b"1", b"exposure": msgspec.json.encode(exposure)}),
    ]
    texts = RetryTexts(client, settings.keys, settings.errors)
    context = IntakeContext(engine, client, settings, scorer_of(settings.rules), texts)
    for again in (False, True):
        batch = decode_entries(entries, context, now=NOW)
        assert not batch.refused
        take_in(batch, context)
        with reading(engine) as connection:
            assert (project_id_of(connection, PROJECT) is None) == again
        if not again:
            subject = Subject("project", PROJECT, PROJECT)
            told = Forgetter(engine, client, settings, subject, warn=print).forget(actor="test")
            assert (told.counts["memories"], told.counts["exposures"]) == (1, 1)


def test_a_project_that_is_being_consolidated_is_left_alone(engine, client, settings):
    """One line says so, and nothing was changed, not even outside the store."""
    Told(engine, RULES, PROJECT).learn(bodies("bob"), NOW)
    client.xadd(settings.keys.outcomes, {"v": 1, "body": f'{{"project": "{PROJECT}"}}'})
    with writing(engine) as connection:
        RunLease(PROJECT, 60.0).take(connection)
    subject = Subject("project", PROJECT, PROJECT)
    with pytest.raises(AlreadyRunning, match="being consolidated"):
        Forgetter(engine, client, settings, subject, warn=print).forget(actor="test")
    assert len(on_record(engine)) == 20
    assert client.xlen(settings.keys.outcomes) == 1
