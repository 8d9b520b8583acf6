"""The spool: outcomes on disk while Redis is away.

A folder of JSON Lines files, one for each process that writes. A file is locked while its writer
lives; a file that nobody has locked may be forwarded by whoever gets through to Redis. A written
line survives its process, not a power cut: nothing waits for the disk. What a line holds is said in
`stream_and_spool_format`.

Files that belong to one process at a time, as long as it lives.

The lock is the operating system's (flock): it ends with its process, however that ends.
"""

import fcntl
import os
import stat
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from trackrecord.process.folders import make_private_folder
from trackrecord.process.forking import not_while_forking
from trackrecord.settings.agent_settings import AgentSettings

from ..delivery.fork_hooks import HookStep, call_in_child
from ..delivery.ids import new_id

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


SUFFIX = ".jsonl"
# A file is forwarded whole or again from its start, so it must not grow too long.
_ROTATE_BYTES = 16 * 1024 * 1024
_READ_BYTES = 1024 * 1024


@dataclass(frozen=True)
class SpoolSize:
    """The size of the spool.

    Attributes:
        outcomes: its number of whole lines.
        bytes: its size in bytes.
    """

    outcomes: int
    bytes: int


@dataclass(frozen=True)
class Appended:
    """The result of spooling some lines.

    Attributes:
        written: how many of the first ones are in the spool.
        too_many: how many did not fit into it.
        failed: how many the disk refused.
        problem: the disk's error; "" without one.
    """

    written: int
    too_many: int = 0
    failed: int = 0
    problem: str = ""


class SpoolWriter:
    """Append lines to a file of this process's own.

    Args:
        folder: the spool; made when missing.
        max_bytes: the size that the whole spool may reach. Processes that write at the same moment
            do not wait for each other and may pass it by one batch each.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._file: LockedFile | None = None
        self._path: Path | None = None

    def append(self, contents: Sequence[bytes]) -> Appended:
        """Write as many lines as there is room for, in their order; never raises OSError.

        Args:
            contents: the content of each line, without its line break; see `spool_line`.
        """
        lines = [as_line(content) for content in contents]
        try:
            make_spool(self._folder)
            room = self._max_bytes - sum(size for _, size in spool_files(self._folder))
            fitting = sum(end <= room for end in accumulate(map(len, lines)))
            written, problem = self._write(lines[:fitting]) if fitting else (0, "")
        except OSError as error:
            return Appended(0, failed=len(lines), problem=_explain(error))
        return Appended(written, len(lines) - fitting, fitting - written, problem)

    def _write(self, lines: Sequence[bytes]) -> tuple[int, str]:
        file = self._own_file()
        start = file.size
        data = memoryview(b"".join(lines))
        done = 0
        try:
            while done < len(data):
                done += os.write(file.descriptor, data[done:])
        except OSError as error:
            whole = [end for end in accumulate(map(len, lines)) if end <= done]
            self._cut(file, start + (whole[-1] if whole else 0))
            return len(whole), _explain(error)
        if start + done >= _ROTATE_BYTES:
            self.close()
            self._path = None
        return len(lines), ""

    def _cut(self, file: LockedFile, size: int) -> None:
        """Remove a partial line, so that the next one does not stick to it."""
        try:
            os.ftruncate(file.descriptor, size)
        except OSError:
            self.close()
            self._path = None

    def _own_file(self) -> LockedFile:
        if self._file is not None and self._file.is_unlinked:
            self.close()
        if self._file is None:
            self._file = self._reopened() or create_spool_file(self._folder)
            self._path = self._file.path
        return self._file

    def _reopened(self) -> LockedFile | None:
        """Return the earlier file, unless it was forwarded or is being forwarded."""
        if self._path is None:
            return None
        try:
            return lock_file(self._path, os.O_WRONLY | os.O_APPEND)
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Leave the file to the process that forwards it."""
        if self._file is not None:
            self._file.close()
            self._file = None


def make_spool(folder: Path) -> None:
    """Make the folder of a spool, unless it exists."""
    make_private_folder(folder.parent)
    make_private_folder(folder)


def create_spool_file(folder: Path) -> LockedFile:
    """Create a file of this process's own in a spool, locked.

    Raises:
        OSError: it cannot be created.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
    while True:
        # Between its creation and its lock another process may find it empty and delete it.
        file = lock_file(folder / f"{new_id()}-{os.getpid()}{SUFFIX}", flags)
        if file is not None:
            return file


def spool_files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files of a spool with their sizes, in no order; none without a folder."""
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                try:
                    yield Path(entry.path), entry.stat(follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue


def spool_size(settings: AgentSettings) -> SpoolSize:
    """Return how much waits on disk; reads the spool once, and locks nothing."""
    outcomes = size = 0
    for path, file_size in spool_files(settings.spool_dir):
        size += file_size
        outcomes += _count_lines(path)
    return SpoolSize(outcomes, size)


def _count_lines(path: Path) -> int:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return 0
    with os.fdopen(fd, "rb", buffering=0) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_READ_BYTES), b""))


def as_line(content: bytes) -> bytes:
    """Return a line's content with exactly one line break, at its end."""
    # In JSON a raw line break can only stand where a blank may.
    return content.replace(b"\n", b" ") + b"\n"


def _explain(error: OSError) -> str:
    return error.strerror or type(error).__name__
