"""Everything that one scrape shows, gathered from the database, Redis, the disk and this process.

Each of them is asked on a thread of its own and waited for only so long: a scrape answers while
any of them is away, and no hook and no other surface waits for it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog

from trackrecord import __version__
from trackrecord.prompt.reading.cache import cached_ages
from trackrecord.resources.operation.metrics import (
    OTHER,
    FleetFigures,
    ProjectFigures,
    fleet_figures,
    project_figures,
)
from trackrecord.store.database.engine import reading
from trackrecord_capture.history.counts import CountedSinks
from trackrecord_door.query_service import QueryService
from trackrecord_producers.delivery.drops import OUTCOME_ADVICE
from trackrecord_producers.publishing.publish import dropped
from trackrecord_producers.spool.files import spool_size

from .routes import Answered, Requests

_log = structlog.get_logger(__name__)

_R = TypeVar("_R")


class Bounded:
    """Asks a server on a thread of its own, with a short limit on waiting.

    A question that hangs keeps the thread; until it ends, all later ones are given up, too.

    Args:
        server: its name, for the log.
        patience_s: how long an answer is waited for.
    """

    def __init__(self, server: str, patience_s: float) -> None:
        self._server: Final = server
        self._patience_s: Final = patience_s
        self._thread = ThreadPoolExecutor(1, f"metrics-{server}")
        self._is_away = False

    async def ask(self, question: Callable[[], _R]) -> _R | None:
        """Return the answer to a question; None if it does not come in time."""
        asked = asyncio.get_running_loop().run_in_executor(self._thread, question)
        try:
            # Cancelled if it has not begun; if it has, it goes on alone.
            answer = await asyncio.wait_for(asked, self._patience_s)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other figures are shown
            self._note_away(type(error).__name__)
            return None
        self._is_away = False
        return answer

    def _note_away(self, reason: str) -> None:
        """Log that the server does not answer, once."""
        if not self._is_away:
            self._is_away = True
            _log.warning("metrics_incomplete", without=self._server, reason=reason)


# Prometheus gives up after ten seconds unless it is told otherwise.
_PATIENCE_S: Final = 2.5
# That have series of their own: all others are one, "other".
_NAMED_PROJECTS: Final = 200


@dataclass(frozen=True)
class FleetScrape:
    """The figures that a caller of one project does not see.

    Attributes:
        fleet: what Redis knows of the stream and the workers; None while it is away.
        spooled: the entries in this home's spool; None if it could not be read in time.
        answered: the requests of this front door.
        dropped: what it captured and lost, by reason.
    """

    fleet: FleetFigures | None
    spooled: int | None
    answered: Answered
    dropped: dict[str, int]


@dataclass(frozen=True)
class Figures:
    """The figures of one scrape.

    Attributes:
        version: of trackrecord.
        up: for the database and Redis, whether it answered.
        projects: the figures of each project that the caller may see.
        ages_s: the age of the cached rankings of each of these that has any.
        whole: everything else; None for a caller of one project.
    """

    version: str
    up: dict[str, bool]
    projects: list[ProjectFigures]
    ages_s: dict[str, float]
    whole: FleetScrape | None


@dataclass(frozen=True)
class _OfRedis:
    fleet: FleetFigures | None
    ages_s: dict[str, float]


class Gathering:
    """Gathers the figures of each scrape.

    Args:
        service: the store and Redis.
        captured: counts what this front door captures.
        requests: counts what it answers.
    """

    def __init__(self, service: QueryService, captured: CountedSinks, requests: Requests) -> None:
        self._floor = service
        self._captured = captured
        self._requests = requests
        self._database = Bounded("database", _PATIENCE_S)
        self._redis = Bounded("redis", _PATIENCE_S)
        self._disk = Bounded("disk", _PATIENCE_S)

    async def gather(self, only: str | None) -> Figures:
        """Return the figures.

        Args:
            only: the one project that the caller may see; None for everything.
        """
        disk = asyncio.ensure_future(self._disk.ask(self._on_disk)) if only is None else None
        projects = await self._database.ask(lambda: self._of_projects(only))
        names = [each.project for each in projects or () if only or each.project != OTHER]
        of_redis = await self._redis.ask(lambda: self._of_redis(names, whole=only is None))
        spooled = await disk if disk is not None else None
        return Figures(
            version=__version__,
            up={"database": projects is not None, "redis": of_redis is not None},
            projects=projects or [],
            ages_s=of_redis.ages_s if of_redis else {},
            whole=None
            if only is not None
            else FleetScrape(
                fleet=of_redis.fleet if of_redis else None,
                spooled=spooled,
                answered=self._requests.answered(),
                dropped=_with_own_drops(self._captured.dropped()),
            ),
        )

    def _of_projects(self, only: str | None) -> list[ProjectFigures]:
        settings = self._floor.settings
        with reading(self._floor.engine) as connection:
            return project_figures(connection, settings, only=only, most=_NAMED_PROJECTS)

    def _of_redis(self, projects: list[str], *, whole: bool) -> _OfRedis:
        client, settings = self._floor.client, self._floor.settings
        fleet = fleet_figures(client, settings) if whole else None
        ages = cached_ages(client, settings, projects, now=time.time())
        return _OfRedis(fleet, {name: max(0.0, age.age_s) for name, age in ages.items()})

    def _on_disk(self) -> int:
        return spool_size(self._floor.settings).outcomes


def _with_own_drops(captured: Mapping[str, int]) -> dict[str, int]:
    """Add what hooks reported and this process's own publisher lost."""
    lost = Counter[str](dict.fromkeys(OUTCOME_ADVICE, 0))
    for each in (captured, dropped()):
        lost.update(each)
    return dict(lost)
