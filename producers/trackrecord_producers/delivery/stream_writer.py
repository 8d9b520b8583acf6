"""Write outcomes to the stream; Redis acknowledges them before the call returns."""

from collections.abc import Iterable, Iterator, Sequence

import redis

from trackrecord.errors import ServerUnavailable
from trackrecord.redis.keys import Keys

from .stream_and_spool_format import Entry, stream_entry

BATCH_OUTCOMES = 500
# Bodies of one pipelined write; Redis is asked for no more at once.
BATCH_BYTES = 4 * 1024 * 1024


def send(client: redis.Redis, keys: Keys, bodies: Iterable[bytes]) -> list[str]:
    """Put outcomes on the stream, in batches.

    Returns:
        The entries' ids, in the order of the bodies.

    Raises:
        ServerUnavailable: Redis cannot be reached or refuses writes. Earlier batches may have gone
            through; sending the same bodies again changes nothing, their outcome_id is known.
    """
    ids: list[str] = []
    for batch in batches(bodies):
        ids += append(client, keys.outcomes, [stream_entry("outcome", body) for body in batch])
    return ids


def append(client: redis.Redis, stream: str, entries: Sequence[Entry]) -> list[str]:
    """Append entries to a stream in one pipelined write.

    Raises:
        ServerUnavailable: Redis cannot be reached or refused an entry; others may be in.
    """
    try:
        with client.pipeline(transaction=False) as pipe:
            for entry in entries:
                pipe.xadd(stream, entry)  # type: ignore[arg-type] # its dict is invariant
            answers = pipe.execute(raise_on_error=False)
    except (redis.RedisError, OSError) as error:
        what = str(error).rstrip(".")
        message = f"Redis cannot be reached: {what}; start it or set TRACKRECORD_REDIS_URL"
        raise ServerUnavailable(message) from error
    for answer in answers:
        if isinstance(answer, Exception):
            message = f"Redis refuses outcomes: {answer}"
            raise ServerUnavailable(message)
    return [each.decode() if isinstance(each, bytes) else str(each) for each in answers]


def batches(
    bodies: Iterable[bytes],
    max_outcomes: int = BATCH_OUTCOMES,
    max_bytes: int = BATCH_BYTES,
) -> Iterator[list[bytes]]:
    """Yield bodies in lists that are neither too long nor too large; a large body is alone."""
    batch: list[bytes] = []
    size = 0
    for body in bodies:
        if batch and (len(batch) >= max_outcomes or size + len(body) > max_bytes):
            yield batch
            batch, size = [], 0
        batch.append(body)
        size += len(body)
    if batch:
        yield batch
