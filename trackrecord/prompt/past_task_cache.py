"""The past tasks of a project in Redis, by their words: how agents find those similar to a task.

Three keys for each project. The records: a hash of what is known of each past task, by its number.
The words: a hash that gives, for each term, how many past tasks have it, and the numbers of the
newest ones. The order: all numbers, the oldest first. The store is the truth; a worker brings these
up to date, and makes them anew when anything is missing.

Numbers and terms are unsigned 32-bit integers, in fields of four bytes. A project's number counts
from its `base`, a row of the store.
"""

import secrets
import struct
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec
import redis

from trackrecord.learning.advice.task_finding import (
    LEAST_SIMILAR,
    MOST_ASKED,
    Holders,
    Question,
    terms_of,
    with_others,
)
from trackrecord.redis_keys import Keys

from .document import RankedTask
from .task_record import FoundTask, best_of, decode_record, records_of_ranked

# Another form of what is cached has another number; what is of another one is made anew.
FORMAT: Final = 1
# Beside the fields of four bytes: in the words, what a reader must know of all.
SUMMARY: Final = b""
# A term's count, which stands before the numbers of its tasks.
COUNT: Final = struct.Struct("<I")

_LOCK_MS: Final = 20_000
_PAUSE_S: Final = 0.05
# KEYS: the lock. ARGV: who holds it.
_UNLOCK: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
_SUMMARY: Final = struct.Struct("<HIQ")


class CacheSummary(NamedTuple):
    """What a reader must know of all past tasks that are cached.

    Attributes:
        size: how many there are.
        revision: the revision of the store that they show.
    """

    size: int
    revision: int


def pack_summary(summary: CacheSummary) -> bytes:
    """Return the summary as it is cached."""
    return _SUMMARY.pack(FORMAT, summary.size, summary.revision)


def unpack_summary(data: bytes | None) -> CacheSummary | None:
    """Return the summary from the cache; None if there is none of this form."""
    if data is None or len(data) != _SUMMARY.size:
        return None
    form, size, revision = _SUMMARY.unpack(data)
    return CacheSummary(size, revision) if form == FORMAT else None


def fields_of(numbers: Sequence[int]) -> list[bytes]:
    """Return the fields of numbers or terms."""
    data = array("I", numbers).tobytes()
    return [data[at : at + 4] for at in range(0, len(data), 4)]


def find_tasks(
    client: redis.Redis,
    keys: Keys,
    project: str,
    task: str,
    *,
    revision: int = 0,
    newest: Sequence[RankedTask] = (),
) -> tuple[FoundTask, ...] | None:
    """Return the past tasks that a task is similar to, best first; None if none are cached.

    Two round trips: one for the words of the task, one for the few past tasks that share most.

    Args:
        client: an agent's client.
        keys: the names of the keys.
        project: whose past tasks.
        task: the text of the task at hand.
        revision: the revision of the rankings that the agent has.
        newest: the past tasks in these rankings: looked at if they are newer than what is cached.

    Raises:
        redis.RedisError: Redis is away.
    """
    terms = terms_of(task, MOST_ASKED)
    wanted = [SUMMARY, *fields_of(terms)]
    values: Any = client.hmget(keys.past_task_words(project), wanted)
    summary = unpack_summary(values[0])
    if summary is None:
        return None
    holders = {
        term: Holders(COUNT.unpack_from(value)[0], array("I", value[COUNT.size :]))
        for term, value in zip(terms, values[1:], strict=True)
        if value is not None
    }
    others = records_of_ranked(newest) if summary.revision < revision else []
    holders = with_others(holders, terms, [array("I", each.terms) for each in others])
    if not holders:
        return ()
    question = Question.of(holders, summary.size + len(others))
    numbers = question.candidates(holders)
    found: Any = client.hmget(keys.past_tasks(project), fields_of(numbers)) if numbers else []
    try:
        records = [decode_record(data) for data in found if data is not None]
    except msgspec.DecodeError:
        return None
    if numbers and not records:  # a server has lost them
        return None
    return best_of([*records, *others], question, least=LEAST_SIMILAR)


def forget_cached_tasks(client: redis.Redis, keys: Keys, project: str) -> None:
    """Remove the cached past tasks of a project; those in the store are cached again.

    Whoever erases past tasks holds `alone_with_tasks` meanwhile.
    """
    client.unlink(
        keys.past_task_words(project), keys.past_tasks(project), keys.past_task_order(project)
    )


@contextmanager
def alone_with_tasks(
    client: redis.Redis, keys: Keys, project: str, *, wait_s: float = 0.0
) -> Iterator[bool]:
    """Keep others from writing the cached past tasks of a project.

    Args:
        client: a patient client.
        keys: the names of the keys.
        project: whose past tasks.
        wait_s: how long to wait for whoever is writing them.

    Yields:
        Whether nobody else was, or has ended meanwhile.
    """
    key, owner = keys.past_task_lock(project), secrets.token_hex(8)
    deadline = time.monotonic() + wait_s
    while not (is_alone := bool(client.set(key, owner, nx=True, px=_LOCK_MS))):
        if time.monotonic() >= deadline:
            break
        time.sleep(_PAUSE_S)
    try:
        yield is_alone
    finally:
        if is_alone:
            client.eval(_UNLOCK, 1, key, owner)
