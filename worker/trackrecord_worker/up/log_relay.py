"""Relay the log of a child process line by line, and remember its last error."""

import logging
import re
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec

from trackrecord.learning.text.inert import visible

_BAD = ("error", "critical")
_FOR_PEOPLE = ("warning", *_BAD)
_LARGEST_LOG = 10_000_000
# The last line of a traceback, or an error from Celery's command line.
_SAYS_WHY = re.compile(rb"(Error|[A-Za-z_][\w.]*(Error|Exception))\b")
_LONGEST_COMPLAINT = 300
# What Celery prints beside its log when `up` stops it, which says so itself.
_CHATTER = re.compile(rb"\s*(worker: Warm shutdown.*)?\s*")


class LogTarget(Protocol):
    """The destination of a log's lines: a file that is open, or `LogFile`."""

    def write(self, line: bytes, /) -> object:
        """Write a line."""

    def flush(self) -> object:
        """Write what is still in memory."""


class LogFile:
    """The log of `up` on a terminal: a file of bounded size, and the one before it.

    Args:
        path: the file; it is made with the first line, and is for its owner alone.
        largest: its size in bytes at which the next one begins.
    """

    def __init__(self, path: Path, largest: int = _LARGEST_LOG) -> None:
        self._handler = _PrivateLog(path, maxBytes=largest, backupCount=1, delay=True)

    def write(self, line: bytes) -> None:
        """Write a line; several threads may, each its own."""
        text = visible(line.decode(errors="replace").rstrip("\r\n"))
        self._handler.handle(logging.makeLogRecord({"msg": text}))

    def flush(self) -> None:
        """Write what is still in memory."""
        self._handler.flush()

    def close(self) -> None:
        """Close the file."""
        self._handler.close()


class _PrivateLog(RotatingFileHandler):
    def _open(self) -> Any:  # noqa: ANN401 - the signature is the library's
        Path(self.baseFilename).touch(mode=0o600)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Drop a line for which the disk has no room: that is said elsewhere."""


class LogRelay:
    """Relay a child's log to a file, or to this process's standard error.

    A child cannot tell whether its log goes to a terminal, so its JSON is rendered here. Beside a
    `LogFile`, a person at the terminal is shown warnings and errors.

    Args:
        source: the end of a pipe that the child writes to.
        target: the file for the lines; standard error when not given.
    """

    def __init__(self, source: IO[bytes], target: LogTarget | None) -> None:
        self._source = source
        self._target = target
        self._renders = sys.stderr.isatty() and (target is None or isinstance(target, LogFile))
        self._complaint = ""
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def last_complaint(self) -> str:
        """Return the last line that reports an error; empty without one."""
        return self._complaint[:_LONGEST_COMPLAINT]

    def finish(self, timeout_s: float) -> None:
        """Wait until all of the child's log is relayed, or the time is over."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        with self._source:
            for line in self._source:
                entry = _entry(line)
                self._complaint = _complaint(line, entry) or self._complaint
                self._write(line, entry)

    def _write(self, line: bytes, entry: dict[str, Any] | None) -> None:
        try:
            if self._target is not None:
                self._target.write(line)
                self._target.flush()
                if self._renders and entry is not None and entry.get("level") in _FOR_PEOPLE:
                    sys.stderr.write(f"{self._rendered(line, entry)}\n")
            elif entry is None and _CHATTER.fullmatch(line):
                return
            elif self._renders:
                sys.stderr.write(f"{self._rendered(line, entry)}\n")
            else:
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()
        except (OSError, ValueError):
            # The log has no reader any more. A full pipe must not block the child.
            return

    def _rendered(self, line: bytes, entry: dict[str, Any] | None) -> str:
        if entry is None:
            return visible(line.decode(errors="replace").rstrip("\r\n"))
        from trackrecord.process.logs import terminal_renderer

        return str(terminal_renderer()(None, "", entry))


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return None


def _complaint(line: bytes, entry: dict[str, Any] | None) -> str:
    """Return the error in a line: the last line of a traceback, or an error's cause."""
    if entry is None:
        return line.decode(errors="replace").strip() if _SAYS_WHY.match(line) else ""
    if entry.get("level") not in _BAD:
        return ""
    trace = str(entry.get("exception") or "").strip().splitlines()
    return trace[-1].strip() if trace else str(entry.get("reason") or entry.get("event") or "")
