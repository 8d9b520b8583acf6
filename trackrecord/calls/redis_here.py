"""Redis of this process: opened for one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import redis

    from trackrecord.agent_settings import AgentSettings


@contextmanager
def redis_here(settings: AgentSettings) -> Iterator[redis.Redis]:
    """Open Redis for a call.

    Raises:
        ServerUnavailable: it cannot be reached, or goes away meanwhile.
    """
    from trackrecord.redis_client import agent_client

    with agent_client(settings) as client, redis_explained(settings):
        yield client


@contextmanager
def redis_explained(settings: AgentSettings) -> Iterator[None]:
    """Raise an error of ours in place of one of Redis in the block.

    Raises:
        ServerUnavailable: Redis cannot be reached, or goes away meanwhile.
    """
    import redis

    from trackrecord.redis_problems import explain_redis_error

    try:
        yield
    except redis.RedisError as error:
        explained = explain_redis_error(error, settings)
        if explained is None:
            raise
        raise explained from None
