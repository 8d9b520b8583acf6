"""Outcomes over time: how many of each day, and the last seven days beside those before."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Final

from sqlalchemy import Connection

from trackrecord.learning.advice.hint_effect import TrialHint, point_of, runs_by_session
from trackrecord.learning.advice.moments.calls import TriedRun
from trackrecord.learning.numbers.decay import DAY
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.access.short_ids import session_in
from trackrecord.store.advice.hints import read_hints
from trackrecord.store.advice.run_records import marks_since
from trackrecord.store.advice.runs import read_tried_runs
from trackrecord.store.outcomes.days import CountedDay, day_of, read_days
from trackrecord.wire.run_marks import has_mark, mark_of

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC).date()
_LAST_DAY: Final = (date.max - _EPOCH).days


@dataclass(frozen=True)
class Day:
    """The outcomes of a day in UTC, by when their tasks ended.

    Attributes:
        day: as "2026-11-22".
        outcomes: all of them.
        successes: those whose task reached its goal.
        failures: those whose task did not.
        without_verdict: those of which nobody knows.
    """

    day: str
    outcomes: int
    successes: int
    failures: int
    without_verdict: int


def outcomes_by_day(connection: Connection, project: str, *, days: int, until: float) -> list[Day]:
    """Return the last days of a project, the first one first; those without outcomes, too.

    Args:
        connection: a reading transaction.
        project: whose outcomes.
        days: how many days.
        until: a moment of the last one, seconds since the epoch.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    counted = {each.day: each for each in read_days(connection, project_row(connection, project))}
    last = min(day_of(until), _LAST_DAY)
    first = max(0, last - days + 1)
    return [_day(day, counted.get(day, CountedDay(day, 0, 0, 0))) for day in range(first, last + 1)]


def _day(day: int, counted: CountedDay) -> Day:
    return Day(
        day=(_EPOCH + timedelta(days=day)).isoformat(),
        outcomes=counted.outcomes,
        successes=counted.successes,
        failures=counted.outcomes - counted.successes - counted.without_verdict,
        without_verdict=counted.without_verdict,
    )


WEEK: Final = 7 * DAY
# More runs than these are no longer one person's: nobody waits for them to be counted.
_MOST_RUNS: Final = 2_000
_MOST_TRIED: Final = 1_000
# Whoever comes back after a longer pause was elsewhere.
_LONGEST_WAIT_S: Final = 600.0
_UNCHECKED: Final = tuple(
    mark_of("ground", kind) for kind in ("no check", "check before the last edit")
)
_INTERRUPTED: Final = mark_of("ground", "interrupted")


@dataclass(frozen=True)
class Week:
    """The work of seven days, by when runs ended.

    Attributes:
        sessions: in how many sessions of coding agents they ended.
        runs: how many ended.
        unchecked: how many of them changed files that nothing checked afterwards.
        interrupted: how many were interrupted.
        lost_s: the time, in seconds, from calls of commands that never run to the next calls.
        hints: how many hints at failing calls agents were given.
        followed: after how many of these the work went on within five calls.
    """

    sessions: int
    runs: int
    unchecked: int
    interrupted: int
    lost_s: float
    hints: int
    followed: int


def two_weeks(
    connection: Connection, project: str, *, broken: Set[str], until: float
) -> tuple[Week, Week] | None:
    """Return the last seven days of a project and the seven before; None if these are too many.

    Args:
        connection: a reading transaction.
        project: whose runs.
        broken: the command lines that never run, or their first words.
        until: the end of the last day, seconds since the epoch.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id, since = project_row(connection, project), until - 2 * WEEK
    marked = marks_since(connection, project_id, since, limit=_MOST_RUNS)
    if len(marked) == _MOST_RUNS:
        return None
    tried = read_tried_runs(connection, project_id, limit=_MOST_TRIED, since=since)
    hints = read_hints(connection, project_id)
    of_session = runs_by_session(tried, {each.session for each in hints})

    def week(begin: float) -> Week:
        end = begin + WEEK
        ended = [(of, marks) for of, at, marks in marked if begin < at <= end]
        given = [each for each in hints if each.is_given and begin < each.at <= end]
        return Week(
            sessions=len({session_in(of) for of, _ in ended} - {""}),
            runs=len(ended),
            unchecked=sum(any(has_mark(had, each) for each in _UNCHECKED) for _, had in ended),
            interrupted=sum(has_mark(marks, _INTERRUPTED) for _, marks in ended),
            lost_s=sum(_lost_s(run, broken) for run in tried if begin < run.ended_at <= end),
            hints=len(given),
            followed=sum(_is_followed(each, of_session[each.session]) for each in given),
        )

    return week(until - WEEK), week(since)


def _lost_s(run: TriedRun, broken: Set[str]) -> float:
    """Return how long a run was busy with commands that never run."""
    return sum(
        min(max(0.0, after.at - call.at), _LONGEST_WAIT_S)
        for call, after in pairwise(run.calls)
        if call.at and call.failed and not broken.isdisjoint((call.told, call.words))
    )


def _is_followed(hint: TrialHint, runs: Sequence[TriedRun]) -> bool:
    found = point_of(hint, runs)
    return found is not None and found.resumed
