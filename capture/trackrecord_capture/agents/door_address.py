"""The address of the front door for programs of the same user: a socket and a file in the home.

Nobody else can listen on the socket. On the port anybody can, after the front door was killed.
"""

import http.client
import socket
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.process.folders import make_private_folder

from .replacing import replace_file
from .runtime import runtime_folder

_NAME: Final = "door"
# The hook knows it by this name, too.
_SOCKET: Final = "http.sock"
_TIMEOUT_S: Final = 1.0
_MOST_ANSWER: Final = 64 * 1024


class DoorAddress(msgspec.Struct, frozen=True):
    """The TCP address at which a process on this machine reaches the front door.

    Attributes:
        host: name or address.
        port: of TCP; 0 if it was taken, and the socket in the home alone is served.
        token: what programs report with; "" if they need none.
    """

    host: str
    port: int
    token: str = ""

    @property
    def url(self) -> str:
        """The base URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def socket_path(home: Path) -> Path:
    """Return the socket to which only the owner of a home can connect."""
    return home / _SOCKET


def write_door(home: Path, address: DoorAddress, most_characters: int = 0) -> None:
    """Write the front door's address, readable for the owner of the home alone.

    Args:
        home: trackrecord's home.
        address: where it is.
        most_characters: hooks that may replace a tool's output hand it in if it has more characters
            than this; 0 for never.

    Raises:
        OSError: it cannot be written.
    """
    make_private_folder(home)
    make_private_folder(runtime_folder(home))
    text = f"{address.host}\n{address.port}\n{address.token}\n{most_characters}\n"
    replace_file(runtime_folder(home) / _NAME, text.encode())


def remove_door(home: Path, address: DoorAddress) -> None:
    """Note that the front door is closed, unless another one is open by now."""
    if read_door(home) == address:
        (runtime_folder(home) / _NAME).unlink(missing_ok=True)


def read_door(home: Path) -> DoorAddress | None:
    """Return where the front door was opened last; None if it was closed."""
    try:
        text = (runtime_folder(home) / _NAME).read_text(encoding="utf-8")
        host, port, token = (*text.split("\n"), "", "")[:3]
        return DoorAddress(host, int(port), token)
    except (OSError, ValueError):
        return None


def find_door(home: Path) -> DoorAddress | None:
    """Return the front door's address of a home; None if it does not answer on its socket."""
    try:
        status, _ = ask_door(home, "GET", "/health")
    except (OSError, http.client.HTTPException):
        return None
    return read_door(home) if status == http.client.OK else None


def ask_door(home: Path, method: str, path: str) -> tuple[int, bytes]:
    """Ask the front door over its socket; return the HTTP status and the body of the answer.

    Raises:
        OSError: it does not answer.
        http.client.HTTPException: it does not answer in HTTP.
    """
    with closing(_OverSocket(socket_path(home))) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read(_MOST_ANSWER)


class _OverSocket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def health_status(address: DoorAddress, timeout_s: float) -> int:
    """Ask for the front door's health over TCP; return the HTTP status of the answer.

    Raises:
        OSError: it does not answer.
        http.client.HTTPException: it does not answer in HTTP.
    """
    headers = {"Authorization": f"Bearer {address.token}"} if address.token else {}
    connection = http.client.HTTPConnection(address.host, address.port, timeout=timeout_s)
    with closing(connection):
        connection.request("GET", "/health", headers=headers)
        return connection.getresponse().status
