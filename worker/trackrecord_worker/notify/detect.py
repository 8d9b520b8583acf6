"""Detect news, and put it into the outbox."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import redis
import structlog
from sqlalchemy import Connection, Engine

from trackrecord.errors import UnknownProject
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.times import believed_age
from trackrecord.redis.shards import all_shards
from trackrecord.resources.operation.news import News, NewsKind, changes_between
from trackrecord.resources.operation.status import counted
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading
from trackrecord.store.outcomes.projects import clock_of, project_revisions

from .outbox import Outbox

# What happened longer ago is not told any more, should the worker have been away for so long.
_WINDOW_S: Final = 6 * 3600.0
_LETTERS_EVERY_S: Final = 60.0
_MOST_LETTERS: Final = 500
# A dead letter comes with its body, which may have a megabyte.
_LETTERS_AT_ONCE: Final = 20
_MOST_REASONS: Final = 3
_LONGEST_REASON: Final = 120

_log = structlog.get_logger(__name__)


class NewsDetector:
    """Detects changes that the receivers want to know.

    Args:
        engine: the store.
        client: a Redis client.
        settings: who is told, of what.
    """

    def __init__(self, engine: Engine, client: redis.Redis, settings: DaemonSettings) -> None:
        self._engine = engine
        self._client = client
        self._settings = settings
        self._outbox = Outbox(client, settings.keys)

    def detect(self, now: float | None = None) -> int:
        """Put what changed since the last time into the outbox; return how much that is.

        What is found twice is told once: a call that ends half way is repeated by the next one.
        """
        until = time.time() if now is None else now
        since = max(self._outbox.since(until), until - _WINDOW_S)
        with reading(self._engine) as connection:
            changed = {
                project: list(self._wanted(connection, project, since, until))
                for project, revision in project_revisions(connection).items()
                if revision >= clock_of(since)
            }
        found = sum(
            self._outbox.add(project, news, kept_since=until - _WINDOW_S)
            for project, news in changed.items()
            if news
        )
        found += self._detect_letters(until)
        if found:
            _log.info("news_found", count=found)
        return found

    def _wanted(
        self, connection: Connection, project: str, since: float, until: float
    ) -> Iterator[News]:
        try:
            news = changes_between(
                connection, self._client, self._settings, project, since=since, until=until
            )
        except UnknownProject:  # it was forgotten meanwhile
            return
        yield from (each for each in news if each.kind in self._settings.notify.events)

    def _detect_letters(self, now: float) -> int:
        """Announce new dead letters, once a minute at most."""
        if NewsKind.DEAD_LETTERS not in self._settings.notify.events:
            return 0
        last, told_at = self._outbox.letters_told()
        if believed_age(now - told_at) < _LETTERS_EVERY_S:
            return 0
        reasons: Counter[str] = Counter()
        shards = all_shards(self._client, self._settings.keys)
        for shard in shards:
            while reasons.total() < _MOST_LETTERS:
                start = f"({last.get(shard.number, '0-0')}"
                page: Any = self._client.xrange(shard.dead, start, "+", _LETTERS_AT_ONCE)
                if not page:
                    break
                reasons.update(_reason(fields) for _, fields in page)
                last[shard.number] = page[-1][0].decode()
        if not reasons:
            return 0
        news = News(
            NewsKind.DEAD_LETTERS, now, _of_letters(reasons), None, "",
            {"dead_letters": reasons.total()},
        )  # fmt: skip
        ids = [shard.mark(last[shard.number]) for shard in shards if shard.number in last]
        return int(self._outbox.add_letters(news, ids))


def _reason(fields: dict[bytes, bytes]) -> str:
    return one_line(fields.get(b"reason", b"unknown").decode(errors="replace"), _LONGEST_REASON)


def _of_letters(reasons: Counter[str]) -> str:
    shown = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(_MOST_REASONS))
    further = len(reasons) - _MOST_REASONS
    more = f"; {counted(further, 'further reason')}" if further > 0 else ""
    return (
        f"{counted(reasons.total(), 'new dead letter')}, which could not be learnt: "
        f"{shown}{more}. `trackrecord dead list` shows them."
    )
