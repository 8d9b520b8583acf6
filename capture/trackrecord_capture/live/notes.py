"""The notes that hooks leave in trackrecord's home: that something ended, and where to read it."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.process.folders import make_private_folder

_FOLDER: Final = "hooks"
_MOST: Final = 2000
_LARGEST: Final = 64 * 1024
# A note that its hook did not live to name.
_ABANDONED_S: Final = 60.0


class TooManyNotes(Exception):
    """Raised when there is no room for another note until some were read."""


class EndNote(msgspec.Struct, frozen=True):
    """A note that a session or a run ended.

    Attributes:
        agent: the agent's name.
        event: what its hook was called for.
        session: the session's id; "" if the hook did not say.
        transcript: the file that the session is recorded in; "" if the hook did not say.
        folder: the folder that the agent works in.
        home: where the agent's own folder is, if it is not in its usual place.
        at: when, seconds since the epoch.
    """

    agent: str
    event: str = ""
    session: str = ""
    transcript: str = ""
    folder: str = ""
    home: str = ""
    at: float = 0.0


def notes_folder(home: Path) -> Path:
    """Return the folder of the notes."""
    return home / _FOLDER


def waiting_notes(home: Path) -> Iterator[tuple[Path, EndNote | None]]:
    """Yield the notes, the oldest first; None for a file that is not a note."""
    folder = notes_folder(home)
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return
    for name in names:
        path = folder / name
        if name.startswith("."):
            _remove_abandoned(path)
        elif name.endswith(".json"):
            yield path, _read(path)


def write_note(home: Path, note: EndNote) -> bool:
    """Leave a note, as the hook does; return whether there was room for it.

    Raises:
        OSError: it cannot be written.
    """
    folder = notes_folder(home)
    make_private_folder(home)
    make_private_folder(folder)
    if len(list(folder.iterdir())) >= _MOST:
        return False
    name = f"{time.time_ns():020d}-{os.getpid()}"
    waiting = folder / f".{name}"
    with open(os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123 - a descriptor
        json.dump(msgspec.to_builtins(note), file)
    waiting.rename(folder / f"{name}.json")
    return True


def _read(path: Path) -> EndNote | None:
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return msgspec.json.decode(path.read_bytes(), type=EndNote)
    except (OSError, msgspec.DecodeError):
        return None


def _remove_abandoned(path: Path) -> None:
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _ABANDONED_S:
            path.unlink()
