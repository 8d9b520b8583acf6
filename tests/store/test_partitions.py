"""Bodies in partitions, on PostgreSQL: made ahead, found whatever the time, dropped when empty."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, delete, func, select, text

from tests.forgetting.told_store import RULES, Told
from trackrecord.settings.retention_settings import RetentionSettings
from trackrecord.store.database.engine import connect_store, dialect_of, reading, writing
from trackrecord.store.database.metadata import metadata
from trackrecord.store.outcomes.projects import count_outcomes, project_id_of
from trackrecord.store.outcomes.tables import outcomes
from trackrecord_consolidation.retention import remove_old
from trackrecord_worker.jobs import tend_partitions

# Long ago: a store that is made has the partitions of today's month and the next ones.
MARCH, APRIL, MAY, JUNE = (
    datetime(2006, month, 15, tzinfo=UTC).timestamp() for month in (3, 4, 5, 6)
)
PROJECT = "shop"


@pytest.fixture
def engine(migrated_postgres_url: str) -> Iterator[Engine]:
    """A store with the partitions of March, April and May 2006."""
    engine = connect_store(migrated_postgres_url, timeout_s=20.0)
    tend_partitions(engine, now=MARCH)
    yield engine
    engine.dispose()


def learn(engine: Engine, at: float, *names: str) -> None:
    """Learn outcomes that were received at a moment."""
    told = [{"outcome_id": name, "task_id": name, "success": True} for name in names]
    Told(engine, RULES, PROJECT).learn(told, at)


def partitions(engine: Engine) -> dict[str, set[str]]:
    """Return the outcomes whose bodies lie in each partition."""
    with reading(engine) as connection:
        found: dict[str, set[str]] = {}
        query = "SELECT tableoid::regclass::text, outcome FROM outcomes_bodies"
        names = dict(connection.execute(text("SELECT id, outcome_id FROM outcomes")).all())
        for table, row in connection.execute(text(query)):
            found.setdefault(table.removeprefix("outcomes_bodies_"), set()).add(names.get(row, "-"))
        return found


def bodies(engine: Engine) -> dict[str, bool]:
    """Return of each outcome on record whether its body is found, and is its own."""
    with reading(engine) as connection:
        rows = connection.execute(select(outcomes.c.outcome_id, outcomes.c.body))
        return {name: body is not None and f'"{name}"'.encode() in body for name, body in rows}


def counts(engine: Engine) -> dict[str, int]:
    """Return how many rows each table has."""
    with reading(engine) as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }


def remove(engine: Engine, *names: str) -> None:
    """Remove outcomes as retention does."""
    with writing(engine) as connection:
        dialect_of(connection).leave_bodies(connection)
        connection.execute(delete(outcomes).where(outcomes.c.outcome_id.in_(names)))


def test_whatever_the_time(engine: Engine) -> None:
    """Each body lies in the partition of its month; without one it is found, too."""
    for at, name in ((MARCH, "a"), (APRIL, "b"), (0.0, "c"), (-1e12, "d"), (1e12, "e")):
        learn(engine, at, name)
    assert partitions(engine) == {"2006_03": {"a"}, "2006_04": {"b"}, "other": {"c", "d", "e"}}
    assert bodies(engine) == dict.fromkeys("abcde", True)


def test_a_partition_that_is_made_late(engine: Engine) -> None:
    """What came before it moves there; and to make them again makes none."""
    learn(engine, JUNE, "late", "later")
    learn(engine, 0.0, "odd")
    assert partitions(engine) == {"other": {"late", "later", "odd"}}
    tend_partitions(engine, now=APRIL)
    assert partitions(engine) == {"2006_06": {"late", "later"}, "other": {"odd"}}
    with writing(engine) as connection:
        assert dialect_of(connection).make_partitions(connection, APRIL) == 0
    assert bodies(engine) == dict.fromkeys(("late", "later", "odd"), True)


def test_a_month_is_dropped_when_it_is_empty(engine: Engine) -> None:
    """Not before its last outcome was removed, and nothing else goes."""
    learn(engine, MARCH, "a", "b")
    learn(engine, APRIL, "c")
    learn(engine, 0.0, "odd")
    remove(engine, "a", "odd")
    tend_partitions(engine, now=MAY)
    # A body without its outcome waits for the others of its month.
    assert partitions(engine) == {"2006_03": {"-", "b"}, "2006_04": {"c"}}
    assert bodies(engine) == {"b": True, "c": True}
    remove(engine, "b")
    before = counts(engine)
    tend_partitions(engine, now=MAY)
    assert partitions(engine) == {"2006_04": {"c"}}
    assert counts(engine) == before
    assert (before["outcomes"], before["runs"]) == (1, 4)


def test_retention_drops_what_it_has_removed(engine: Engine) -> None:
    """Counted facts stay; the bodies of the months before go with their partitions."""
    learn(engine, MARCH, *(f"march-{number}" for number in range(30)))
    learn(engine, APRIL, *(f"april-{number}" for number in range(20)))
    learn(engine, MAY, "may")
    settings = RetentionSettings(outcomes_days=20)
    with reading(engine) as connection:
        before = count_outcomes(connection, project_id_of(connection, PROJECT))
    done = remove_old(engine, settings, RULES, PROJECT, now=MAY, at_once=7)
    assert done.outcomes == 50
    assert set(partitions(engine)) == {"2006_03", "2006_04", "2006_05"}
    tend_partitions(engine, now=MAY)
    assert partitions(engine) == {"2006_05": {"may"}}
    with reading(engine) as connection:
        assert count_outcomes(connection, project_id_of(connection, PROJECT)) == before
    assert before.outcomes == 51


def test_what_is_forgotten_does_not_wait(engine: Engine) -> None:
    """Its body is deleted with it, not with its month; so are those that retention has left."""
    learn(engine, MARCH, "a", "b", "c")
    with writing(engine) as connection:
        connection.execute(delete(outcomes).where(outcomes.c.outcome_id == "a"))
    remove(engine, "b")
    assert partitions(engine) == {"2006_03": {"-", "c"}}
    dialect_of(engine).erase_remains(engine)
    assert partitions(engine) == {"2006_03": {"c"}}


def test_learning_goes_on_meanwhile(engine: Engine, migrated_postgres_url: str) -> None:
    """Also of outcomes that belong to the months that are dropped: none of their bodies is lost."""
    others = connect_store(migrated_postgres_url, timeout_s=20.0)
    stop, turns = threading.Event(), []

    def keep_learning() -> None:
        while not stop.is_set():
            turn = len(turns)
            learn(others, MARCH, f"old-{turn}")
            learn(others, MAY, f"new-{turn}")
            turns.append(turn)

    try:
        with ThreadPoolExecutor(1) as pool:
            learning = pool.submit(keep_learning)
            try:
                for _ in range(5):
                    seen = len(turns)
                    while len(turns) < seen + 3:
                        assert not learning.done(), learning.result()
                    remove(engine, *(f"old-{turn}" for turn in range(len(turns))))
                    tend_partitions(engine, now=MAY)
            finally:
                stop.set()
            learning.result()
    finally:
        others.dispose()
    left = bodies(engine)
    assert all(left.values())
    assert {f"new-{turn}" for turn in turns} <= left.keys()
