"""The overview: is the loop alive, how tasks go, what changed, and whether advice helps."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

import redis
from sqlalchemy import Connection

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.advice.effect.texts import conclusion
from trackrecord.learning.advice.moments.facts import Defect
from trackrecord.learning.numbers.decay import DAY
from trackrecord.resources.access.project_rows import project_row
from trackrecord.resources.declaration.checks import choice_of
from trackrecord.resources.experience.found_commands import standing_defects
from trackrecord.resources.figures.days import Day, outcomes_by_day
from trackrecord.resources.figures.effect import EffectAnswer, measure_effect
from trackrecord.resources.operation.dead_letters import count_letters
from trackrecord.resources.operation.news import News, changes_between
from trackrecord.resources.operation.status import StatusAnswer, read_status
from trackrecord.store.advice.exposures import are_more_exposures
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import revision_of
from trackrecord_door.query_service import QueryService
from trackrecord_producers.spool.files import spool_size

from ..answering import PageView
from ..drawings.plots import Point, Stack
from ..requests.page_request import PageRequest

# How long a page waits for it.
_PATIENCE_S: Final = 0.02
# Outcomes come all the time; so often it is measured anew at most.
_EVERY_S: Final = 10.0
# More tasks than these take longer than a page waits. They are read when the page has been sent:
# two threads of one process would only take turns.
_FEW_TASKS: Final = 1_000
_WHEN_SENT_S: Final = 0.2
_MOST_PROJECTS: Final = 200


@dataclass(frozen=True)
class RecentEffect:
    """The effect as it was measured.

    Attributes:
        effect: what was measured.
        at: when, seconds since the epoch.
        revision: of the project at that moment.
        is_current: whether nothing has changed since.
    """

    effect: EffectAnswer
    at: float
    revision: int
    is_current: bool = True


class _Kept:
    """The last measure of one project, and the one in progress."""

    def __init__(self) -> None:
        self.known: RecentEffect | None = None
        self.running: Future[RecentEffect] | None = None
        self._began = 0.0

    def is_due(self) -> bool:
        """Return whether it may be measured again."""
        return self.running is None and time.monotonic() - self._began >= _EVERY_S

    def begin(self, running: Future[RecentEffect]) -> None:
        """Note that it is being measured."""
        self.running, self._began = running, time.monotonic()

    def collect(self) -> None:
        """Take over what has been measured; what failed is tried again, and raised."""
        if self.running is not None and self.running.done():
            ended, self.running = self.running, None
            self.known = ended.result()


class RecentEffects:
    """The effects of the projects of one front door.

    Args:
        service: where they are measured.
    """

    def __init__(self, service: QueryService) -> None:
        self._floor = service
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def of(self, project: str) -> RecentEffect | None:
        """Return the last measured effect; None during the first measurement.

        Raises:
            UnknownProject: nothing is on record for the project.
            ServerUnavailable: the database cannot be reached.
        """
        with reading(self._floor.engine) as connection:
            project_row(connection, project)
            revision = _revision(connection, project)
        with self._lock:
            kept = self._kept_of(project)
            kept.collect()
            if kept.known is not None and kept.known.revision == revision:
                return kept.known
            if kept.is_due():
                kept.begin(self._floor.begin(_measured, self._floor, project))
            running = kept.running
        if running is not None:
            wait([running], _PATIENCE_S)
        with self._lock:
            kept.collect()
            known = kept.known
        if known is None or known.revision >= revision:
            return known
        return replace(known, is_current=False)

    def _kept_of(self, project: str) -> _Kept:
        kept = self._kept.setdefault(project, _Kept())
        self._kept.move_to_end(project)
        while len(self._kept) > _MOST_PROJECTS:
            self._kept.popitem(last=False)
        return kept


def _measured(service: QueryService, project: str) -> RecentEffect:
    with reading(service.engine) as connection:
        are_many = are_more_exposures(connection, project_row(connection, project), _FEW_TASKS)
    if are_many:
        time.sleep(_WHEN_SENT_S)
    with reading(service.engine) as connection:
        effect = measure_effect(connection, project, setting=service.settings.holdout)
        return RecentEffect(effect, time.time(), _revision(connection, project))


def _revision(connection: Connection, project: str) -> int:
    found = revision_of(connection, project)
    return -1 if found is None else found[1]


_of_floors: Final = WeakKeyDictionary[QueryService, RecentEffects]()


def recent_effects(service: QueryService) -> RecentEffects:
    """Return the effects of a front door."""
    return _of_floors.setdefault(service, RecentEffects(service))


_RANGES: Final = {"30": "30 days", "90": "90 days", "365": "a year"}
_LONGEST_RANGE: Final = "365"
_SHORTEST_CHART: Final = 30
_NEWS_SHOWN: Final = 50
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
    days = chosen or _range_with_tasks(by_day)
    by_day = by_day[-int(days) :]
    if chosen is None:
        by_day = _from_first_to_last(by_day)
    effect = recent_effects(asked.service).of(asked.project)
    values = {
        "status": status,
        "problem": problem,
        "defects": defects,
        "days": by_day,
        "stacks": [_stack(each) for each in by_day],
        "rates": [Point(each.day, each.rate, each.low, each.high) for each in by_day],
        "ranges": _RANGES,
        "range": days,
        "news": news[: -_NEWS_SHOWN - 1 : -1],
        "more_news": max(0, len(news) - _NEWS_SHOWN),
        "kinds": _KINDS,
        "tones": _TONES,
        "subject_pages": _SUBJECT_PAGES,
        "effect": effect,
        "conclusion": [] if effect is None else conclusion(effect.effect.report),
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
        since=until - DAY,
        until=until,
    )


def _stack(day: Day) -> Stack:
    return Stack(day.day, day.successes, day.failures, day.without_verdict)
