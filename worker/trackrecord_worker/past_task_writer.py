"""Write the past tasks of one project where agents find them: in Redis, see `past_task_cache`."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from uuid import uuid4

import msgspec
import redis

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.task_finding import MOST_HOLDERS
from trackrecord.prompt.past_task_cache import (
    FORMAT,
    SUMMARY,
    Summary,
    fields_of,
    forget_cached_tasks,
    pack_summary,
    unpack_summary,
)
from trackrecord.prompt.task_record import TaskRecord, decode_record, encode_record

from .past_task_scripts import ADD, REMOVE, UNLOCK

# One script adds so many tasks, and holds up whoever reads for a millisecond.
_AT_ONCE: Final = 25
_LOCK_MS: Final = 60_000
_ASK_AT_ONCE: Final = 500
# Beside the records, whose fields have four bytes.
_STATE: Final = b"state"


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How far the past tasks of a project are cached.

    Attributes:
        base: the row of the store that numbers count from.
        through: the last row that was looked at.
        through_id: its outcome.
        scored_by: what stands for the rules that verdicts follow.
        compared_at: when all of it was last compared with the store.
        compared_revision: the revision of the store at that time.
        form: of what is cached.
    """

    base: int
    through: int
    through_id: str | None
    scored_by: str
    compared_at: float
    compared_revision: int
    form: int = FORMAT


class Known(NamedTuple):
    """What is known of the cached past tasks of a project.

    Attributes:
        state: how far they are cached; None where they are not, or only a part of them is.
        revision: the revision of the store that they show; None where nothing can be read.
    """

    state: State | None
    revision: int | None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def known_states(
    client: redis.Redis, settings: DaemonSettings, projects: Sequence[str]
) -> dict[str, Known]:
    """Return how far the past tasks of projects are cached."""
    keys, answers = settings.keys, []
    for start in range(0, len(projects), _ASK_AT_ONCE):
        with client.pipeline(transaction=False) as pipe:
            for project in projects[start : start + _ASK_AT_ONCE]:
                pipe.hget(keys.past_tasks(project), _STATE)
                pipe.hget(keys.past_task_words(project), SUMMARY)
                pipe.hlen(keys.past_tasks(project))
                pipe.strlen(keys.past_task_order(project))
            found = pipe.execute()
        answers += [_known(*found[at : at + 4]) for at in range(0, len(found), 4)]
    return dict(zip(projects, answers, strict=True))


def _known(state: bytes | None, summary: bytes | None, records: int, order: int) -> Known:
    known = unpack_summary(summary)
    if known is None:
        return Known(None, None)
    # All but the state are records, each of which has its place in the order.
    if state is None or records - 1 > order // 4:
        return Known(None, known.revision)
    try:
        decoded = _decoder.decode(state)
    except msgspec.DecodeError:
        return Known(None, known.revision)
    return Known(decoded if decoded.form == FORMAT else None, known.revision)


class PastTaskWriter:
    """Write the cached past tasks of one project.

    Args:
        client: a patient Redis client.
        settings: names of keys, and how long they last.
        project: whose past tasks.
    """

    def __init__(self, client: redis.Redis, settings: DaemonSettings, project: str) -> None:
        self._client = client
        self._settings = settings
        self._project = project
        self._records = settings.keys.past_tasks(project)
        self._words = settings.keys.past_task_words(project)
        self._order = settings.keys.past_task_order(project)
        self._lock = settings.keys.past_task_lock(project)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Keep other workers from writing; yields False where one is at it."""
        owner = uuid4().hex
        if not self._client.set(self._lock, owner, nx=True, px=_LOCK_MS):
            yield False
            return
        try:
            yield True
        finally:
            self._client.eval(UNLOCK, 1, self._lock, owner)

    def read(self) -> Known:
        """Return how far all is cached."""
        return known_states(self._client, self._settings, [self._project])[self._project]

    def note(self, state: State, revision: int) -> None:
        """Say how far all is cached, and let it last."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hset(self._records, _STATE, _encoder.encode(state))
            pipe.hlen(self._records)
            size = pipe.execute()[1] - 1
            pipe.hset(self._words, SUMMARY, pack_summary(Summary(size, revision)))
            for key in (self._records, self._words, self._order):
                pipe.expire(key, self._settings.rankings_ttl_s)
            pipe.execute()

    def forget(self) -> None:
        """Remove all."""
        forget_cached_tasks(self._client, self._settings.keys, self._project)

    def add(self, numbered: Sequence[tuple[int, TaskRecord]]) -> None:
        """Add past tasks, the oldest first; those that are there already stay as they are."""
        for start in range(0, len(numbered), _AT_ONCE):
            some = numbered[start : start + _AT_ONCE]
            given: list[Any] = [4 * MOST_HOLDERS]
            for field, (_, record) in zip(fields_of([n for n, _ in some]), some, strict=True):
                given += (field, encode_record(record), record.terms)
            self._client.eval(ADD, 3, self._records, self._words, self._order, *given)

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove past tasks, as far as they are there; their place in the order stays."""
        fields = fields_of(numbers)
        for start in range(0, len(fields), _AT_ONCE):
            some = fields[start : start + _AT_ONCE]
            found: Any = self._client.hmget(self._records, some)
            given = [
                part
                for field, data in zip(some, found, strict=True)
                if data is not None
                for part in (field, decode_record(data).terms)
            ]
            if given:
                self._client.eval(REMOVE, 2, self._records, self._words, *given)

    def length(self) -> int:
        """Return how many numbers are in the order."""
        return self._client.strlen(self._order) // 4

    def order(self) -> array[int]:
        """Return the numbers of all past tasks, the oldest first, and of some that were removed."""
        data: Any = self._client.get(self._order)
        return array("I", data or b"")

    def set_order(self, numbers: Iterable[int]) -> None:
        """Set the order anew."""
        self._client.set(self._order, array("I", numbers).tobytes())
