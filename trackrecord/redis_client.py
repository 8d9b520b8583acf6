"""Clients of Redis: one for agents, who must never wait for it, and one for workers, who may."""

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

from .agent_settings import AgentSettings

# redis-py asks for its own version when it first connects, and from Python 3.13 on that imports
# more. It would be outside of this module's own import, which no fork interrupts, and a child would
# be left with halves of it.
with suppress(PackageNotFoundError):
    version("redis")

_WORKER_CONNECT_TIMEOUT_S = 5.0
# Far above any blocking read of ours; below it, a server that hangs would hang the worker.
_WORKER_TIMEOUT_S = 30.0
_WORKER_RETRIES = 3


def agent_client(settings: AgentSettings) -> redis.Redis:
    """Return a client that gives up soon, for agents, which an unreachable server must not delay.

    It tries once: redis-py's own default would try four times with seconds in between.
    Connections are made on first use, so that this never fails for a server that is away.
    """
    return redis.Redis.from_url(
        settings.effective_redis_url,
        socket_connect_timeout=settings.redis_connect_timeout_s,
        socket_timeout=settings.redis_timeout_s,
        retry=Retry(NoBackoff(), 0),
    )


def worker_client(settings: AgentSettings) -> redis.Redis:
    """Return a client that survives a short interruption, for workers, which have time.

    A command whose connection breaks is sent again, so it may take effect twice; the workers'
    writes are idempotent.
    """
    return redis.Redis.from_url(
        settings.effective_redis_url,
        socket_connect_timeout=_WORKER_CONNECT_TIMEOUT_S,
        socket_timeout=_WORKER_TIMEOUT_S,
        # redis-py converts RESP 3 replies into the shapes of RESP 2, entry by entry.
        protocol=2,
        retry=Retry(ExponentialBackoff(cap=1.0, base=0.05), _WORKER_RETRIES),
    )
