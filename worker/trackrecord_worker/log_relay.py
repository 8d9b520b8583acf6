"""The log of a child process: handed on line by line, and its last complaint remembered."""

import re
import sys
import threading
from typing import IO, Any

import msgspec
import structlog

_BAD = ("error", "critical")
# The last line of a traceback, or what Celery's command line says of its options.
_SAYS_WHY = re.compile(rb"(Error|[A-Za-z_][\w.]*(Error|Exception))\b")
_LONGEST_COMPLAINT = 300


class LogRelay:
    """Hands a child's log on to a file, or to this process's standard error.

    A child cannot see whether somebody reads its log on a terminal, so its JSON is rendered here.

    Args:
        source: the end of a pipe that the child writes to.
        target: where the lines go; standard error when not given.
    """

    def __init__(self, source: IO[bytes], target: IO[bytes] | None) -> None:
        self._source = source
        self._target = target
        self._renders = target is None and sys.stderr.isatty()
        self._render = structlog.dev.ConsoleRenderer(pad_event_to=24)
        self._complaint = ""
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def last_complaint(self) -> str:
        """Return the last line that says that something is wrong; empty when there was none."""
        return self._complaint[:_LONGEST_COMPLAINT]

    def finish(self, timeout_s: float) -> None:
        """Wait until everything that the child has said is handed on, but not for longer."""
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
            elif self._renders and entry is not None:
                sys.stderr.write(str(self._render(None, "", entry)) + "\n")
            else:
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()
        except (OSError, ValueError):
            # Nobody reads it any more. The child must not be held up by a full pipe.
            return


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return None


def _complaint(line: bytes, entry: dict[str, Any] | None) -> str:
    """Return what a line complains of: the last line of a traceback, or an error's cause."""
    if entry is None:
        return line.decode(errors="replace").strip() if _SAYS_WHY.match(line) else ""
    if entry.get("level") not in _BAD:
        return ""
    trace = str(entry.get("exception") or "").strip().splitlines()
    return trace[-1].strip() if trace else str(entry.get("reason") or entry.get("event") or "")
