"""Messages about a Redis that is not usable: one line each, with a remedy."""

from collections.abc import Mapping
from typing import Any, Final

import redis

from trackrecord.errors import ServerUnavailable, ServerUnfit
from trackrecord.settings.agent_settings import AgentSettings

# The memory is nearly full when less than this share is left: what is large is refused.
_ROOM: Final = 0.01
_CHECK_URL = "check TRACKRECORD_REDIS_URL"
_CLUSTER = (
    "this Redis is part of a Redis Cluster, which trackrecord does not support: "
    "set TRACKRECORD_REDIS_URL to a single server that does not run in cluster mode"
)


def explain_redis_error(
    error: redis.RedisError | OSError, settings: AgentSettings
) -> ServerUnavailable | None:
    """Return the error to raise instead, or None for an error that is not about the server.

    The message never holds a password.
    """
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    if isinstance(error, redis.exceptions.NoPermissionError):
        return ServerUnfit(f"the Redis user lacks a permission ({reason}); see docs/running.md")
    if isinstance(error, redis.AuthenticationError):
        return ServerUnfit(_password_problem(reason, settings))
    if isinstance(error, redis.exceptions.ClusterError | redis.exceptions.MovedError):
        return ServerUnfit(_CLUSTER)
    if "DB index" in reason or "invalid DB" in reason:
        return ServerUnfit(
            "Redis does not have the database that TRACKRECORD_REDIS_URL names at its end: use a "
            "smaller number (a server has 0 to 15 unless configured otherwise)"
        )
    if isinstance(error, redis.ConnectionError | redis.TimeoutError | OSError):
        # redis-py's messages name the host and port, never the password.
        return ServerUnavailable(f"Redis cannot be reached ({reason}); {_hint(settings)}")
    if "Certificate Requirements" in reason:
        return ServerUnfit(
            "TRACKRECORD_REDIS_URL has an unknown ssl_cert_reqs: use none, optional or required"
        )
    return None


def is_full(memory: Mapping[str, Any]) -> bool:
    """Return whether Redis takes nothing more, by its section of INFO about memory."""
    most = int(memory.get("maxmemory", 0))
    return 0 < most <= int(memory.get("used_memory", 0)) + most * _ROOM


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether Redis refused a command, or a script's, because its memory is full."""
    return isinstance(error, redis.OutOfMemoryError) or (
        isinstance(error, redis.ResponseError) and "OOM command not allowed" in str(error)
    )


def memory_is_full(client: redis.Redis) -> bool:
    """Return whether Redis is full; False for a user who may not see it.

    Raises:
        redis.RedisError: it cannot be reached.
    """
    try:
        memory: Any = client.info("memory")
    except redis.exceptions.NoPermissionError:
        return False
    return is_full(memory)


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
