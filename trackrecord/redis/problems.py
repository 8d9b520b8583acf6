"""Messages about a Redis that is not usable: one line each, with a remedy."""

from collections.abc import Mapping
from typing import Any, Final

import redis

from trackrecord.errors import ServerUnavailable, ServerUnfit
from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.settings.server_urls import is_cluster_url

from .shards import servers_of

# The memory is nearly full when less than this share is left: what is large is refused.
_ROOM: Final = 0.01
REPLICA: Final = "this Redis is a read-only replica: name its master in TRACKRECORD_REDIS_URL"
_CHECK_URL = "check TRACKRECORD_REDIS_URL"
_CLUSTER = (
    "this Redis is part of a Redis Cluster: name its nodes in TRACKRECORD_REDIS_URL, as in "
    "redis+cluster://host:6379,host:6379"
)
_NO_CLUSTER = (
    "this Redis is not part of a Redis Cluster: TRACKRECORD_REDIS_URL must begin with redis://, "
    "or with redis+sentinel:// for the master that Sentinels watch"
)
_NO_DATABASE = (
    "Redis does not have the database that TRACKRECORD_REDIS_URL names at its end: use a smaller "
    "number (a server has 0 to 15 unless configured otherwise)"
)
# A master that must have replicas has lost them; one that becomes a replica ends what waits.
_IN_FAILOVER: Final = ("NOREPLICAS", "UNBLOCKED")
# By what the server or redis-py says.
_WRONG_URLS: Final = {
    "cluster support disabled": _NO_CLUSTER,
    "DB index": _NO_DATABASE,
    "invalid DB": _NO_DATABASE,
    "Certificate Requirements": (
        "TRACKRECORD_REDIS_URL has an unknown ssl_cert_reqs: use none, optional or required"
    ),
}


def explain_redis_error(
    error: redis.RedisError | OSError, settings: AgentSettings
) -> ServerUnavailable | None:
    """Return the error to raise instead, or None for an error that is not about the server.

    The message never holds a password.
    """
    reason = brief(error)
    if isinstance(error, redis.exceptions.NoPermissionError):
        return ServerUnfit(f"the Redis user lacks a permission ({reason}); see docs/running.md")
    if isinstance(error, redis.AuthenticationError):
        return ServerUnfit(_password_problem(reason, settings))
    if isinstance(error, redis.exceptions.ClusterError | redis.exceptions.MovedError):
        if is_cluster_url(settings.effective_redis_url):
            return ServerUnavailable(f"the Redis Cluster lacks a part of its slots ({reason})")
        return ServerUnfit(_CLUSTER)
    for said, remedy in _WRONG_URLS.items():
        if said in reason:
            return ServerUnfit(remedy)
    if isinstance(error, redis.ConnectionError | redis.TimeoutError | OSError):
        # redis-py's messages name the host and port, never the password.
        return ServerUnavailable(f"Redis cannot be reached ({reason}); {_hint(settings)}")
    if is_out_of_memory(error):
        return ServerUnavailable(
            "Redis's memory is full, and it refuses what needs room: give it more (maxmemory), or "
            "wait until a worker has learnt what it holds"
        )
    if is_read_only(error):
        return ServerUnfit(REPLICA)
    return None


def brief(error: BaseException) -> str:
    """Say an error in one line without a password, which it may hold where Sentinels are away."""
    if isinstance(error, redis.sentinel.MasterNotFoundError):
        return "no Sentinel knows a master that is up"
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def is_away(error: BaseException) -> bool:
    """Return whether an error may be over in a moment: an outage, or a failover."""
    passing = (redis.ConnectionError, redis.TimeoutError, redis.exceptions.ClusterDownError)
    return isinstance(error, passing) or is_read_only(error) or _says(error, *_IN_FAILOVER)


def is_read_only(error: BaseException) -> bool:
    """Return whether Redis refused a command, or a script's, because it is a replica."""
    # An older server's script gives the error of its command in a text of its own.
    return isinstance(error, redis.ReadOnlyError) or _says(error, "-READONLY ")


def _says(error: BaseException | None, *codes: str) -> bool:
    """Return whether an answer of Redis has one of some codes in it, where redis-py has no type."""
    return isinstance(error, redis.ResponseError) and any(code in str(error) for code in codes)


def is_full(memory: Mapping[str, Any]) -> bool:
    """Return whether Redis takes nothing more, by its section of INFO about memory."""
    most = int(memory.get("maxmemory", 0))
    return 0 < most <= int(memory.get("used_memory", 0)) + most * _ROOM


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether Redis refused a command, or a script's, because its memory is full."""
    return isinstance(error, redis.OutOfMemoryError) or _says(error, "OOM command not allowed")


def memory_of_servers(client: redis.Redis) -> list[Mapping[str, Any]] | None:
    """Return what each server says of its memory; None for a user who may not see it.

    Raises:
        redis.RedisError: one cannot be reached.
    """
    try:
        answers: list[Any] = [server.info("memory") for server in servers_of(client)]
    except redis.exceptions.NoPermissionError:
        return None
    return answers


def memory_is_full(client: redis.Redis) -> bool:
    """Return whether a server is full; False for a user who may not see it.

    Raises:
        redis.RedisError: it cannot be reached.
    """
    return any(is_full(memory) for memory in memory_of_servers(client) or ())


def cluster_problem() -> ServerUnfit:
    """Return the error to raise for a server in cluster mode."""
    return ServerUnfit(_CLUSTER)


def _password_problem(reason: str, settings: AgentSettings) -> str:
    """Return the problem with the password: missing or wrong."""
    if settings.redis_url is None:
        return (
            f"the embedded Redis refuses the password in {settings.embedded_redis_folder}: "
            "start `trackrecord up` anew"
        )
    # Replies to a command and to HELLO, with which a connection may begin.
    if "Authentication required" in reason or "already authenticated" in reason:
        return (
            "Redis wants a password: put it into TRACKRECORD_REDIS_URL (that of `trackrecord up` "
            "is in the file redis/password of its home)"
        )
    return f"Redis refuses the password; {_CHECK_URL}"


def _hint(settings: AgentSettings) -> str:
    if settings.redis_url is None:
        return "start it with `trackrecord up`, or set TRACKRECORD_REDIS_URL"
    return _CHECK_URL
