"""The flow: entries waiting on the stream, dead letters, and the workers."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import redis
from redis.exceptions import NoPermissionError

from trackrecord.redis.fleet_counts import LETTERS_DROPPED, LOST
from trackrecord.redis.keys import Keys
from trackrecord.redis.problems import is_full, memory_of_servers
from trackrecord.redis.shards import all_shards
from trackrecord.redis.signs_of_life import living

# What is asked of each shard.
_QUESTIONS: Final = 5

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Flow:
    """The stream and the workers at a moment.

    Attributes:
        waiting: entries in the stream that no worker has read.
        oldest_waiting_s: age of the oldest entry in the stream; None when it is empty.
        pending: entries that were read and are not learnt yet.
        dead_letters: entries that could not be learnt.
        dead_letters_dropped: how many of them were ever dropped to make room for newer ones.
        lost: entries that somebody took out of the stream before workers could.
        memory_full: whether Redis's memory is full, so that it takes nothing more; None where its
            user may not know.
        alive: the names of the worker processes that live.
    """

    waiting: int
    oldest_waiting_s: float | None
    pending: int
    dead_letters: int
    dead_letters_dropped: int
    lost: int
    memory_full: bool | None
    alive: tuple[str, ...]

    @property
    def workers(self) -> int:
        """Return the number of worker processes that live."""
        return len(self.alive)


def read_flow(client: redis.Redis, keys: Keys) -> Flow:
    """Return how the flow is, over all shards.

    Raises:
        redis.RedisError: Redis cannot be reached, or refuses its user.
    """
    shards = all_shards(client, keys)
    with client.pipeline(transaction=False) as pipe:
        ask_flow(pipe, keys, shards)
        answers = pipe.execute(raise_on_error=False)
    return flow_of(answers, memory_of_servers(client))


def ask_flow(pipe: Any, keys: Keys, shards: tuple[Keys, ...]) -> None:  # noqa: ANN401 - redis-py's pipelines lack types
    """Put the questions that `flow_of` reads the answers of into a pipeline."""
    pipe.zrange(keys.workers, 0, -1)
    for shard in shards:
        pipe.xlen(shard.outcomes)
        pipe.xinfo_groups(shard.outcomes)
        pipe.xrange(shard.outcomes, count=1)
        pipe.xlen(shard.dead)
        pipe.hmget(shard.counters, LETTERS_DROPPED, LOST)


def flow_of(answers: list[Any], memory: Sequence[Mapping[str, Any]] | None) -> Flow:
    """Return the flow from the answers to the questions.

    Args:
        answers: the workers, and for each shard the answers to its questions.
        memory: of each server what it says of its memory; None where its user may not know.

    Raises:
        redis.RedisError: Redis refused one of them.
    """
    total = pending = letters = letters_dropped = lost = 0
    oldest_s: list[float] = []
    for start in range(1, len(answers), _QUESTIONS):
        entries, groups, oldest, dead, dropped = answers[start : start + _QUESTIONS]
        total += int(answered(entries))
        pending += sum(int(group["pending"]) for group in _known(groups, []))
        first: Any = answered(oldest)
        oldest_s += [_age_of_entry(entry_id) for entry_id, _ in first]
        letters += int(answered(dead))
        counts = [int(each or 0) for each in answered(dropped)]
        letters_dropped, lost = letters_dropped + counts[0], lost + counts[1]
    return Flow(
        waiting=total - pending,
        oldest_waiting_s=max(oldest_s, default=None),
        pending=pending,
        dead_letters=letters,
        dead_letters_dropped=letters_dropped,
        lost=lost,
        memory_full=None if memory is None else any(is_full(each) for each in memory),
        alive=living(answered(answers[0])),
    )


def answered(answer: _Answer) -> _Answer:
    """Return an answer within a pipeline.

    Raises:
        redis.RedisError: it is an error.
    """
    if isinstance(answer, redis.RedisError):
        raise answer
    return answer


def _known(answer: Any, otherwise: list[Any]) -> Any:  # noqa: ANN401 - whatever Redis says
    """Return an answer about the stream; the default where there is no stream or group yet."""
    if isinstance(answer, redis.ResponseError) and not isinstance(answer, NoPermissionError):
        return otherwise
    return answered(answer)


def _age_of_entry(entry_id: bytes) -> float:
    return round(max(0.0, time.time() - int(entry_id.split(b"-")[0]) / 1000), 3)
