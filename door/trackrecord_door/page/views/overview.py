"""The overview: what to mend, the last week beside the one before, and if the loop is alive."""

import time
from collections.abc import Sequence
from typing import Final

import redis
from sqlalchemy import Connection

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.advice.moments.facts import Defect
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

# Tasks may have ended half a year before they were imported.
_LOOKED_AT_DAYS: Final = 365
_CHART_DAYS: Final = 30
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
    with asked.reading() as connection:
        status, defects, news, problem = _alive(asked, connection, until)
        by_day = outcomes_by_day(connection, asked.project, days=_LOOKED_AT_DAYS, until=until)
        weeks = two_weeks(
            connection, asked.project, broken={each.line for each in defects}, until=until
        )
    last = max((place for place, day in enumerate(by_day, 1) if day.outcomes), default=0)
    by_day = by_day[max(0, last - _CHART_DAYS) : last]
    values = {
        "status": status,
        "problem": problem,
        "cards": defects[:_CARDS],
        "more_defects": max(0, len(defects) - _CARDS),
        "weeks": weeks,
        "began": sum(each.kind.value == "defect.began" for each in news),
        "days": by_day,
        "stacks": [_stack(each) for each in by_day],
        "news": news[: -_NEWS_SHOWN - 1 : -1],
        "more_news": max(0, len(news) - _NEWS_SHOWN),
        "kinds": _KINDS,
        "tones": _TONES,
        "subject_pages": _SUBJECT_PAGES,
        "enough_tasks": ENOUGH_TASKS,
    }
    return PageView("overview.html", "Overview", values)


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


def _stack(day: Day) -> Stack:
    return Stack(day.day, day.successes, day.failures, day.without_verdict)
