"""Cached answers to expensive, frequent queries, valid until the project changes."""

from __future__ import annotations

import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from trackrecord.settings.daemon_settings import DaemonSettings

T = TypeVar("T")

# What is on record ages: a state may change without an outcome.
_KEPT_S: Final = 30.0


class AnswerCache(Generic[T]):
    """The answers that were given last, each for one state of a project.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._lock = Lock()

    def answer(
        self, connection: Connection, project_id: int, question: Hashable, compute: Callable[[], T]
    ) -> T:
        """Return an answer that was given within the last half minute, else compute it.

        Args:
            connection: a reading transaction.
            project_id: what it is about; an answer about what it was before is not given.
            question: what else it depends on.
            compute: computes it from what the transaction reads.
        """
        from trackrecord.store.outcomes.projects import revision_of_row

        revision = revision_of_row(connection, project_id)
        return self._kept((str(connection.engine.url), project_id, revision, question), compute)

    def _kept(self, key: Hashable, compute: Callable[[], T]) -> T:
        now = time.monotonic()
        with self._lock:
            made_at, kept = self._answers.get(key, (now, None))
        if kept is not None and now - made_at <= _KEPT_S:
            return kept
        found = compute()
        with self._lock:
            self._answers[key] = (now, found)
            self._answers.move_to_end(key)
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
        return found


class CountedAnswers(AnswerCache[T]):
    """Answers counted from all runs of a project: of a large one, as the worker counted them last.

    Args:
        part: its name among what the worker counts.
        kind: the type of the answers, or what returns it.
        most: how many are kept.
    """

    def __init__(self, part: str, kind: Callable[[], Any], most: int) -> None:
        super().__init__(most)
        self.part: Final = part
        self._kind = kind

    def counted(
        self,
        connection: Connection,
        settings: DaemonSettings,
        project_id: int,
        rules: Hashable,
        compute: Callable[[], T],
    ) -> T:
        """Return what the worker counted, else compute it; see `answer`.

        Args:
            connection: a reading transaction.
            settings: how old a count may be.
            project_id: whose runs.
            rules: what it is counted by.
            compute: counts it.
        """
        found = self.stored(connection, settings, project_id, rules)
        return self.answer(connection, project_id, rules, compute) if found is None else found

    def stored(
        self, connection: Connection, settings: DaemonSettings, project_id: int, rules: Hashable
    ) -> T | None:
        """Return what the worker counted; None if that is too old, of other rules, or nothing."""
        from trackrecord.store.advice.worker_counts import counted_when, read_part

        counted_at = counted_when(
            connection,
            project_id,
            self.part,
            rules=_fingerprint(rules),
            max_age_s=settings.rankings_max_age_s,
            now=time.time(),
        )
        if counted_at is None:
            return None

        def read() -> T:
            data = read_part(connection, project_id, self.part, counted_at=counted_at)
            if data is None:
                raise LookupError
            found: T = msgspec.msgpack.decode(zlib.decompress(data), type=self._kind())
            return found

        try:
            key = (str(connection.engine.url), project_id, counted_at, "by the worker", rules)
            return self._kept(key, read)
        # It was dropped just now, or another version wrote it.
        except (LookupError, zlib.error, msgspec.DecodeError):
            return None

    def packed(self, answer: T, rules: Hashable) -> tuple[str, bytes]:
        """Return the fingerprint of the rules, and an answer as it is stored."""
        return _fingerprint(rules), zlib.compress(msgspec.msgpack.encode(answer), level=1)


def _fingerprint(rules: Hashable) -> str:
    return blake2b(repr(rules).encode(), digest_size=8).hexdigest()
