"""Signs of life: which worker processes are learning, for everybody who asks whether one is.

Each process of a worker gives a sign while it drains the stream, every few seconds. Redis
itself would be no witness: before 7.2 a consumer that waits for entries counts as idle. Whoever
does other work gives a sign only while somebody drains: a worker that caches and never learns is
not alive.
"""

import os
import socket
import time
from functools import cache
from typing import Any, Final
from uuid import uuid4

import redis

from .keys import Keys

# Several signs, so that a busy machine is not taken for a dead worker.
LIFETIME_S: Final = 20
# One that was given a moment ago need not be given again.
_AGAIN_S: Final = 4.0
# Who has its turn at the stream says so twice in this time.
_PATIENCE_S: Final = 10
# In place of a process: the fleet's last turn at the stream.
_DRAINED: Final = b"-"
# By the clock of Redis, which all processes share, and which may be set. Who gives a sign removes
# those that are too old; when nobody does, all of them expire. The first command of the script
# writes, if in vain: a Redis whose memory is full then takes the others, too.
_GIVE_SIGN: Final = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')
if ARGV[4] == '1' then
  redis.call('ZADD', KEYS[1], now, ARGV[2], now, ARGV[3])
elseif now - tonumber(redis.call('ZSCORE', KEYS[1], ARGV[3]) or '-inf') <= tonumber(ARGV[5]) then
  redis.call('ZADD', KEYS[1], now, ARGV[2])
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
"""


class SignOfLife:
    """The sign that this process gives.

    Args:
        client: a patient Redis client.
        keys: the names of the keys.
    """

    def __init__(self, client: redis.Redis, keys: Keys) -> None:
        self._give = client.register_script(_GIVE_SIGN)
        self._key = keys.workers
        self._client = client
        # By whether it was given for a turn at the stream.
        self._given_at = {True: -_AGAIN_S, False: -_AGAIN_S}

    def give(self, *, drains: bool) -> None:
        """Say that this process lives.

        Args:
            drains: whether it has its turn at the stream; else it does other work, and lives only
                if somebody has said so of a turn a moment ago.

        Raises:
            redis.RedisError: Redis does not respond.
        """
        if time.monotonic() - max(self._given_at[True], self._given_at[drains]) < _AGAIN_S:
            return
        name = _name(os.getpid())
        arguments: list[Any] = [LIFETIME_S, name, _DRAINED, int(drains), _PATIENCE_S]
        self._give(keys=[self._key], args=arguments)
        self._given_at[drains] = time.monotonic()

    def withdraw(self) -> None:
        """Say that this process ends.

        Raises:
            redis.RedisError: Redis does not respond; the sign expires.
        """
        self._client.zrem(self._key, _name(os.getpid()))
        self._given_at = {True: -_AGAIN_S, False: -_AGAIN_S}


def living(names: list[bytes]) -> tuple[str, ...]:
    """Return the names of the worker processes that live.

    Args:
        names: what the sorted set `Keys.workers` holds.
    """
    return tuple(name.decode(errors="replace") for name in names if name != _DRAINED)


def pids_on_host(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the ids of those that run on this host."""
    prefix = f"{socket.gethostname()}-"
    words = (name.removeprefix(prefix).split("-")[0] for name in names if name.startswith(prefix))
    return tuple(int(word) for word in words if word.isascii() and word.isdecimal())


def living_on_host(client: redis.Redis, keys: Keys) -> tuple[int, ...]:
    """Return the ids of this host's living worker processes.

    Raises:
        redis.RedisError: Redis does not respond.
    """
    names: Any = client.zrange(keys.workers, 0, -1)
    return pids_on_host(living(names))


def unique_name() -> str:
    """Return a name for a part of this process that nothing else has."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"


@cache
def _name(_pid: int) -> str:
    return unique_name()
