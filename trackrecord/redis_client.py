"""Clients of Redis: one for agents, who must never wait for it, and one for workers, who may.

What redis-py imports only when it first connects is imported together with this module, which no
fork interrupts: a module that is half imported when the process forks stays so in the child.
"""

import encodings.idna  # noqa: F401 - for host names
import secrets  # noqa: F401 - for the names of connection pools
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

from .agent_settings import AgentSettings

# redis-py tells the server its version. What reading that imports differs from Python to Python,
# so it is read.
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
