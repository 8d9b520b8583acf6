"""The runs of a project's benchmark, in a file of its own: appended under a lock, replaced whole.

A file that cannot be read is set aside under another name and never overwritten.
"""

import errno
import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from trackrecord.errors import AlreadyRunning
from trackrecord.learning.outcomes.rates import Snapshot
from trackrecord.process.folders import folder_name, make_private_folder

_FOLDER = "benchmarks"
_VERSION = 1
_PATIENCE_S = 10.0
_PAUSE_S = 0.05
# Anything else, such as too many open files, says nothing about the file.
_UNREADABLE = (errno.EACCES, errno.EPERM, errno.EISDIR, errno.ELOOP, errno.EIO, errno.ENXIO)


class _Document(msgspec.Struct, frozen=True):
    version: int
    project: str
    snapshots: list[Snapshot]


_decoder = msgspec.json.Decoder(_Document)


class BenchmarkHistory:
    """The history of one project.

    Args:
        home: TRACKRECORD_HOME.
        project: the project's name, with any characters.
        warn: called with one line about a file that was set aside.
    """

    def __init__(self, home: Path, project: str, *, warn: Callable[[str], None]) -> None:
        self._folder = home / _FOLDER
        self._project = project
        self._path = self._folder / f"{folder_name(project)}.json"
        self._warn = warn

    def snapshots(self) -> list[Snapshot]:
        """Return the runs that are kept, the oldest first.

        Raises:
            AlreadyRunning: another process has been at the history for too long.
            OSError: the folder cannot be used.
        """
        if not self._folder.is_dir():
            return []
        with self._locked():
            return self._read()

    def append(self, snapshot: Snapshot, *, keep: int) -> None:
        """Add a run; of more than `keep` the oldest are dropped.

        Raises:
            AlreadyRunning: as above.
            OSError: the history cannot be written; it is as it was.
        """
        make_private_folder(self._folder.parent)
        make_private_folder(self._folder)
        with self._locked():
            self._write([*self._read(), snapshot][-keep:])

    def rewrite(self, compute: Callable[[Snapshot], Snapshot]) -> None:
        """Put another run in the place of each.

        Raises:
            AlreadyRunning: as above.
            OSError: the history cannot be written; it is as it was.
        """
        if self._path.exists():
            with self._locked():
                self._write([compute(run) for run in self._read()])

    def erase(self) -> None:
        """Delete the history, and the damaged files set aside.

        Raises:
            AlreadyRunning: as above.
            OSError: a file cannot be deleted.
        """
        if not self._folder.is_dir():
            return
        with self._locked():
            # What was set aside and what a writer left behind when it died are named alike.
            for pattern in (f"{self._path.stem}.*", f".{self._path.name}.*"):
                for path in self._folder.glob(pattern):
                    path.unlink(missing_ok=True)

    def _write(self, snapshots: list[Snapshot]) -> None:
        document = _Document(_VERSION, self._project, snapshots)
        self._replace(msgspec.json.format(msgspec.json.encode(document), indent=1))

    def _read(self) -> list[Snapshot]:
        try:
            document = _decoder.decode(_bytes_of(self._path))
            if document.version != _VERSION or document.project != self._project:
                message = f"it is of version {document.version}, or another project's"
                raise ValueError(message)
        except FileNotFoundError:
            return []
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            self._set_aside(str(error))
        except OSError as error:
            if error.errno not in _UNREADABLE:
                raise
            self._set_aside(error.strerror or str(error))
        else:
            return document.snapshots
        return []

    def _set_aside(self, reason: str) -> None:
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        aside = self._path.with_name(
            f"{self._path.stem}.unreadable-{now}-{secrets.token_hex(4)}.json"
        )
        self._path.rename(aside)
        self._warn(f"the history {self._path} cannot be read ({reason}); set aside as {aside.name}")

    def _replace(self, text: bytes) -> None:
        new = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(fd)
            new.replace(self._path)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the history's lock; it ends with its process, however that ends."""
        fd = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            self._wait_for(fd)
            yield
        finally:
            os.close(fd)

    def _wait_for(self, fd: int) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    message = "another process is using the benchmark's history: try again later"
                    raise AlreadyRunning(message) from None
                time.sleep(_PAUSE_S)
            else:
                return


def _bytes_of(path: Path) -> bytes:
    # Without O_NONBLOCK a pipe in its place would be waited for.
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        return file.read()
