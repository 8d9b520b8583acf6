"""Where the front door is, for the hooks: a file in trackrecord's home, there while it is open."""

import http.client
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.folders import make_private_folder

from .replacing import replace_file
from .runtime import runtime_folder

_NAME: Final = "door"
_TIMEOUT_S: Final = 1.0


class DoorAddress(msgspec.Struct, frozen=True):
    """Where the front door listens, as a process on this machine reaches it."""

    host: str
    port: int
    token: str = ""


def write_door(home: Path, address: DoorAddress, most_characters: int = 0) -> None:
    """Say where the front door is, to the owner of the home alone.

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
    """Say that it is closed, unless another one is open by now."""
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


def answers(address: DoorAddress) -> bool:
    """Return whether the front door answers."""
    try:
        return health_status(address, _TIMEOUT_S) == http.client.OK
    except (OSError, http.client.HTTPException):
        return False


def health_status(address: DoorAddress, timeout_s: float) -> int:
    """Ask the front door how it is; return the HTTP status of the answer.

    Raises:
        OSError: it does not answer.
        http.client.HTTPException: it does not answer in HTTP.
    """
    headers = {"Authorization": f"Bearer {address.token}"} if address.token else {}
    connection = http.client.HTTPConnection(address.host, address.port, timeout=timeout_s)
    with closing(connection):
        connection.request("GET", "/health", headers=headers)
        return connection.getresponse().status
