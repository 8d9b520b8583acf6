"""Cached answers to expensive, frequent queries, valid until the project changes."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Final, Generic, TypeVar

from sqlalchemy import Connection

from trackrecord.store.outcomes.projects import revision_of_row

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
        revision = revision_of_row(connection, project_id)
        key = (str(connection.engine.url), project_id, revision, question)
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
