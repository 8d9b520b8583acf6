"""Open a project's artifact folder and its files without following symbolic links.

Everything below TRACKRECORD_HOME is opened by way of the descriptor of the folder around it, and a
symbolic link is never followed.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINK = os.O_NOFOLLOW
# What the name of a file begins with that is being written.
TEMPORARY: Final = ".new-"


@contextmanager
def opened_folder(home: Path, *names: str, make: bool) -> Iterator[int]:
    """Open the folder `home/names…` and yield its descriptor while the block runs.

    Args:
        home: the home; it may lie behind symbolic links, since the user chooses it.
        names: the folders below it, which must not be symbolic links.
        make: make missing folders, for this user alone.

    Raises:
        OSError: it cannot be opened; FileNotFoundError when it is missing and not to be made.
    """
    if make:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(home, _FOLDER)
    try:
        for name in names:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=fd)
            inner = _inner(fd, name)
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


@contextmanager
def inner_folder(folder: int, name: str) -> Iterator[int]:
    """Open a folder in a folder and yield its descriptor while the block runs.

    Raises:
        OSError: it cannot be opened; FileNotFoundError when it is missing, NotADirectoryError when
            something else is in its place.
    """
    fd = _inner(folder, name)
    try:
        yield fd
    finally:
        os.close(fd)


def _inner(folder: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)
    except NotADirectoryError:
        raise NotADirectoryError(
            errno.ENOTDIR, "a symbolic link or a file is in the place of a folder", name
        ) from None


def names_in(folder: int) -> list[str]:
    """Return the names of a folder's entries, in no order."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def open_file(name: str, folder: int, flags: int = os.O_RDONLY) -> int:
    """Return the descriptor of a regular file in a folder.

    Raises:
        OSError: it cannot be opened, is a symbolic link, or is not a regular file.
    """
    # Without O_NONBLOCK a pipe would be waited for.
    fd = os.open(name, flags | _NO_LINK | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(0, "not a regular file", name)
    return fd


def write_file(folder: int, name: str, data: bytes, now: float) -> None:
    """Write a file into a folder, whole or not at all, in place of one of this name.

    Args:
        folder: the folder.
        name: the file's, which it gets when the disk has all of it.
        data: its content.
        now: its time of modification.

    Raises:
        OSError: the disk is full, or fails.
    """
    waiting = TEMPORARY + secrets.token_hex(8)
    fd = open_file(waiting, folder, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(fd, left) :]
            os.fsync(fd)
            os.utime(fd, (now, now))
        finally:
            os.close(fd)
        os.replace(waiting, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(waiting, dir_fd=folder)
        raise
