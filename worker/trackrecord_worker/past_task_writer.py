"""Write the past tasks of one project where agents find them: in Redis, see `past_task_cache`."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import redis

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.task_finding import MOST_HOLDERS
from trackrecord.prompt.past_task_cache import (
    FORMAT,
    SUMMARY,
    CacheSummary,
    fields_of,
    forget_cached_tasks,
    pack_summary,
    unpack_summary,
)
from trackrecord.prompt.task_record import TaskRecord, decode_record, encode_record

from .past_task_scripts import ADD, REMOVE

# One script changes so many words, and holds up whoever reads for less than a millisecond.
_TERMS_AT_ONCE: Final = 200
_RECORDS_AT_ONCE: Final = 500
_ASK_AT_ONCE: Final = 500
# Beside the records, whose fields have four bytes.
_STATE: Final = b"state"


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How far the past tasks of a project are cached.

    Attributes:
        base: the row of the store that numbers count from.
        first: no older row than this one is cached.
        through: the last row that was looked at.
        through_id: its outcome.
        made_for: what stands for the rules that it was made by.
        compared_at: when all of it was last compared with the store.
        compared_revision: the revision of the store at that time.
        form: of what is cached.
    """

    base: int
    first: int
    through: int
    through_id: str | None
    made_for: str
    compared_at: float
    compared_revision: int
    form: int = FORMAT


class CachedTasks(NamedTuple):
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
) -> dict[str, CachedTasks]:
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


def _known(state: bytes | None, summary: bytes | None, records: int, order: int) -> CachedTasks:
    known = unpack_summary(summary)
    if known is None:
        return CachedTasks(None, None)
    # All but the state are records, each of which has its place in the order.
    if state is None or records - 1 > order // 4:
        return CachedTasks(None, known.revision)
    try:
        decoded = _decoder.decode(state)
    except msgspec.DecodeError:
        return CachedTasks(None, known.revision)
    return CachedTasks(decoded if decoded.form == FORMAT else None, known.revision)


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

    def read(self) -> CachedTasks:
        """Return how far all is cached."""
        return known_states(self._client, self._settings, [self._project])[self._project]

    def note(self, state: State, revision: int) -> None:
        """Say how far all is cached, and let it last."""
        with self._client.pipeline(transaction=True) as pipe:
            pipe.hset(self._records, _STATE, _encoder.encode(state))
            pipe.hlen(self._records)
            size = pipe.execute()[1] - 1
            pipe.hset(self._words, SUMMARY, pack_summary(CacheSummary(size, revision)))
            for key in (self._records, self._words, self._order):
                pipe.expire(key, self._settings.rankings_ttl_s)
            pipe.execute()

    def forget(self) -> None:
        """Remove all."""
        forget_cached_tasks(self._client, self._settings.keys, self._project)

    def add(self, numbered: Sequence[tuple[int, TaskRecord]]) -> None:
        """Add past tasks, by their numbers ascending; those that are there stay as they are."""
        self._change_words(ADD, [4 * MOST_HOLDERS], _by_term(numbered))
        # Only now: a record says that all its words are there.
        fields = fields_of([number for number, _ in numbered])
        with self._client.pipeline(transaction=True) as pipe:
            for field, (_, record) in zip(fields, numbered, strict=True):
                pipe.hset(self._records, field, encode_record(record))
            pipe.append(self._order, b"".join(self._new_in_order(numbered)))
            pipe.execute()

    def _new_in_order(self, numbered: Sequence[tuple[int, TaskRecord]]) -> list[bytes]:
        """Return the fields that are not in the order yet, should this have been killed before."""
        data: Any = self._client.getrange(self._order, -4, -1)
        last = array("I", data)
        return fields_of([number for number, _ in numbered if not last or number > last[0]])

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove past tasks, as far as they are there; their place in the order stays."""
        for start in range(0, len(numbers), _RECORDS_AT_ONCE):
            some = numbers[start : start + _RECORDS_AT_ONCE]
            fields = fields_of(some)
            found: Any = self._client.hmget(self._records, fields)
            there = [
                (number, decode_record(data))
                for number, data in zip(some, found, strict=True)
                if data is not None
            ]
            # First: after a kill in between, a word may count one too few, and never names a text.
            self._client.hdel(self._records, *fields)
            self._change_words(REMOVE, [], _by_term(there))

    def _change_words(
        self, script: str, settings: Sequence[Any], by_term: Mapping[int, Sequence[int]]
    ) -> None:
        """Run a script for all terms, a few at once: it holds up whoever reads meanwhile."""
        terms = list(by_term)
        fields = fields_of(terms)
        with self._client.pipeline(transaction=False) as pipe:
            for start in range(0, len(terms), _TERMS_AT_ONCE):
                given = list(settings)
                for at in range(start, min(start + _TERMS_AT_ONCE, len(terms))):
                    given += (fields[at], array("I", by_term[terms[at]]).tobytes())
                pipe.eval(script, 1, self._words, *given)
            pipe.execute()

    def length(self) -> int:
        """Return how many numbers are in the order."""
        return self._client.strlen(self._order) // 4

    def order(self) -> "array[int]":
        """Return the numbers of all past tasks, the oldest first, and of some that were removed."""
        data: Any = self._client.get(self._order)
        return array("I", data or b"")

    def set_order(self, numbers: Iterable[int]) -> None:
        """Set the order anew."""
        self._client.set(self._order, array("I", numbers).tobytes())


def _by_term(numbered: Iterable[tuple[int, TaskRecord]]) -> dict[int, list[int]]:
    """Return, for each term of past tasks, their numbers, in their order."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number, record in numbered:
        for term in array("I", record.terms):
            found[term].append(number)
    return found
