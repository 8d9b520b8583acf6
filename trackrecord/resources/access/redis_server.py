"""Redis for the calls that need it alone: kept open by a server, or opened for one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import redis

    from trackrecord.settings.agent_settings import AgentSettings


class RedisServer(Protocol):
    """Redis, as a server keeps it open."""

    @property
    def settings(self) -> AgentSettings:
        """Those of this process."""

    @property
    def client(self) -> redis.Redis:
        """A client that gives up soon."""


# What a server has open, for the calls that it makes to answer one question.
_servers_redis: Final = ContextVar[RedisServer | None]("trackrecord_servers_redis", default=None)


@contextmanager
def calls_use_redis(server: RedisServer) -> Iterator[None]:
    """Let the calls that this thread makes in the block use a client that a server keeps open."""
    token = _servers_redis.set(server)
    try:
        yield
    finally:
        _servers_redis.reset(token)


def process_settings() -> AgentSettings:
    """Return the settings of this process, or those of the server that answers in it.

    Raises:
        SettingsError: a setting is wrong.
    """
    if (server := _servers_redis.get()) is not None:
        return server.settings
    from trackrecord.settings.agent_settings import load_agent_settings

    return load_agent_settings()


@contextmanager
def open_redis() -> Iterator[tuple[redis.Redis, AgentSettings]]:
    """Open Redis for a call, or use what a server keeps open; yields this process's settings, too.

    Raises:
        SettingsError: a setting is wrong.
        ServerUnavailable: it cannot be reached, or goes away meanwhile.
    """
    settings = process_settings()
    if (server := _servers_redis.get()) is not None:
        yield server.client, settings
        return
    from trackrecord.redis.client import agent_client

    with agent_client(settings) as client, redis_explained(settings):
        client.ping()
        yield client, settings


@contextmanager
def redis_explained(settings: AgentSettings) -> Iterator[None]:
    """Raise an error of ours in place of one of Redis in the block.

    Raises:
        ServerUnavailable: Redis cannot be reached, or goes away meanwhile.
    """
    import redis

    from trackrecord.redis.problems import explain_redis_error

    try:
        yield
    except redis.RedisError as error:
        explained = explain_redis_error(error, settings)
        if explained is None:
            raise
        raise explained from None
