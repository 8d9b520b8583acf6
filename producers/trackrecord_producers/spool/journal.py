"""A copy on disk of the waiting items, for a process that may be ended without notice.

A pool ends its processes by SIGTERM, a forked child may leave by os._exit: nobody calls them back
first. In such a process each item is written here before `publish` returns, by one write to a file
of the spool, and the file is emptied when everything in it is with Redis or in the spool. If the
process ends before that, the file is forwarded like any other; what is sent twice counts once.
Secrets are replaced when it is forwarded: here, the agent would have to wait for that.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..delivery.notices import Notices
from ..delivery.stream_and_spool_format import spool_line
from ..delivery.waiting import WaitingItem
from .files import LockedFile, as_line, create_spool_file, make_spool

# A file that is never found finished is followed by another one, so that it can be deleted.
_ROTATE_BYTES: Final = 4 * 1024 * 1024
# After a failure (the disk is full, the folder is read-only) nothing is tried for a while.
_RETRY_AFTER_S: Final = 1.0


@dataclass
class _Segment:
    """A file of the journal: how long it is, and the number of the last item in it."""

    file: LockedFile
    size: int = 0
    last: int = 0


class Journal:
    """The journal of one process.

    Args:
        folder: the spool.
        project: the project of items that name none.
        notices: logs problems.
    """

    def __init__(self, folder: Path, project: str, notices: Notices) -> None:
        self._folder = folder
        self._project = project
        self._notices = notices
        self._lock = threading.RLock()
        self._segments: list[_Segment] = []
        self._retry_at = 0.0

    def keep(self, put: Callable[[WaitingItem], int], item: WaitingItem) -> bool:
        """Put an item into the queue and write it down; never raises OSError.

        Args:
            put: puts the item and returns how many were ever put; 0 when there was no room.
            item: the item.

        Returns:
            Whether it was put. It is also written down, unless the disk refuses it.
        """
        of_project = item.of_project(self._project)
        line = as_line(spool_line(of_project.kind, of_project.body, is_safe=item.is_safe))
        with self._lock:
            number = put(item)
            if number:
                self._write(line, number)
        return number > 0

    def _write(self, line: bytes, number: int) -> None:
        if not self._segments and time.monotonic() < self._retry_at:
            return
        try:
            segment = self._current()
            # A signal handler may have put and written one in between.
            segment.last = max(segment.last, number)
            written = os.write(segment.file.descriptor, line)
            if written < len(line):
                os.ftruncate(segment.file.descriptor, segment.size)
                self._rest("the disk is full")
            else:
                segment.size += written
        except OSError as error:
            self._rest(error.strerror or type(error).__name__)

    def _current(self) -> _Segment:
        if not self._segments or self._segments[-1].size >= _ROTATE_BYTES:
            make_spool(self._folder)
            self._segments.append(_Segment(create_spool_file(self._folder)))
        return self._segments[-1]

    def _rest(self, problem: str) -> None:
        """Continue without the journal for a while; its content stays."""
        self._retry_at = time.monotonic() + _RETRY_AFTER_S
        self._notices.say(
            "journal",
            f"outcomes of this process are not safe if it is killed: the spool cannot be written "
            f"({problem}); free disk space, or set TRACKRECORD_SPOOL_FOLDER to another folder",
        )

    def forget(self, finished: int) -> None:
        """Empty the files whose items are all safe elsewhere; never raises.

        Args:
            finished: how many items, oldest first, are with Redis, in the spool, or were dropped.
        """
        with self._lock:
            kept = [segment for segment in self._segments if segment.last > finished]
            done = self._segments[: len(self._segments) - len(kept)]
            self._segments = kept
            if done and not kept and _is_emptied(done[-1]):
                self._segments = [done.pop()]
        for segment in done:
            _delete(segment)

    def close(self) -> None:
        """Delete the journal: all of its items are safe elsewhere."""
        with self._lock:
            done, self._segments = self._segments, []
        for segment in done:
            _delete(segment)


def _is_emptied(segment: _Segment) -> bool:
    """Empty a file to write to it again; return False if it is better to begin another."""
    try:
        if segment.file.is_unlinked:
            return False
        if segment.size:
            os.ftruncate(segment.file.descriptor, 0)
    except OSError:
        return False
    segment.size = 0
    return True


def _delete(segment: _Segment) -> None:
    try:
        segment.file.path.unlink(missing_ok=True)
    except OSError:  # the folder is not ours to write to any more; the file is
        _is_emptied(segment)
    segment.file.close()
