"""Keep the cached rankings up to date with the store."""

import time
from collections.abc import Iterable

import redis
import structlog
from sqlalchemy import Engine

from trackrecord.learning.text.times import believed_age
from trackrecord.prompt.reading.cache import cached_ages
from trackrecord.resources.prompt_documents.cached_rankings import write_rankings
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import project_revisions

_log = structlog.get_logger(__name__)


class RankingsRefresher:
    """Compute rankings from the store and write them to the cache.

    Args:
        engine: the store.
        client: a patient Redis client.
        settings: times and rules.
    """

    def __init__(self, engine: Engine, client: redis.Redis, settings: DaemonSettings) -> None:
        self._engine = engine
        self._client = client
        self._settings = settings
        self._due: set[str] = set()
        self._refreshed_at: dict[str, float] = {}

    def note_changes(self, projects: Iterable[str]) -> None:
        """Note changed projects, and refresh those whose last refresh is long enough ago."""
        self._due.update(projects)
        for project in sorted(self._due):
            if self._wait_for(project) <= 0:
                self.refresh(project)

    def next_refresh_in(self) -> float | None:
        """Return the seconds until a changed project may be refreshed; None if none has changed."""
        return min((max(0.0, self._wait_for(each)) for each in self._due), default=None)

    def flush(self) -> None:
        """Refresh all changed projects, however recent their last refresh."""
        for project in sorted(self._due):
            self.refresh(project)

    def _wait_for(self, project: str) -> float:
        last = self._refreshed_at.get(project)
        if last is None:
            return 0.0
        return last + self._settings.refresh_every_s - time.monotonic()

    def refresh(self, project: str, *, force: bool = False) -> None:
        """Compute one project's rankings and write them to the cache.

        Args:
            project: its name.
            force: write them even over a later revision.
        """
        started = time.perf_counter()
        revision, written = write_rankings(
            self._engine, self._client, self._settings, project, force=force
        )
        self._due.discard(project)
        self._refreshed_at[project] = time.monotonic()
        if len(self._refreshed_at) > 10_000:  # a fleet of tiny projects must not fill the memory
            self._refreshed_at.clear()
        _log.debug(
            "rankings_refreshed",
            project=project,
            revision=revision,
            written=written,
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
        )

    def refresh_stale(self) -> int:
        """Refresh every project whose cache is missing, outdated or old; return how many."""
        with reading(self._engine) as connection:
            revisions = project_revisions(connection)
        cached = cached_ages(self._client, self._settings, list(revisions), now=time.time())
        refreshed = 0
        for project, revision in revisions.items():
            known = cached.get(project)
            # A later revision in the cache: another worker was faster, or else the database was
            # restored from a backup, in which case no worker renews the cache.
            max_age_s = self._settings.rankings_max_age_s
            is_old = known is not None and believed_age(known.age_s) > max_age_s
            # A changed threshold takes effect at once: it is applied when rankings are derived.
            is_behind = known is None or known.revision < revision or not known.is_by_these_rules
            if is_behind or is_old:
                self.refresh(project, force=is_old)
                refreshed += 1
        return refreshed
