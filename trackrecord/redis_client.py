"""Clients of Redis: one for agents, who must never wait for it, and one for workers, who may.

What redis-py imports only when it first connects is imported before, while no fork can interrupt: a
module that is half imported when the process forks stays so in the child.
"""

import secrets  # noqa: F401 - for the names of connection pools
from typing import Any, Final

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

from .agent_settings import AgentSettings
from .forking import not_while_forking

_WORKER_CONNECT_TIMEOUT_S = 5.0
# Far above any blocking read of ours; below it, a server that hangs would hang the worker.
_WORKER_TIMEOUT_S = 30.0
_WORKER_RETRIES = 3

_UNIX: Final = "unix:"


def _identity() -> dict[str, Any]:
    """Return the arguments by which redis-py tells the server its version.

    Left to itself it reads the metadata of its own package, for which much is imported.
    """
    if hasattr(redis, "DriverInfo"):
        return {"driver_info": redis.DriverInfo(lib_version=redis.__version__)}
    return {"lib_version": redis.__version__}


_IDENTITY: Final = _identity()


def agent_client(settings: AgentSettings) -> redis.Redis:
    """Return a client that gives up soon, for agents, which an unreachable server must not delay.

    It tries once: redis-py's own default would try four times with seconds in between.
    Connections are made on first use, so that this never fails for a server that is away.
    """
    return redis.Redis.from_url(
        _reachable(settings.effective_redis_url),
        **_IDENTITY,
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
        _reachable(settings.effective_redis_url),
        **_IDENTITY,
        socket_connect_timeout=_WORKER_CONNECT_TIMEOUT_S,
        socket_timeout=_WORKER_TIMEOUT_S,
        # redis-py converts RESP 3 replies into the shapes of RESP 2, entry by entry.
        protocol=2,
        retry=Retry(ExponentialBackoff(cap=1.0, base=0.05), _WORKER_RETRIES),
    )


def _reachable(url: str) -> str:
    """Return the URL of a server, with what the look-up of its host's name needs imported."""
    if not url.startswith(_UNIX):
        with not_while_forking():
            import encodings.idna  # noqa: F401 - for host names
    return url
