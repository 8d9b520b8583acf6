"""The socket that the front door listens on."""

import os
import socket
from collections.abc import Callable
from ipaddress import ip_address

from trackrecord.errors import AddressUnusable, SettingsError
from trackrecord.http_settings import HttpSettings

# Connections that arrive while the server is started again wait here.
_BACKLOG = 1024


def _has_none() -> bool:
    return False


def check_access(settings: HttpSettings, has_tokens: Callable[[], bool] = _has_none) -> None:
    """Check that only those can reach the server who may.

    Args:
        settings: the address, and the server's own token.
        has_tokens: returns whether there are tokens in the store; asked if it matters.

    Raises:
        SettingsError: other machines can reach the address, and there is no token.
    """
    if settings.token is None and not is_loopback(settings.host) and not has_tokens():
        message = (
            f"setting http.host: other machines can reach {settings.host}; make a token with "
            "`trackrecord token create`, set TRACKRECORD_HTTP__TOKEN, or listen on 127.0.0.1"
        )
        raise SettingsError(message)


def listen(settings: HttpSettings, has_tokens: Callable[[], bool] = _has_none) -> socket.socket:
    """Return a socket that listens on the configured address.

    Args:
        settings: the address, and the server's own token.
        has_tokens: returns whether there are tokens in the store; asked if it matters.

    Raises:
        SettingsError: as `check_access`.
        AddressUnusable: the address is taken or is not one of this machine's.
    """
    check_access(settings, has_tokens)
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        # "localhost" has two; agents are told 127.0.0.1.
        family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        # `strerror` of an address that is taken repeats the address.
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else error.strerror
        message = (
            f"port {settings.port} of {settings.host} cannot be used for HTTP ({reason}): "
            "set another TRACKRECORD_HTTP__PORT or TRACKRECORD_HTTP__HOST"
        )
        raise AddressUnusable(message) from None


def is_loopback(host: str) -> bool:
    """Return whether a name or an address is reached from this machine alone."""
    name = host.removeprefix("[").removesuffix("]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def url_of(listener: socket.socket) -> str:
    """Return the URL under which a listening socket is reached from this machine."""
    host, port = reached_at(listener)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def reached_at(listener: socket.socket) -> tuple[str, int]:
    """Return the host and the port under which a socket is reached from this machine."""
    host, port = listener.getsockname()[:2]
    return reached(host), port


def reached(host: str) -> str:
    """Return the host under which this machine reaches what listens on one."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not address.is_unspecified:
        return host
    return "::1" if address.version == 6 else "127.0.0.1"
