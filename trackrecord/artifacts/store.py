"""Artifacts on disk: a folder for each project, a file for each content, named by its SHA-256.

Files are complete: a file gets its name only after the disk has all of it. Content that is read is
checked against its name.
"""

import errno
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final
from zlib import crc32

from trackrecord.errors import ArtifactDamaged, InvalidArtifactId, UnknownId
from trackrecord.learning.text.spelling import closest_id
from trackrecord.process.folders import folder_name

from .contents import pieces
from .folder import names_in, open_file, opened_folder, write_file
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


FOLDER: Final = "artifacts"
RETRIEVED: Final = ".retrieved-"
_MARGIN: Final = 64
_MOST_COMPARED: Final = 1000
_ID: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class ArtifactEntry:
    """An artifact as the folder shows it.

    Attributes:
        id: the SHA-256 digest of its content.
        size: its size in bytes.
        stored_at: when it was stored last, seconds since the epoch.
    """

    id: str
    size: int
    stored_at: float


class ArtifactStore:
    """The artifacts of one project.

    Args:
        home: TRACKRECORD_HOME.
        project: the project's name, with any characters.
        retention_s: after how many seconds an artifact may be forgotten.
        clock: returns seconds since the epoch.
    """

    def __init__(
        self,
        home: Path,
        project: str,
        *,
        retention_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._home = home
        self._folder = folder_name(project)
        self._project = project
        self._retention_s = retention_s
        self._clock = clock

    def put(self, data: bytes) -> str:
        """Store content, or renew it if it is stored already; return its id.

        Raises:
            OSError: it cannot be stored.
        """
        artifact_id = sha256(data).hexdigest()
        with self._opened(make=True) as folder:
            # Pruning waits meanwhile, so that it does not delete what is renewed here.
            fcntl.flock(folder, fcntl.LOCK_SH)
            if not self._renew(folder, artifact_id, data):
                write_file(folder, artifact_id, data, self._clock())
                # The name, too, is to survive a power cut.
                os.fsync(folder)
            fcntl.flock(folder, fcntl.LOCK_UN)
            prune_when_due(folder, self._retention_s, self._clock())
        return artifact_id

    def get(self, artifact_id: str) -> bytes:
        """Return the content, byte for byte.

        Raises:
            InvalidArtifactId: the id is malformed.
            UnknownId: the project has no such artifact.
            ArtifactDamaged: the content on disk is not what was stored.
            OSError: it cannot be read.
        """
        if not isinstance(artifact_id, str) or _ID.fullmatch(artifact_id) is None:
            message = "an artifact's id is 64 digits of 0-9 and a-f"
            raise InvalidArtifactId(message)
        try:
            data = self._read(artifact_id)
        except FileNotFoundError:
            newest = (entry.id for entry in self.entries()[:_MOST_COMPARED])
            message = f"no artifact {artifact_id} in project {self._project!r}"
            raise UnknownId(message, nearest=closest_id(artifact_id, newest)) from None
        if sha256(data).hexdigest() != artifact_id:
            message = (
                f"artifact {artifact_id} is damaged: the {len(data)} bytes that are left have "
                "another digest"
            )
            raise ArtifactDamaged(message)
        return data

    def note_retrieved(self, data: bytes) -> None:
        """Remember for a while that these bytes were retrieved; never raises OSError."""
        with suppress(OSError), self._opened(make=False) as folder:
            os.close(open_file(_retrieved(data), folder, os.O_WRONLY | os.O_CREAT))
            now = self._clock()
            os.utime(_retrieved(data), (now, now), dir_fd=folder, follow_symlinks=False)

    def take_retrieved(self, data: bytes) -> bool:
        """Return whether these bytes were retrieved in the last hour, ignoring outer space.

        Each time counts once: the same content made anew is a new output.
        """
        name = _retrieved(data)
        try:
            with self._opened(make=False) as folder:
                noted = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
                os.unlink(name, dir_fd=folder)
        except OSError:
            return False
        return self._clock() - noted < ABANDONED_S

    def entries(self) -> list[ArtifactEntry]:
        """Return the stored artifacts, newest first.

        Raises:
            OSError: the folder cannot be read.
        """
        found: list[ArtifactEntry | None] = []
        with suppress(FileNotFoundError), self._opened(make=False) as folder:
            found = [entry_in(folder, name) for name in names_in(folder) if _ID.fullmatch(name)]
        return sorted(filter(None, found), key=lambda each: (-each.stored_at, each.id))

    @contextmanager
    def _opened(self, *, make: bool) -> Iterator[int]:
        with opened_folder(self._home, FOLDER, self._folder, make=make) as folder:
            yield folder

    def _read(self, artifact_id: str) -> bytes:
        with self._opened(make=False) as folder:
            try:
                fd = open_file(artifact_id, folder)
            except FileNotFoundError:
                raise
            except OSError as error:
                message = f"artifact {artifact_id} is damaged: {_explain(error)}"
                raise ArtifactDamaged(message) from None
        with os.fdopen(fd, "rb") as file:
            return file.read()

    def _renew(self, folder: int, artifact_id: str, data: bytes) -> bool:
        """Return whether this content is stored already, and restart its retention time."""
        try:
            fd = open_file(artifact_id, folder)
        except OSError:  # missing, or something else in its place
            return False
        with os.fdopen(fd, "rb", buffering=0) as file:
            if os.fstat(fd).st_size != len(data):
                return False
            if any(file.read(len(piece)) != piece for piece in pieces(data)):
                return False
            os.utime(fd, (self._clock(), self._clock()))
        return True


def entry_in(folder: int, artifact_id: str) -> ArtifactEntry | None:
    """Return an artifact as its folder shows it; None if it is gone."""
    try:
        status = os.stat(artifact_id, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return ArtifactEntry(artifact_id, status.st_size, status.st_mtime)


def _retrieved(data: bytes) -> str:
    """Return the name of the note that marks bytes as retrieved.

    A checksum is enough: at worst, another output with the same checksum is passed on whole.
    """
    # Without a copy of everything: shells add or remove line ends of an output.
    start = len(data[:_MARGIN]) - len(data[:_MARGIN].lstrip())
    end = len(data) - len(data[-_MARGIN:]) + len(data[-_MARGIN:].rstrip())
    plain = memoryview(data)[start:end]
    return f"{RETRIEVED}{len(plain)}-{crc32(plain):08x}"


def _explain(error: OSError) -> str:
    return (
        "a symbolic link is in its place"
        if error.errno == errno.ELOOP
        else error.strerror or str(error)
    )


def prune_artifacts(home: Path, retention_s: float, *, now: float) -> int:
    """Delete the expired artifacts of all projects; return how many.

    Raises:
        OSError: a folder cannot be read.
    """
    removed = 0
    with suppress(FileNotFoundError), opened_folder(home, FOLDER, make=False) as root:
        for name in names_in(root):
            with (
                suppress(FileNotFoundError, NotADirectoryError),
                opened_folder(home, FOLDER, name, make=False) as folder,
            ):
                removed += prune_folder(folder, retention_s, now)
    return removed
