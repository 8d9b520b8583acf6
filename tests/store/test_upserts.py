"""Upserts combine rows as they were declared, and compile their statement once."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, select

from trackrecord.store.database.engine import connect_store, writing
from trackrecord.store.database.upsert import Columns, Upsert
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.outcomes.tables import outcome_days

_COLUMNS = ("project_id", "day", "outcomes", "successes", "without_verdict")


class _Counting:
    """Adds the outcomes of days, and counts how often it is asked how."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, table: Columns, new: Columns) -> dict[str, Any]:
        self.asked += 1
        return {"outcomes": table.outcomes + new.outcomes}


def _successes(table: Columns, new: Columns) -> dict[str, Any]:
    return {"successes": table.successes + new.successes}


def _upsert(store: Engine, upsert: Upsert, *days: tuple[int, int, int]) -> set[tuple[int, ...]]:
    """Upsert days of one project with their outcomes and successes; return what is there then."""
    with writing(store) as connection:
        project = ensure_projects(connection, ["shop"])["shop"]
        upsert.execute(connection, [(project, *each, 0) for each in days])
        columns = (outcome_days.c.day, outcome_days.c.outcomes, outcome_days.c.successes)
        return {tuple(row) for row in connection.execute(select(*columns))}


def test_each_upsert_combines_in_its_own_way(store: Engine) -> None:
    """Two upserts of the same table and key, used in turn, each change their own columns."""
    add_outcomes = Upsert(outcome_days, _COLUMNS, key=_COLUMNS[:2], combine=_Counting())
    add_successes = Upsert(outcome_days, _COLUMNS, key=_COLUMNS[:2], combine=_successes)

    assert _upsert(store, add_outcomes, (1, 5, 2), (2, 1, 1)) == {(1, 5, 2), (2, 1, 1)}
    assert _upsert(store, add_successes, (1, 3, 1)) == {(1, 5, 3), (2, 1, 1)}
    assert _upsert(store, add_outcomes, (1, 2, 1), (3, 1, 0)) == {(1, 7, 3), (2, 1, 1), (3, 1, 0)}
    assert _upsert(store, add_successes, (2, 4, 4)) == {(1, 7, 3), (2, 1, 5), (3, 1, 0)}


def test_a_statement_is_compiled_once(store: Engine) -> None:
    """Compiling takes longer than the statement of a small batch, so it is not done for each."""
    combine = _Counting()
    add = Upsert(outcome_days, _COLUMNS, key=_COLUMNS[:2], combine=combine)
    for _ in range(3):
        _upsert(store, add, (1, 1, 0))
    assert combine.asked == 1


def test_one_upsert_serves_both_databases(
    new_store: Callable[[], Engine], migrated_postgres_url: str
) -> None:
    """A process that writes to two databases upserts in both."""
    both = (new_store(), connect_store(migrated_postgres_url))
    add = Upsert(outcome_days, _COLUMNS, key=_COLUMNS[:2], combine=_Counting())
    for expected in ({(1, 1, 1)}, {(1, 2, 1)}):
        for each in both:
            assert _upsert(each, add, (1, 1, 1)) == expected
    for each in both:
        each.dispose()
