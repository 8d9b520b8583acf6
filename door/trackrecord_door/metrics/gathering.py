"""Everything that one scrape shows, gathered from the database, Redis, the disk and this process.

Each of them is asked on a thread of its own and waited for only so long: a scrape answers while
any of them is away, and no hook and no other surface waits for it.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from trackrecord import __version__
from trackrecord.redis.signs_of_life import pids_on_host
from trackrecord.resources.operation.metrics import (
    OTHER,
    FleetFigures,
    InCache,
    ProjectFigures,
    fleet_figures,
    in_cache,
    project_figures,
)
from trackrecord.store.database.engine import reading
from trackrecord_capture.history.capture_counts import CapturedCounts, CountedSinks
from trackrecord_capture.otlp.traces.trace_status import TracesStatus, read_status, traces_file
from trackrecord_door.query_service import QueryService
from trackrecord_producers.delivery.drops import OUTCOME_ADVICE
from trackrecord_producers.publishing.publish import dropped
from trackrecord_producers.spool.files import SpoolSize, spool_size

from .bounded import Bounded
from .requests import Answered, Requests

# Prometheus gives up after ten seconds unless it is told otherwise.
_PATIENCE_S: Final = 2.5
# That have series of their own: all others are one, "other".
_NAMED_PROJECTS: Final = 200


@dataclass(frozen=True)
class FleetScrape:
    """The figures that a caller of one project does not see.

    Attributes:
        fleet: what Redis knows of the stream and the workers; None while it is away.
        workers_rss: the memory of the worker processes of this host, in bytes; None if unknown.
        spool: the size of this home's spool; None if it could not be read in time.
        traces: the traces that wait in this front door; None without any.
        answered: the requests of this front door.
        captured: what it has published, and what was lost.
    """

    fleet: FleetFigures | None
    workers_rss: int | None
    spool: SpoolSize | None
    traces: TracesStatus | None
    answered: Answered
    captured: CapturedCounts


@dataclass(frozen=True)
class Figures:
    """The figures of one scrape.

    Attributes:
        version: of trackrecord.
        up: for the database and Redis, whether it answered.
        projects: the figures of each project that the caller may see.
        cached: what Redis keeps of each of these.
        whole: everything else; None for a caller of one project.
    """

    version: str
    up: dict[str, bool]
    projects: list[ProjectFigures]
    cached: list[InCache]
    whole: FleetScrape | None


@dataclass(frozen=True)
class _OfRedis:
    fleet: FleetFigures | None
    cached: list[InCache]
    workers_rss: int | None


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
        spool, traces = (await disk if disk is not None else None) or (None, None)
        return Figures(
            version=__version__,
            up={"database": projects is not None, "redis": of_redis is not None},
            projects=projects or [],
            cached=of_redis.cached if of_redis else [],
            whole=None
            if only is not None
            else FleetScrape(
                fleet=of_redis.fleet if of_redis else None,
                workers_rss=of_redis.workers_rss if of_redis else None,
                spool=spool,
                traces=traces,
                answered=self._requests.answered(),
                captured=_with_own_drops(self._captured.counts()),
            ),
        )

    def _of_projects(self, only: str | None) -> list[ProjectFigures]:
        settings = self._floor.settings
        with reading(self._floor.engine) as connection:
            return project_figures(connection, settings, only=only, most=_NAMED_PROJECTS)

    def _of_redis(self, projects: list[str], *, whole: bool) -> _OfRedis:
        client, settings = self._floor.client, self._floor.settings
        fleet = fleet_figures(client, settings) if whole else None
        cached = in_cache(client, settings, projects, now=time.time())
        pids = pids_on_host(fleet.flow.alive) if fleet else ()
        return _OfRedis(fleet, cached, _resident(pids))

    def _on_disk(self) -> tuple[SpoolSize, TracesStatus | None]:
        settings = self._floor.settings
        return spool_size(settings), read_status(traces_file(settings.home))


def _with_own_drops(captured: CapturedCounts) -> CapturedCounts:
    """Add what hooks reported and this process's own publisher lost."""
    lost = Counter[str](dict.fromkeys(OUTCOME_ADVICE, 0))
    for each in (captured.dropped, dropped()):
        lost.update(each)
    return CapturedCounts(captured.published, dict(lost))


def _resident(pids: Iterable[int]) -> int | None:
    """Return the memory of processes of this host, in bytes; None if it is not visible."""
    sizes = [size for pid in pids if (size := _resident_of(pid)) is not None]
    return sum(sizes) if sizes else None


def _resident_of(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123 - one short read
            pages = int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
