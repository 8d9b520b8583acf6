"""Marks of what each session was given, so that nothing is repeated."""

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec

from trackrecord.process.folders import make_private_folder

from ..agents.runtime import TOLD, runtime_folder

Kind = Literal["session", "prompt", "stop"]

_USABLE: Final = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
_KEPT_S: Final = 30 * 86_400.0
_MOST: Final = 5000


class SessionMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """The texts that a session was given.

    Attributes:
        text: the text.
        entries: the ids of the entries in it.
    """

    text: str = ""
    entries: tuple[str, ...] = ()


class SessionMarks:
    """The marks of sessions in trackrecord's home; the hook looks at them, too.

    Args:
        home: trackrecord's home.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = runtime_folder(home) / TOLD

    def begin(self, agent: str, session: str, kind: Kind) -> bool:
        """Mark that a session is being answered; return whether it is the first time.

        Raises:
            OSError: it cannot be marked.
        """
        if not _USABLE.match(session):
            return False
        make_private_folder(self._home)
        make_private_folder(self._folder.parent)
        make_private_folder(self._folder)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(os.open(self._path(agent, session, kind), flags, 0o600))
        except FileExistsError:
            return False
        return True

    def keep(self, agent: str, session: str, kind: Kind, told: SessionMark) -> None:
        """Store the texts that a session was given.

        Raises:
            OSError: it cannot be kept.
        """
        self._path(agent, session, kind).write_bytes(msgspec.json.encode(told))

    def of(self, agent: str, session: str, kind: Kind) -> SessionMark:
        """Return the texts that a session was given."""
        try:
            data = self._path(agent, session, kind).read_bytes()
            return msgspec.json.decode(data, type=SessionMark)
        except (OSError, msgspec.DecodeError):
            return SessionMark()

    def forget_old(self) -> None:
        """Remove the marks of sessions that are long over."""
        with suppress(OSError):
            marks = sorted((each.stat().st_mtime, each.name) for each in os.scandir(self._folder))
            for place, (at, name) in enumerate(marks):
                if time.time() - at > _KEPT_S or place < len(marks) - _MOST:
                    (self._folder / name).unlink(missing_ok=True)

    def _path(self, agent: str, session: str, kind: Kind) -> Path:
        return self._folder / f"{agent}.{session}.{kind}"
