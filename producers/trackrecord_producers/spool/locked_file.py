"""Files that belong to one process at a time, as long as it lives.

The lock is the operating system's (flock): it ends with its process, however that ends.
"""

import fcntl
import os
import stat
import weakref
from pathlib import Path

from trackrecord.process.forking import not_while_forking

from ..delivery.fork_hooks import HookStep, call_in_child

_ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class LockedFile:
    """An open, locked, regular file.

    Attributes:
        path: its path.
        fd: its descriptor; None once it is closed.
    """

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.fd: int | None = fd
        _held.add(self)

    @property
    def descriptor(self) -> int:
        """Its descriptor.

        Raises:
            OSError: it was closed.
        """
        if self.fd is None:
            message = f"{self.path.name} was closed"
            raise OSError(message)
        return self.fd

    @property
    def size(self) -> int:
        """Its size in bytes; 0 once it is closed."""
        return 0 if self.fd is None else os.fstat(self.fd).st_size

    @property
    def is_unlinked(self) -> bool:
        """Return whether the file's name is gone, so that no process can find it."""
        return self.fd is None or os.fstat(self.fd).st_nlink == 0

    def close(self) -> None:
        """Close it, which ends the lock too; closing twice does nothing."""
        fd, self.fd = self.fd, None
        if fd is not None:
            os.close(fd)


_held: weakref.WeakSet[LockedFile] = weakref.WeakSet()


def lock_file(path: Path, flags: int) -> LockedFile | None:
    """Open and lock a file without waiting.

    Symbolic links are not followed, and a pipe or a device is not opened for good.

    Returns:
        The file, or None if another process holds it, it is not a regular file, or it was deleted
        meanwhile.

    Raises:
        OSError: it cannot be opened.
    """
    with not_while_forking():
        fd = os.open(path, flags | _ALWAYS, 0o600)
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode) and _lock(fd) and os.fstat(fd).st_nlink:
                return LockedFile(path, fd)
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return None


def _lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _let_go_in_child() -> None:
    # A lock is shared with forked children: left open there, it would outlive its owner.
    for file in list(_held):
        file.close()


call_in_child(HookStep.LOCKED_FILES, _let_go_in_child)
