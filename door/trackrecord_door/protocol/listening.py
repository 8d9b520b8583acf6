"""The sockets that the front door listens on: one over TCP, one for the same user alone."""

import fcntl
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from trackrecord.errors import AddressUnusable, SettingsError
from trackrecord.process.folders import make_private_folder, open_private
from trackrecord.settings.daemon_settings import HttpSettings
from trackrecord_capture.agents.door_address import socket_path

LOCK: Final = "http.lock"
# Connections that arrive while the server is started again wait here.
_BACKLOG = 1024
# A path must fit into sockaddr_un: 107 bytes on Linux, 103 on macOS.
_LONGEST_PATH = 103


def _has_none() -> bool:
    return False


def check_access(settings: HttpSettings, has_tokens: Callable[[], bool] = _has_none) -> None:
    """Check that only those can reach the server who may.

    Args:
        settings: the address, and the server's own token.
        has_tokens: returns whether there are tokens in the store; asked if it matters.

    Raises:
        SettingsError: other machines can reach the address, and there is no token, or none is to be
            needed.
    """
    if settings.open_to_local_users and not is_loopback(settings.host):
        message = (
            f"setting http.open_to_local_users: other machines can reach {settings.host}; unset it "
            "or listen on 127.0.0.1"
        )
        raise SettingsError(message)
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


def listen_in_home(home: Path) -> socket.socket:
    """Return a listening socket in a home, to which only its owner can connect.

    Raises:
        AddressUnusable: another server listens there, or no socket can be made there.
        OSError: the home cannot be written.
    """
    path = socket_path(home)
    if len(str(path).encode()) > _LONGEST_PATH:
        message = (
            f"the path of the HTTP server's socket is too long ({path}): "
            f"set TRACKRECORD_HOME to a folder of at most {_LONGEST_PATH - 10} bytes"
        )
        raise AddressUnusable(message)
    make_private_folder(home)
    # A running server holds the lock; whoever starts one takes it for a moment.
    with open_private(home / LOCK) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return _bound(path)
        except OSError as error:
            if isinstance(error, BlockingIOError):
                message = f"another process serves HTTP in {home}; stop it first"
            else:
                message = (
                    f"the socket {path} cannot be made ({error.strerror}): "
                    "set TRACKRECORD_HOME to a folder on a local file system"
                )
            raise AddressUnusable(message) from None


def _bound(path: Path) -> socket.socket:
    """Bind, after removing a dead server's socket.

    Raises:
        BlockingIOError: somebody does.
        OSError: the socket cannot be made.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        with socket.socket(socket.AF_UNIX) as trial, suppress(FileNotFoundError, ConnectionError):
            trial.settimeout(0.0)
            trial.connect(str(path))
            raise BlockingIOError
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        # Before it listens nobody can connect.
        path.chmod(0o600)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def ask_in_home(home: Path) -> socket.socket:
    """Ask the server of a home whether it is well; `has_answered` tells when it answers.

    It need not run yet: who listens for it keeps the question.
    """
    asking = socket.socket(socket.AF_UNIX)
    asking.connect(str(socket_path(home)))
    asking.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    asking.setblocking(False)
    return asking


def has_answered(asking: socket.socket) -> bool:
    """Return whether a server has answered, or has ended with the question."""
    try:
        asking.recv(1)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


def is_loopback(host: str) -> bool:
    """Return whether a name or an address is reached from this machine alone."""
    name = host.removeprefix("[").removesuffix("]").rstrip(".").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def describe(listener: socket.socket, settings: HttpSettings) -> str:
    """Return the lines that tell the user where the server is, and how to open the page."""
    lines = f"HTTP: {url_of(listener)}\nthe page: run `trackrecord open`"
    if settings.open_to_local_users:
        return f"{lines}\nevery user of this machine may read and decide: http.open_to_local_users"
    return lines


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
