"""The overview: what to mend, the last week beside the one before, and if the loop is alive."""

import time
from collections.abc import Sequence
from typing import Final

import redis
from sqlalchemy import Connection

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.advice.moments.facts import Defect
from trackrecord.resources.declaration.checks import choice_of
from trackrecord.resources.experience.found_commands import standing_defects
from trackrecord.resources.figures.days import WEEK, Day, outcomes_by_day, two_weeks
from trackrecord.resources.operation.dead_letters import count_letters
from trackrecord.resources.operation.news import News, changes_between
from trackrecord.resources.operation.status import StatusAnswer, read_status
from trackrecord.store.advice.effect import ENOUGH_TASKS
from trackrecord_producers.spool.files import spool_size

from ..answering import PageView
from ..drawings.plots import Stack
from ..requests.page_request import PageRequest

_RANGES: Final = {"30": "30 days", "90": "90 days", "365": "a year"}
_LONGEST_RANGE: Final = "365"
_SHORTEST_CHART: Final = 30
_NEWS_SHOWN: Final = 10
_CARDS: Final = 3
# How news are labelled, and in which colour.
_KINDS: Final = {
    "pattern.proven": "proven",
    "pattern.broke": "broke",
    "pattern.warning": "warning",
    "pattern.lifted": "warning lifted",
    "lesson.appeared": "lesson",
    "defect.began": "standing defect",
    "defect.ended": "runs again",
    "consolidation.failed": "failed",
}
# Where the subjects of news are shown, by the first word of their kind.
_SUBJECT_PAGES: Final = {"pattern": "/patterns", "lesson": "/lessons", "defect": "/commands"}
_TONES: Final = {
    "pattern.proven": "good",
    "pattern.lifted": "good",
    "defect.ended": "good",
    "defect.began": "bad",
    "pattern.broke": "bad",
    "pattern.warning": "bad",
    "consolidation.failed": "bad",
}


def shown(asked: PageRequest) -> PageView:
    """Show the overview."""
    until = time.time()
    chosen = asked.text("days")
    if chosen is not None:
        choice_of("days", chosen, list(_RANGES))
    with asked.reading() as connection:
        status, defects, news, problem = _alive(asked, connection, until)
        by_day = outcomes_by_day(
            connection, asked.project, days=int(chosen or _LONGEST_RANGE), until=until
        )
        weeks = two_weeks(
            connection, asked.project, broken={each.line for each in defects}, until=until
        )
    days = chosen or _range_with_tasks(by_day)
    by_day = by_day[-int(days) :]
    if chosen is None:
        by_day = _from_first_to_last(by_day)
    values = {
        "status": status,
        "problem": problem,
        "cards": defects[:_CARDS],
        "more_defects": max(0, len(defects) - _CARDS),
        "weeks": weeks,
        "began": _began(news),
        "days": by_day,
        "stacks": [_stack(each) for each in by_day],
        "ranges": _RANGES,
        "range": days,
        "news": news[: -_NEWS_SHOWN - 1 : -1],
        "more_news": max(0, len(news) - _NEWS_SHOWN),
        "kinds": _KINDS,
        "tones": _TONES,
        "subject_pages": _SUBJECT_PAGES,
        "enough_tasks": ENOUGH_TASKS,
    }
    return PageView("overview.html", "Overview", values)


def _range_with_tasks(by_day: Sequence[Day]) -> str:
    """Return the shortest range in which a task ended; the shortest of all if none did."""
    ended = (days for days in _RANGES if any(day.outcomes for day in by_day[-int(days) :]))
    return next(ended, next(iter(_RANGES)))


def _from_first_to_last(by_day: list[Day]) -> list[Day]:
    """Return the days from the first one with tasks to the last one, but a month at least."""
    ended = [place for place, day in enumerate(by_day) if day.outcomes]
    if not ended:
        return by_day
    last = max(ended[-1] + 1, _SHORTEST_CHART)
    return by_day[min(ended[0], max(0, last - _SHORTEST_CHART)) : last]


def _alive(
    asked: PageRequest, connection: Connection, until: float
) -> tuple[StatusAnswer | None, Sequence[Defect], list[News], str | None]:
    """Return what Redis knows, and the news, or its problem: the rest is shown without it."""
    try:
        with asked.redis() as client:
            status = _status(asked, client, connection)
            settings, project = asked.service.settings, asked.project
            defects = standing_defects(client, settings, project)
            return status, defects, _news(asked, connection, client, until), None
    except ServerUnavailable as error:
        return None, [], _news(asked, connection, None, until), str(error)


def _status(asked: PageRequest, client: redis.Redis, connection: Connection) -> StatusAnswer:
    """Return the status; counts of dead letters and the spool depend on the caller's rights."""
    settings, project = asked.service.settings, asked.project
    return read_status(
        client,
        connection,
        settings,
        project=project,
        spooled=spool_size(settings).outcomes if asked.sees_all else 0,
        counts_bytes=False,
        dead_letters=None if asked.sees_all else count_letters(client, settings.keys, project),
    )


def _news(
    asked: PageRequest, connection: Connection, client: redis.Redis | None, until: float
) -> list[News]:
    return changes_between(
        connection,
        client,
        asked.service.settings,
        asked.project,
        since=until - WEEK,
        until=until,
    )


def _began(news: Sequence[News]) -> int:
    return sum(each.kind.value == "defect.began" for each in news)


def _stack(day: Day) -> Stack:
    return Stack(day.day, day.successes, day.failures, day.without_verdict)
