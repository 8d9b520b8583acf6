"""Find the files in which agents keep sessions."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from .source import Log, Source


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


@dataclass(frozen=True, kw_only=True)
class LogFiles(Source):
    """The files of an agent that keeps one for each session.

    Attributes:
        below: the end of their paths in one of these folders, if it is another one.
        is_session: tells whether a file that ends so is one.
        begins_with_time: whether the names of the files order them, and not their last change.
    """

    below: str = ""
    is_session: Callable[[Path], bool] = lambda _path: True
    begins_with_time: bool = False

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the sessions in folders, or take files as they are named; the oldest first."""
        found = logs_in(places, self.below or self.pattern)
        of_sessions = (each for each in found if self.is_session(each[1].path))
        for _, log in sorted(of_sessions, key=self._age):
            # A document is rewritten as a whole.
            is_document = log.path.suffix == ".json"
            version = log.path.stat().st_mtime_ns if is_document else log.version
            yield msgspec.structs.replace(log, version=version)

    def _age(self, found: tuple[float, Log]) -> tuple[float, str]:
        changed, log = found
        return (0.0, log.path.name) if self.begins_with_time else (changed, str(log.path))


def data_folder(name: str) -> Path:
    """Return the folder of a program's data in $XDG_DATA_HOME, else in ~/.local/share."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name


def home_of(variable: str, folder: str) -> Path:
    """Return the folder that a variable names, else the one of this name in the home folder."""
    own = os.environ.get(variable) if variable else None
    return Path(own).expanduser() if own else Path.home() / folder
