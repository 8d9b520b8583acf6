"""Decisions about dead letters: put back into the stream, or deleted for good."""

from collections.abc import Sequence
from typing import Any

import redis

from trackrecord.dead_letter_stream import ADDED, CUT
from trackrecord.errors import InvalidRequest
from trackrecord.queries.dead_letters import wanted_letters
from trackrecord.redis_keys import Keys


def replay_letters(client: redis.Redis, keys: Keys, ids: Sequence[str] | None) -> int:
    """Put dead letters back into the stream; return their number.

    Those of which only the beginning was kept are left where they are.

    Args:
        client: a Redis client.
        keys: the names of the keys.
        ids: of the letters, or their beginnings; None for all that are there now.

    Raises:
        UnknownId: one of them does not exist; none is put back.
        AmbiguousId: several letters' ids begin so; none is put back.
        InvalidRequest: of all of them only the beginning was kept.
    """
    count = cut = 0
    for letter_id, fields in wanted_letters(client, keys, ids):
        if CUT in fields:
            cut += 1
            continue
        original: dict[Any, Any] = {
            name: value for name, value in fields.items() if name not in ADDED
        }
        # One step: in the stream or among the dead letters, never in both or in neither.
        with client.pipeline(transaction=True) as pipe:
            pipe.xadd(keys.outcomes, original or {b"v": b""})
            pipe.xdel(keys.dead, letter_id)
            pipe.execute()
        count += 1
    if cut and not count:
        message = (
            "nothing can be put back: the entries were too large, and only their beginning was "
            "kept; discard them"
        )
        raise InvalidRequest(message)
    return count


def discard_letters(client: redis.Redis, keys: Keys, ids: Sequence[str] | None) -> int:
    """Delete dead letters for good; return their number. See `replay_letters`.

    Raises:
        UnknownId: one of them does not exist; none is deleted.
        AmbiguousId: several letters' ids begin so; none is deleted.
    """
    wanted = wanted_letters(client, keys, ids)
    return sum(int(client.xdel(keys.dead, letter_id)) for letter_id, _ in wanted)
