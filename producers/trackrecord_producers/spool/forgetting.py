"""Forgetting in the spool: files without the lines that are to be forgotten.

A file that a running process writes to is left alone: its lines are recognised when they arrive.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..delivery.stream_and_spool_format import read_spool_line
from .files import LockedFile, as_line, create_spool_file, lock_file, spool_files

_READ_ONLY: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK

# Whether a report goes, by its kind and its body.
Goes = Callable[[str, bytes], bool]


@dataclass
class InSpool:
    """The counts of a subject's bodies in the spool.

    Attributes:
        lines: how many lines.
        held: how many of them are in files that running processes write to.
        reports: the kind and the body of each.
    """

    lines: int = 0
    held: int = 0
    reports: list[tuple[str, bytes]] = field(default_factory=list)


def find_in_spool(folder: Path, goes: Goes) -> InSpool:
    """Return the counts; changes nothing."""
    found = InSpool()
    for path, _ in sorted(spool_files(folder)):
        reports = [each for each in _reports(path) if goes(*each)]
        found.lines += len(reports)
        found.reports += reports
        if reports and _is_held(path):
            found.held += len(reports)
    return found


def forget_in_spool(folder: Path, goes: Goes) -> None:
    """Rewrite each file without what is forgotten; an interrupted file is done again.

    Raises:
        OSError: a file cannot be written or deleted.
    """
    for path, _ in sorted(spool_files(folder)):
        if not any(goes(*each) for each in _reports(path)):
            continue
        file = lock_file(path, os.O_RDWR)
        if file is not None:
            with closing(file):
                _write_anew(folder, file, goes)


def _write_anew(folder: Path, file: LockedFile, goes: Goes) -> None:
    kept = [line for line in _lines(file.path) if not goes(*read_spool_line(line))]
    if kept:
        with closing(create_spool_file(folder)) as new:
            data = memoryview(b"".join(map(as_line, kept)))
            while data and new.fd is not None:
                data = data[os.write(new.fd, data) :]
            if new.fd is not None:
                os.fsync(new.fd)
    # Whoever dies before this leaves each line twice, which counts once.
    file.path.unlink(missing_ok=True)


def _is_held(path: Path) -> bool:
    with suppress(OSError):
        file = lock_file(path, os.O_RDWR)
        if file is not None:
            file.close()
            return False
    return True


def _reports(path: Path) -> Iterator[tuple[str, bytes]]:
    return (read_spool_line(line) for line in _lines(path))


def _lines(path: Path) -> list[bytes]:
    try:
        fd = os.open(path, _READ_ONLY)
    except FileNotFoundError:  # forwarded meanwhile
        return []
    with os.fdopen(fd, "rb") as file:
        return [line for line in file.read().split(b"\n") if line]
