"""Clients of Redis: one for agents, who must never wait for it, and one for workers, who may.

What redis-py imports only when it first connects is imported before, while no fork can interrupt: a
module that is half imported when the process forks stays so in the child.
"""

import secrets  # noqa: F401 - for the names of connection pools
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.connection import SSLConnection, parse_url
from redis.retry import Retry
from redis.sentinel import Sentinel

from trackrecord.process.forking import not_while_forking
from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.settings.server_urls import ServerGroup, server_group, without_credentials

from .passwords import DEFAULT_USER, password_file

_WORKER_CONNECT_TIMEOUT_S = 5.0
# Far above any blocking read of ours; below it, a server that hangs would hang the worker.
_WORKER_TIMEOUT_S = 30.0
_WORKER_RETRIES = 3

_UNIX: Final = "unix:"


def _identity() -> dict[str, Any]:
    """Return the arguments by which redis-py reports its version to the server.

    Left to itself it reads the metadata of its own package, for which much is imported.
    """
    if hasattr(redis, "DriverInfo"):
        return {"driver_info": redis.DriverInfo(lib_version=redis.__version__)}
    return {"lib_version": redis.__version__}


_IDENTITY: Final = _identity()


class EmbeddedCredentials(redis.CredentialProvider):
    """The user and the password for the embedded server, read again for each connection.

    `trackrecord up` may make the password when agents run already.

    Args:
        folder: the embedded server's folder.
        user: the name of the user.
    """

    def __init__(self, folder: Path, user: str = DEFAULT_USER) -> None:
        self._user = user
        self._file = password_file(folder, user)

    def get_credentials(self) -> tuple[str, str] | tuple[()]:  # type: ignore[override] # redis-py takes none as well
        """Return both, or neither if there is no password yet."""
        with suppress(OSError, UnicodeDecodeError):
            if password := self._file.read_text(encoding="utf-8").strip():
                return self._user, password
        return ()


def agent_client(settings: AgentSettings) -> redis.Redis:
    """Return a client that gives up soon, for agents, which an unreachable server must not delay.

    It tries once: redis-py's own default would try four times with seconds in between.
    Connections are made on first use, so that this never fails for a server that is away.
    """
    return _client(
        settings.effective_redis_url,
        **_credentials(settings, DEFAULT_USER),
        socket_connect_timeout=settings.redis_connect_timeout_s,
        socket_timeout=settings.redis_timeout_s,
        retry=Retry(NoBackoff(), 0),
    )


def worker_client(settings: AgentSettings, *, user: str = DEFAULT_USER) -> redis.Redis:
    """Return a client that survives a short interruption, for workers, which have time.

    A command whose connection breaks is sent again, so it may take effect twice; the workers'
    writes are idempotent.

    Args:
        settings: where the server is.
        user: the user of an embedded server; for another server the setting names it.
    """
    return _client(
        settings.effective_redis_url,
        **_credentials(settings, user),
        socket_connect_timeout=_WORKER_CONNECT_TIMEOUT_S,
        socket_timeout=_WORKER_TIMEOUT_S,
        # redis-py converts RESP 3 replies into the shapes of RESP 2, entry by entry.
        protocol=2,
        retry=Retry(ExponentialBackoff(cap=1.0, base=0.05), _WORKER_RETRIES),
    )


def client_without_credentials(settings: AgentSettings) -> redis.Redis:
    """Return a client as a stranger has it, to find out whether Redis lets one in."""
    return _client(
        without_credentials(settings.effective_redis_url),
        socket_connect_timeout=settings.redis_connect_timeout_s,
        socket_timeout=settings.redis_timeout_s,
        retry=Retry(NoBackoff(), 0),
    )


def _client(url: str, **options: Any) -> redis.Redis:  # noqa: ANN401 - redis-py's own
    """Return a client of the server, the cluster, or the Sentinels' master that a URL names."""
    group = server_group(url)
    if group is None:
        return redis.Redis.from_url(_reachable(url), **_IDENTITY, **options)
    _reachable(url)
    with not_while_forking():
        if group.service:
            return _master(group, options)
        from .cluster import LazyCluster

    # Both have the commands that we use; redis-py gives them no common type.
    cluster = LazyCluster(group.addresses, group.url, **_IDENTITY, **{"protocol": 2} | options)
    return cast("redis.Redis", cluster)


def _master(group: ServerGroup, options: dict[str, Any]) -> redis.Redis:
    """Return a client that asks Sentinels where the master is whenever it connects."""
    from_url: Any = parse_url(group.url)  # type: ignore[no-untyped-call] # redis-py has no type for it
    both = {
        name: value
        for name, value in {**options, **from_url}.items()
        if name.startswith(("socket_", "ssl_"))
    }
    is_encrypted = from_url.pop("connection_class", None) is SSLConnection
    sentinels: Any = Sentinel(  # type: ignore[no-untyped-call] # as above
        group.addresses,
        sentinel_kwargs={
            **both,
            **group.sentinels_user,
            "ssl": is_encrypted,
            "retry": options["retry"],
        },
    )
    place = ("host", "port")
    own = {name: value for name, value in from_url.items() if name not in place}
    master: redis.Redis = sentinels.master_for(
        group.service, ssl=is_encrypted, **{**_IDENTITY, **options, **own}
    )
    return master


def _credentials(settings: AgentSettings, user: str) -> dict[str, Any]:
    if settings.redis_url is not None:
        return {}
    return {"credential_provider": EmbeddedCredentials(settings.embedded_redis_folder, user)}


def _reachable(url: str) -> str:
    """Return the URL of a server, after importing the module that looks up its host's name."""
    if not url.startswith(_UNIX):
        with not_while_forking():
            import encodings.idna  # noqa: F401 - for host names
    return url
