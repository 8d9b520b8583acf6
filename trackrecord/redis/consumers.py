"""The processes of workers that read the stream, and the names under which they do."""

import os
import socket
import uuid
from dataclasses import dataclass
from typing import Any

import redis

from .keys import CONSUMER_GROUP, Keys


@dataclass(frozen=True)
class Consumer:
    """A process of a worker, as Redis knows it.

    Attributes:
        pid: its process id; 0 if it runs on another host.
        idle_s: seconds since it last asked for outcomes.
    """

    pid: int
    idle_s: float


def own_name() -> str:
    """Return a name for this process that no other one has."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def consumers_of(answer: Any) -> list[Consumer]:  # noqa: ANN401 - whatever Redis says
    """Return the consumers that an answer to XINFO CONSUMERS names."""
    return [
        Consumer(_pid_on_host(each["name"].decode(errors="replace")), int(each["idle"]) / 1000)
        for each in answer
    ]


def last_asked(known: dict[str, Any], answer: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Return the answers about each consumer in which it asked last, by its name."""
    newest = dict(known)
    for each in answer:
        before = newest.get(each["name"])
        if before is None or int(each["idle"]) < int(before["idle"]):
            newest[each["name"]] = each
    return newest


def consumers_of_host(client: redis.Redis, keys: Keys) -> list[Consumer]:
    """Return the consumers of this host that have ever asked for outcomes.

    Every worker reads every shard, so the last one that was asked tells of it.

    Raises:
        redis.RedisError: Redis does not respond.
    """
    asked: dict[str, Any] = {}
    for shard in keys.shards:
        try:
            found: Any = client.xinfo_consumers(shard.outcomes, CONSUMER_GROUP)
        except redis.exceptions.NoPermissionError:
            raise
        except redis.ResponseError:  # no stream or no group: no worker has ever been there
            continue
        asked = last_asked(asked, found)
    return [each for each in consumers_of(asked.values()) if each.pid]


def _pid_on_host(name: str) -> int:
    prefix = f"{socket.gethostname()}-"
    pid = name.removeprefix(prefix).split("-")[0]
    return int(pid) if name.startswith(prefix) and pid.isascii() and pid.isdecimal() else 0
