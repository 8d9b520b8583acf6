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
    import redis

    from trackrecord.redis_client import agent_client
    from trackrecord.redis_problems import explain_redis_error

    with agent_client(settings) as client:
        try:
            yield client
        except redis.RedisError as error:
            explained = explain_redis_error(error, settings)
            if explained is None:
                raise
            raise explained from None
