"""Find the files in which agents keep sessions."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from .source import Log


def logs_in(places: Iterable[Path], pattern: str) -> Iterator[tuple[float, Log]]:
    """Yield the logs in folders, and files as they are named, each with its last change.

    Args:
        places: folders, which are searched with all below them, and files.
        pattern: what the paths of logs in folders end in, as a glob.
    """
    seen = set()
    for place in places:
        for path in place.rglob(pattern) if place.is_dir() else (place,):
            try:
                facts = path.stat()
            except OSError:
                continue
            # A pipe would never end.
            if stat.S_ISREG(facts.st_mode) and path not in seen:
                seen.add(path)
                stamp = f"{facts.st_dev}:{facts.st_ino}:{facts.st_size}:{facts.st_mtime_ns}"
                log = Log(path=path, size=facts.st_size, version=facts.st_size, stamp=stamp)
                yield facts.st_mtime, log


def by_last_change(found: Iterable[tuple[float, Log]]) -> Iterator[Log]:
    """Yield logs, those that were not changed for the longest time first."""
    for _, log in sorted(found, key=lambda each: (each[0], str(each[1].path))):
        yield log


def rewritten(log: Log) -> Log:
    """Return a log that is rewritten as a whole: its version is the time of its last change."""
    return msgspec.structs.replace(log, version=log.path.stat().st_mtime_ns)


def data_folder(name: str) -> Path:
    """Return the folder of a program's data in $XDG_DATA_HOME, else in ~/.local/share."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name


def home_of(variable: str, folder: str) -> Path:
    """Return the folder that a variable names, else the one of this name in the home folder."""
    own = os.environ.get(variable) if variable else None
    return Path(own).expanduser() if own else Path.home() / folder
