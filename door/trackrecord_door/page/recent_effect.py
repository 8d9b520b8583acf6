"""Recent measures of the effect of advice: with many tasks, measuring takes long.

The overview shows it beside the rest. It is measured on a thread of the floor; whoever comes
meanwhile is shown what was measured before, and when.
"""

import time
from collections import OrderedDict
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final
from weakref import WeakKeyDictionary

from sqlalchemy import Connection

from trackrecord.queries.effect import MeasuredEffect, measure_effect
from trackrecord.queries.project_rows import project_row
from trackrecord.store.advice.exposures import are_more_exposures
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import revision_of
from trackrecord_door.query_service import QueryService

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

    effect: MeasuredEffect
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
