"""opencode: its database, and the files of older versions."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..source import Log, ReadRun, Unreadable
from .database import read_database
from .files import read_session, session_logs

__all__ = ["OpenCode"]


class OpenCode:
    """The sessions of opencode; see `Source`."""

    name = "opencode"
    tools: Mapping[str, str] = {
        "bash": "shell",
        "edit": "edit",
        "multiedit": "edit",
        "patch": "edit",
        "apply_patch": "edit",
        "write": "write",
        "read": "read",
        "grep": "search",
        "glob": "search",
        "list": "search",
        "task": "delegate",
        "todowrite": "plan",
        "todoread": "plan",
        "webfetch": "fetch",
        "websearch": "web_search",
    }

    def homes(self) -> Sequence[Path]:
        """Return opencode's folder in $XDG_DATA_HOME, else in ~/.local/share."""
        data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        return (Path(data) / "opencode",)

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find databases and sessions in folders, or take files as they are named."""
        found = {log.path: log for place in places for log in _logs_in(place)}
        yield from sorted(found.values(), key=lambda log: log.version)

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a log; see `Source.read`."""
        is_file = log.path.suffix == ".json"
        yield from (read_session if is_file else read_database)(log, resume_at)


def _logs_in(place: Path) -> Iterator[Log]:
    if not place.is_dir():
        yield from _database(place)
        return
    # A channel of releases other than the usual one has a database of its own.
    for path in place.glob("opencode*.db"):
        yield from _database(path)
    yield from session_logs(place / "storage")


def _database(path: Path) -> Iterator[Log]:
    """Yield the database as a log, with the part that is still in its write-ahead log."""
    try:
        facts = [path.stat()]
    except OSError:
        return
    with contextlib.suppress(OSError):
        facts.append(path.with_name(f"{path.name}-wal").stat())
    size = sum(each.st_size for each in facts)
    yield Log(path=path, size=size, version=max(each.st_mtime_ns for each in facts))
