"""The names under which the processes of workers read the stream."""

import os
import socket
import uuid
from dataclasses import dataclass
from typing import Any

import redis

from trackrecord.redis_keys import CONSUMER_GROUP, Keys


@dataclass(frozen=True)
class Consumer:
    """A process of a worker, as Redis knows it.

    Attributes:
        pid: its process id, on its host.
        idle_s: seconds since it last asked for outcomes.
    """

    pid: int
    idle_s: float


def own_name() -> str:
    """Return a name for this process that no other one has."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def consumers_here(client: redis.Redis, keys: Keys) -> list[Consumer]:
    """Return the consumers of this host that have ever asked for outcomes.

    Raises:
        redis.RedisError: Redis does not respond.
    """
    try:
        found: Any = client.xinfo_consumers(keys.outcomes, CONSUMER_GROUP)
    except redis.exceptions.NoPermissionError:
        raise
    except redis.ResponseError:  # no stream or no group: no worker has ever been there
        return []
    ours = f"{socket.gethostname()}-"
    names = [(consumer["name"].decode(errors="replace"), consumer["idle"]) for consumer in found]
    return [
        Consumer(int(pid), int(idle) / 1000)
        for name, idle in names
        if name.startswith(ours) and (pid := name.removeprefix(ours).split("-")[0]).isdigit()
    ]
