"""The outbox: pending news in Redis."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from typing import Any, Final

import redis
import structlog

from trackrecord.learning.text.times import believed_age
from trackrecord.redis.keys import Keys, split_mark
from trackrecord.resources.operation.news import News

from .message import encode_message

_MOST_WAITING: Final = 10_000
PAGE: Final = 100
_HOUR_S: Final = 3600.0

_log = structlog.get_logger(__name__)

# The digest of the news is noted in the same step in which the news comes into the outbox: it can
# neither be lost in between nor come twice. Of a full outbox the oldest is dropped.
_ADD = """
local most, at, digest, forget_before = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
if redis.call('ZADD', KEYS[1], 'NX', at, digest) == 0 then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', forget_before)
redis.call('XADD', KEYS[2], '*', 'body', ARGV[5], 'project', ARGV[6])
return 1 + redis.call('XTRIM', KEYS[2], 'MAXLEN', most)
"""

# As above, of dead letters: it was told of all up to a certain one.
_ADD_LETTERS = """
if redis.call('HGET', KEYS[1], 'last') == ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'last', ARGV[2], 'at', ARGV[3])
redis.call('XADD', KEYS[2], '*', 'body', ARGV[4], 'project', '')
redis.call('XTRIM', KEYS[2], 'MAXLEN', tonumber(ARGV[1]))
return 1
"""


@dataclass(frozen=True)
class WaitingNews:
    """A pending piece of news.

    Attributes:
        entry_id: its id in the outbox, "milliseconds-number".
        body: the message, as JSON.
    """

    entry_id: str
    body: bytes

    @property
    def noted_at(self) -> float:
        """Return when it came into the outbox, in seconds since the epoch."""
        return int(self.entry_id.partition("-")[0]) / 1000


class Outbox:
    """News on its way to people.

    Args:
        client: a Redis client.
        keys: the names of the keys.
    """

    def __init__(self, client: redis.Redis, keys: Keys) -> None:
        self._client = client
        self._keys = keys

    def since(self, now: float) -> float:
        """Return the moment from which news are sent: the first look for news."""
        self._client.set(self._keys.notifications_since, repr(now), nx=True)
        answer: Any = self._client.get(self._keys.notifications_since)
        since = float(answer)
        if believed_age(now - since) < inf:
            return since
        # The clock was set back: what happens from now on is news.
        self._client.set(self._keys.notifications_since, repr(now))
        return now

    def add(self, project: str, news: Iterable[News], *, kept_since: float) -> int:
        """Put news of a project into the outbox; return how much of it was new.

        Args:
            project: whose news.
            news: what changed; what was added before is left out.
            kept_since: news from before this moment are not looked for again.
        """
        with self._client.pipeline(transaction=False) as pipe:
            for each in news:
                digest = blake2b(repr((each.kind, each.subject, each.at)).encode(), digest_size=12)
                arguments = (
                    _MOST_WAITING,
                    repr(each.at),
                    digest.hexdigest(),
                    repr(kept_since - _HOUR_S),
                    encode_message(each),
                    project,
                )
                names = (self._keys.announced(project), self._keys.notifications)
                pipe.eval(_ADD, len(names), *names, *arguments)
            answers: list[int] = pipe.execute()
        dropped = sum(answer - 1 for answer in answers if answer)
        if dropped:
            _log.error("notifications_dropped", count=dropped, reason="the outbox is full")
        return sum(1 for answer in answers if answer)

    def letters_told(self) -> tuple[dict[int | None, str], float]:
        """Return the id of the last announced dead letter of each shard, and the last time."""
        answer: Any = self._client.hmget(self._keys.announced_letters, "last", "at")
        last, at = answer
        if not last:
            return {}, 0.0
        ids = (split_mark(each) for each in last.decode().split())
        return {number: own_id for own_id, number in ids}, float(at)

    def add_letters(self, news: News, last: Iterable[str]) -> bool:
        """Put news of dead letters into the outbox; return whether it was new.

        Args:
            news: what is told of them.
            last: the id of the last one of each shard.
        """
        names = (self._keys.announced_letters, self._keys.notifications)
        arguments = (_MOST_WAITING, " ".join(last), repr(news.at), encode_message(news))
        return bool(self._client.eval(_ADD_LETTERS, len(names), *names, *arguments))

    def waiting(self, *, after: str = "-", limit: int = PAGE) -> list[WaitingNews]:
        """Return the pending news, the oldest first."""
        start = after if after == "-" else f"({after}"
        found: Any = self._client.xrange(self._keys.notifications, start, "+", limit)
        return [
            WaitingNews(entry_id.decode(), fields.get(b"body", b"{}")) for entry_id, fields in found
        ]

    def count(self) -> int:
        """Return how much news is pending."""
        return int(self._client.xlen(self._keys.notifications))

    def done(self, entry_id: str) -> None:
        """Remove news that was sent."""
        self._client.xdel(self._keys.notifications, entry_id)
