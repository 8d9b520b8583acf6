"""Remember which cached documents were up to date, so that only what changed is looked at again.

To look at the cache of each of a thousand projects every few seconds costs more than learning does.
"""

import time
from collections.abc import Mapping
from itertools import islice
from typing import Final

from sqlalchemy import Engine

from trackrecord.learning.text.times import age_limit_s
from trackrecord.store.database.engine import dialect_of, reading
from trackrecord.store.outcomes.projects import project_revisions, revisions_mark

# Smaller corrections are made all the time.
_WAVERS_S: Final = 5.0


def _ahead_s() -> float:
    """Return how far the clock on the wall is ahead; it jumps if that is set, or after sleep."""
    return time.time() - time.monotonic()


# So many are looked at in turn, whatever is remembered: somebody else may have changed the cache.
_IN_TURN: Final = 1
# What did not change is made anew at most this often, the longest due first.
_OLD_EVERY_S: Final = 20.0


class ProjectRevisions:
    """The projects' revisions, read again only when one has changed.

    Args:
        engine: the store.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._written: object = None
        self._mark: tuple[int, int, int] | None = None
        self._revisions: dict[str, int] = {}

    def read(self) -> Mapping[str, int]:
        """Return each project's revision; the same object until one changes."""
        written = dialect_of(self._engine).last_write(self._engine)
        if written is not None and written == self._written:
            return self._revisions
        with reading(self._engine) as connection:
            mark = revisions_mark(connection)
            if mark != self._mark:
                self._revisions, self._mark = project_revisions(connection), mark
        self._written = written
        return self._revisions


class SeenDocuments:
    """The cached documents of one kind as this process last saw them.

    Args:
        max_age_s: the age at which a document of a project that changed lately is made anew.
        ttl_s: how long Redis keeps one: it is made anew before that.
    """

    def __init__(self, max_age_s: float, ttl_s: float) -> None:
        self._max_age_s = max_age_s
        self._ttl_s = ttl_s
        self._seen: dict[str, tuple[int, float]] = {}
        self._turn = 0
        self._next_old_at = 0.0
        # Until when all documents of these projects need no look but in turn.
        self._fresh: Mapping[str, int] | None = None
        self._fresh_until = 0.0
        self._ahead_s = _ahead_s()

    def to_look_at(self, revisions: Mapping[str, int]) -> list[str]:
        """Return the projects whose document may be missing or outdated, an old one, some in turn.

        After the clock on the wall was set, these are all.
        """
        now = time.monotonic()
        ahead_s = _ahead_s()
        if abs(ahead_s - self._ahead_s) > _WAVERS_S:
            self._ahead_s = ahead_s
            self._seen.clear()
            self._fresh = None
        due: dict[str, None] = {}
        old: dict[str, float] = {}
        if revisions is not self._fresh or now >= self._fresh_until:
            due, old = self._sorted_out(revisions, now)
        if self._turn >= len(revisions):
            self._turn = 0
        in_turn = islice(revisions, self._turn, self._turn + _IN_TURN)
        due |= {name: None for name in in_turn if name not in old}
        self._turn += _IN_TURN
        return list(due)

    def _sorted_out(
        self, revisions: Mapping[str, int], now: float
    ) -> tuple[dict[str, None], dict[str, float]]:
        """Return the projects to look at, and the old ones, with the time when they became so."""
        due: dict[str, None] = {}
        old: dict[str, float] = {}
        if len(self._seen) > len(revisions):  # some were forgotten
            self._seen = {name: seen for name, seen in self._seen.items() if name in revisions}
        for name, revision in revisions.items():
            seen = self._seen.get(name)
            if seen is None or seen[0] != revision:
                due[name] = None
            elif seen[1] <= now:
                old[name] = seen[1]
        if old and self._next_old_at <= now:
            due[min(old, key=old.__getitem__)] = None
            self._next_old_at = now + _OLD_EVERY_S
        # Rather too many at once than one that Redis no longer keeps.
        due.update((name, None) for name, since in old.items() if now - since > self._ttl_s / 4)
        if not due and not old:
            self._fresh = revisions
            self._fresh_until = min((old_at for _, old_at in self._seen.values()), default=now)
        return due, old

    def age_limit_s(self, revision: int, age_s: float) -> float:
        """Return the age at which a document is computed again though its project did not change.

        Args:
            revision: the project's, which names the moment of its last change.
            age_s: how old the document is.
        """
        made_at = time.time() - age_s
        limit_s = age_limit_s(self._max_age_s, made_at=made_at, changed_at=revision / 1000)
        return min(self._ttl_s / 2, limit_s)

    def is_old(self, revision: int, cached_revision: int, age_s: float) -> bool:
        """Return whether a document is too old, of whichever revision it is.

        Args:
            revision: the project's.
            cached_revision: the document's.
            age_s: how old it is.
        """
        is_same = cached_revision == revision
        return age_s > (self.age_limit_s(revision, age_s) if is_same else self._max_age_s)

    def note(self, project: str, revision: int, age_s: float) -> None:
        """Note that a document of this revision and age is cached."""
        old_at = time.monotonic() + self.age_limit_s(revision, age_s) - age_s
        self._seen[project] = (revision, old_at)
        self._fresh_until = min(self._fresh_until, old_at)

    def forget(self, project: str) -> None:
        """Look at a project's document the next time."""
        self._seen.pop(project, None)
        self._fresh = None

    def names(self) -> list[str]:
        """Return the projects whose documents are cached, as far as is remembered."""
        return list(self._seen)
