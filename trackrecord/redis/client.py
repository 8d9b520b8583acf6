"""Clients of Redis: one for agents, who must never wait for it, and one for workers, who may.

What redis-py imports only when it first connects is imported before, while no fork can interrupt: a
module that is half imported when the process forks stays so in the child.
"""

import secrets  # noqa: F401 - for the names of connection pools
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

from trackrecord.process.forking import not_while_forking
from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.settings.server_urls import without_credentials

_WORKER_CONNECT_TIMEOUT_S = 5.0
# Far above any blocking read of ours; below it, a server that hangs would hang the worker.
_WORKER_TIMEOUT_S = 30.0
_WORKER_RETRIES = 3

_UNIX: Final = "unix:"

DEFAULT_USER: Final = "default"
ADMIN_USER: Final = "admin"
_PASSWORD_FILES: Final = {DEFAULT_USER: "password", ADMIN_USER: "admin-password"}


def _identity() -> dict[str, Any]:
    """Return the arguments by which redis-py reports its version to the server.

    Left to itself it reads the metadata of its own package, for which much is imported.
    """
    if hasattr(redis, "DriverInfo"):
        return {"driver_info": redis.DriverInfo(lib_version=redis.__version__)}
    return {"lib_version": redis.__version__}


_IDENTITY: Final = _identity()


def password_file(folder: Path, user: str) -> Path:
    """Return the file with the password of a user of the embedded server in this folder."""
    return folder / _PASSWORD_FILES[user]


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
    return redis.Redis.from_url(
        _reachable(settings.effective_redis_url),
        **_IDENTITY,
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
    return redis.Redis.from_url(
        _reachable(settings.effective_redis_url),
        **_IDENTITY,
        **_credentials(settings, user),
        socket_connect_timeout=_WORKER_CONNECT_TIMEOUT_S,
        socket_timeout=_WORKER_TIMEOUT_S,
        # redis-py converts RESP 3 replies into the shapes of RESP 2, entry by entry.
        protocol=2,
        retry=Retry(ExponentialBackoff(cap=1.0, base=0.05), _WORKER_RETRIES),
    )


def client_without_credentials(settings: AgentSettings) -> redis.Redis:
    """Return a client as a stranger has it, to find out whether Redis lets one in."""
    return redis.Redis.from_url(
        _reachable(without_credentials(settings.effective_redis_url)),
        **_IDENTITY,
        socket_connect_timeout=settings.redis_connect_timeout_s,
        socket_timeout=settings.redis_timeout_s,
        retry=Retry(NoBackoff(), 0),
    )


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
