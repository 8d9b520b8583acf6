"""Write outcomes to the stream; Redis acknowledges them before the call returns."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import redis

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.text.project_names import DEFAULT_PROJECT
from trackrecord.redis.keys import Keys
from trackrecord.redis.problems import brief
from trackrecord.redis.shards import look_for_masters, server_of
from trackrecord.wire.kinds import KINDS, project_in
from trackrecord.wire.redacted_body import redacted_body

from .stream_and_spool_format import Entry, stream_entry

BATCH_OUTCOMES = 500
# Bodies of one pipelined write; Redis is asked for no more at once.
BATCH_BYTES = 4 * 1024 * 1024

# Less than an agent waits for an answer.
_REPLICAS_WITHIN_MS = 500
_BODIES = tuple(kind.field for kind in KINDS.values())


def send(
    client: redis.Redis,
    keys: Keys,
    bodies: Iterable[bytes],
    *,
    replicas: int = 0,
    are_safe: bool = False,
) -> list[str]:
    """Put outcomes on the stream, in batches.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        bodies: the outcomes.
        replicas: how many replicas must have them.
        are_safe: whether their secrets are replaced; they are, if not.

    Returns:
        The entries' ids, in the order of the bodies.

    Raises:
        ServerUnavailable: Redis cannot be reached or refuses writes. Earlier batches may have gone
            through; sending the same bodies again changes nothing, their outcome_id is known.
    """
    ids: list[str] = []
    for batch in batches(bodies if are_safe else map(redacted_body, bodies)):
        entries = [stream_entry("outcome", body) for body in batch]
        ids += append(client, keys, entries, replicas=replicas)
    return ids


def append(
    client: redis.Redis, keys: Keys, entries: Sequence[Entry], *, replicas: int = 0
) -> list[str]:
    """Append each entry to the stream of its project's shard, in one pipelined write.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        entries: the entries.
        replicas: how many replicas must have them.

    Returns:
        The entries' ids, each with the mark of its shard.

    Raises:
        ServerUnavailable: Redis cannot be reached or refused an entry; others may be in.
    """
    if len(keys.shards) == 1:
        (only,) = keys.shards
        return append_to(client, [only.outcomes] * len(entries), entries, replicas=replicas)
    shards = [keys.of(_project_of(entry)) for entry in entries]
    streams = [shard.outcomes for shard in shards]
    ids = append_to(client, streams, entries, replicas=replicas)
    return [shard.mark(own_id) for shard, own_id in zip(shards, ids, strict=True)]


def _project_of(entry: Entry) -> str:
    # One that cannot be read becomes a dead letter, in whichever shard.
    bodies = (project_in(entry[name]) for name in _BODIES if name in entry)
    return next(bodies, None) or DEFAULT_PROJECT


def append_to(
    client: redis.Redis, streams: Sequence[str], entries: Sequence[Entry], *, replicas: int = 0
) -> list[str]:
    """Append entries, each to its stream, in one pipelined write.

    Args:
        client: a Redis client.
        streams: the stream of each entry.
        entries: the entries.
        replicas: how many replicas must have them.

    Raises:
        ServerUnavailable: Redis cannot be reached or refused an entry, or too few replicas have
            them; they may be in all the same.
    """
    try:
        answers = _append(client, streams, entries, replicas)
        moved = [
            at for at, each in enumerate(answers) if isinstance(each, redis.exceptions.AskError)
        ]
        if moved:
            look_for_masters(client)
            again = _append(
                client, [streams[at] for at in moved], [entries[at] for at in moved], replicas
            )
            for at, answer in zip(moved, again, strict=True):
                answers[at] = answer
    except (redis.RedisError, OSError) as error:
        what = brief(error)
        message = f"Redis cannot be reached: {what}; start it or set TRACKRECORD_REDIS_URL"
        raise ServerUnavailable(message) from error
    for answer in answers:
        if isinstance(answer, Exception):
            message = f"Redis refuses outcomes: {answer}"
            raise ServerUnavailable(message)
    return [each.decode() if isinstance(each, bytes) else str(each) for each in answers]


def _append(
    client: redis.Redis, streams: Sequence[str], entries: Sequence[Entry], replicas: int
) -> list[Any]:
    """Append on each server by itself, and return its answer to each entry, an error or an id.

    redis-py's pipeline for a cluster would send each entry of a server that hangs once more, one
    by one; and a connection waits for the replicas of its own writes alone.

    Raises:
        redis.RedisError: a server cannot be reached.
        ServerUnavailable: a server has too few replicas.
    """
    answers: list[Any] = [None] * len(entries)
    try:
        servers: dict[redis.Redis, list[int]] = {}
        for place, stream in enumerate(streams):
            servers.setdefault(server_of(client, stream), []).append(place)
        for server, places in servers.items():
            if replicas:
                # Before anything is written: it would be written again and again.
                _refuse_too_few(server.wait(replicas, _REPLICAS_WITHIN_MS), replicas)
            with server.pipeline(transaction=False) as pipe:
                for place in places:
                    pipe.xadd(streams[place], entries[place])  # type: ignore[arg-type] # its dict is invariant
                if replicas:
                    pipe.wait(replicas, _REPLICAS_WITHIN_MS)
                said: list[Any] = pipe.execute(raise_on_error=False)
            if replicas:
                _refuse_too_few(said.pop(), replicas)
            for place, answer in zip(places, said, strict=True):
                answers[place] = answer
    except (redis.RedisError, OSError):
        with suppress(redis.RedisError):
            look_for_masters(client)
        raise
    return answers


def _refuse_too_few(reached: Any, replicas: int) -> None:  # noqa: ANN401 - redis-py's own
    if isinstance(reached, Exception):
        raise reached
    if reached < replicas:
        message = (
            f"{reached} of {replicas} replicas of Redis have the outcomes: start the others, or "
            "lower TRACKRECORD_REDIS_REPLICAS"
        )
        raise ServerUnavailable(message)


def batches(bodies: Iterable[bytes], max_outcomes: int = BATCH_OUTCOMES) -> Iterator[list[bytes]]:
    """Yield bodies in lists that are neither too long nor too large; a large body is alone."""
    batch: list[bytes] = []
    size = 0
    for body in bodies:
        if batch and (len(batch) >= max_outcomes or size + len(body) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(body)
        size += len(body)
    if batch:
        yield batch
