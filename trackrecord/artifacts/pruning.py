"""Delete the artifacts whose retention time is over."""

import fcntl
import os
from contextlib import suppress
from typing import Final

from .folder import names_in, open_file
from .notes import prune_notes

# Its modification time is that of the last search through the folder.
_MARK: Final = ".pruned"
_EVERY_S = 3600.0
# Writing takes seconds: if a temporary file is this old, its writer has died. Notes on handed-out
# # contents are useless by then.
ABANDONED_S: Final = 3600.0


def prune_when_due(folder: int, retention_s: float, now: float) -> None:
    """Prune a folder, at most once an hour or ten times in a retention time.

    Never raises OSError: what was stored stays stored.
    """
    with suppress(OSError):
        if now - _last(folder) >= min(_EVERY_S, retention_s / 10):
            prune_folder(folder, retention_s, now)


def _last(folder: int) -> float:
    try:
        return os.stat(_MARK, dir_fd=folder, follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return 0.0


def prune_folder(folder: int, retention_s: float, now: float) -> int:
    """Delete expired artifacts and the leftovers of dead writers; return the number of artifacts.

    A folder to which a process is writing is left to the next time.

    Raises:
        OSError: the folder cannot be written to.
    """
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    try:
        os.close(open_file(_MARK, folder, os.O_WRONLY | os.O_CREAT))
        os.utime(_MARK, (now, now), dir_fd=folder, follow_symlinks=False)
        names = names_in(folder)
        gone = {name for name in names if _prune(folder, name, retention_s, now)}
        stored = set(names) - gone
        prune_notes(folder, lambda at: now - at >= retention_s, stored.__contains__)
        return len(gone)
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def _prune(folder: int, name: str, retention_s: float, now: float) -> bool:
    """Delete an expired file; return whether it was an artifact."""
    if name == _MARK:
        return False
    age = now - os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
    abandoned = name.startswith(".")
    if age < (ABANDONED_S if abandoned else retention_s):
        return False
    with suppress(IsADirectoryError, PermissionError):
        os.unlink(name, dir_fd=folder)
        return not abandoned
    return False
