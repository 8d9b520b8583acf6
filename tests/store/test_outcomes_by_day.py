"""Outcomes counted by day: at every moment the same as counting them all anew."""

from tests.store.teaching import DAY, NOW, outcome, rebuild, teach, unjudged
from trackrecord.resources.figures.days import outcomes_by_day
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.days import day_of, read_days
from trackrecord.store.outcomes.projects import project_id_of


def of_day(days_ago, number, *, helpful=True, received=NOW):
    """One outcome whose task ended some days ago."""
    made = unjudged if helpful is None else outcome
    more = {} if helpful is None else {"helpful": helpful}
    return made(number, received=received, timestamp=NOW - days_ago * DAY, **more)


def counted(store):
    with reading(store) as connection:
        return read_days(connection, project_id_of(connection, "default"))


def recounted(store):
    """Return the days after a recount; the store is left as it was."""
    before = counted(store)
    rebuild(store)
    after = counted(store)
    assert after == before
    return after


def test_days_are_counted_by_verdict(store):
    """By the day on which the task ended, in UTC; days between them are there, and empty."""
    teach(store, [of_day(0, 1), of_day(0, 2, helpful=False), of_day(2, 3, helpful=None)])
    with reading(store) as connection:
        days = outcomes_by_day(connection, "default", days=4, until=NOW)
    assert [(day.successes, day.failures, day.without_verdict) for day in days] == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 0, 0),
        (1, 1, 0),
    ]
    assert [day.outcomes for day in days] == [0, 1, 0, 2]
    assert days[-1].day == "2026-05-28"
    recounted(store)


def test_an_amended_outcome_moves_to_its_day(store):
    """What came later says when the task ended."""
    teach(store, [of_day(3, 1), of_day(3, 2)])
    teach(store, [of_day(5, 1, helpful=False, received=NOW + 10)], now=NOW + 10)
    assert [(each.outcomes, each.successes) for each in recounted(store)] == [(1, 1), (1, 1)]


def test_a_day_begins_at_midnight():
    """In UTC, to the last fraction of a second."""
    assert day_of(0.0) == 0
    assert day_of(86_399.999999) == 0
    assert day_of(86_400.0) == 1
