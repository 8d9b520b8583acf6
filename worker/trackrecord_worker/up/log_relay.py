"""Relay the log of a child process line by line, and remember its last error."""

import re
import sys
import threading
from typing import IO, Any

import msgspec

from trackrecord.learning.text.inert import visible
from trackrecord.process.logs import terminal_renderer

_BAD = ("error", "critical")
# The last line of a traceback, or an error from Celery's command line.
_SAYS_WHY = re.compile(rb"(Error|[A-Za-z_][\w.]*(Error|Exception))\b")
_LONGEST_COMPLAINT = 300


class LogRelay:
    """Relay a child's log to a file, or to this process's standard error.

    A child cannot tell whether its log goes to a terminal, so its JSON is rendered here.

    Args:
        source: the end of a pipe that the child writes to.
        target: the file for the lines; standard error when not given.
    """

    def __init__(self, source: IO[bytes], target: IO[bytes] | None) -> None:
        self._source = source
        self._target = target
        self._renders = target is None and sys.stderr.isatty()
        self._render = terminal_renderer()
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
        return str(self._render(None, "", entry))


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
