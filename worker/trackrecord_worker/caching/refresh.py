"""Keep the cached rankings up to date with the store."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import sample
from typing import Final

import redis
import structlog
from sqlalchemy import Engine

from trackrecord.learning.text.times import believed_age
from trackrecord.prompt.reading.cache import CachedAge, cached_ages
from trackrecord.resources.prompt_documents.changing import write_rankings
from trackrecord.settings.daemon_settings import DaemonSettings

from .seen_documents import ProjectRevisions, SeenDocuments

_MOST_ASKED: Final = 100

_log = structlog.get_logger(__name__)

# While outcomes are waiting, one part in this many of the time goes to refreshing rankings.
_ONE_PART_IN: Final = 8
# So much of that time is saved up at most: a few small projects are refreshed at once.
_MOST_SAVED_S: Final = 0.1


class RankingsRefresher:
    """Compute rankings from the store and write them to the cache.

    A project is refreshed at most once in `refresh_every_s`. While outcomes are waiting, many
    changed projects, or a large one, are refreshed less often, so that learning goes on; those
    that changed first come first.

    Args:
        engine: the store.
        client: a patient Redis client.
        settings: times and rules.
    """

    def __init__(self, engine: Engine, client: redis.Redis, settings: DaemonSettings) -> None:
        self._engine = engine
        self._client = client
        self._settings = settings
        self._revisions = ProjectRevisions(engine)
        self._seen = SeenDocuments(settings.rankings_max_age_s, settings.rankings_ttl_s)
        # In the order in which they changed.
        self._due: dict[str, None] = {}
        self._refreshed_at: dict[str, float] = {}
        self._saved_s = _MOST_SAVED_S
        self._saved_at = time.monotonic()

    def note_changes(self, projects: Iterable[str]) -> None:
        """Note changed projects; refresh some whose last refresh is long enough ago."""
        self._due.update(dict.fromkeys(sorted(projects)))
        now = time.monotonic()
        earned_s = (now - self._saved_at) / _ONE_PART_IN
        self._saved_s = min(self._saved_s + earned_s, _MOST_SAVED_S)
        for project in [each for each in self._due if self._wait_for(each) <= 0]:
            if self._saved_s <= 0:
                break
            started = time.monotonic()
            self.refresh(project)
            self._saved_s -= time.monotonic() - started
        self._saved_at = time.monotonic()

    def next_refresh_in(self) -> float | None:
        """Return the seconds until a changed project may be refreshed; None if none has changed."""
        return min((max(0.0, self._wait_for(each)) for each in self._due), default=None)

    def flush(self, *, within_s: float | None = None) -> None:
        """Refresh the changed projects, however recent their last refresh.

        Args:
            within_s: begin no other one after this time; None to refresh all.
        """
        started = time.monotonic()
        for project in list(self._due):
            self.refresh(project)
            if within_s is not None and time.monotonic() - started > within_s:
                return

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
        revision, written, changes = write_rankings(
            self._engine, self._client, self._settings, project, force=force
        )
        if changes:
            # Without their names: those would outlast `forget` here.
            states = Counter(f"{change.aspect}_{change.after}" for change in changes)
            _log.info("patterns_changed", **states)
        self._due.pop(project, None)
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

    def refresh_stale(
        self, note: Callable[[str], None] | None = None, *, within_s: float | None = None
    ) -> int:
        """Refresh the projects whose cache is missing, outdated or old; return how many.

        Args:
            note: called with the name of each.
            within_s: leave the others to the next call after this time; None to refresh all.
        """
        revisions = self._revisions.read()
        names = self._seen.to_look_at(revisions)
        cached = cached_ages(self._client, self._settings, names, now=time.time())
        if self._is_any_missing(names, cached):
            names = list(revisions)
            cached = cached_ages(self._client, self._settings, names, now=time.time())
        refreshed = 0
        started = time.monotonic()
        for project in names:
            revision, known = revisions[project], cached.get(project)
            # A later revision in the cache: another worker was faster, or else the database was
            # restored from a backup, in which case no worker renews the cache.
            age_s = 0.0 if known is None else believed_age(known.age_s)
            is_old = known is not None and self._seen.is_old(revision, known.revision, age_s)
            # A changed threshold takes effect at once: it is applied when rankings are derived.
            is_behind = known is None or known.revision < revision or not known.is_by_these_rules
            if is_behind or is_old:
                self._seen.forget(project)
                if refreshed and within_s is not None and time.monotonic() - started > within_s:
                    continue
                self.refresh(project, force=is_old)
                refreshed += 1
                if note is not None:
                    note(project)
            else:
                self._seen.note(project, revision, age_s)
        return refreshed

    def _is_any_missing(self, names: Sequence[str], cached: Mapping[str, CachedAge]) -> bool:
        """Return whether the cache has lost documents that were seen: then it may have lost all."""
        seen = set(self._seen.names())
        if any(name in seen and name not in cached for name in names):
            return True
        others = list(seen.difference(names))
        # One command however many there are, and no more keys than it takes in a moment.
        some = others if len(others) <= _MOST_ASKED else sample(others, _MOST_ASKED)
        keys = [self._settings.keys.rankings(name) for name in some]
        return bool(keys) and self._client.exists(*keys) < len(keys)
