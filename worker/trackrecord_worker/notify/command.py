"""The command that is told what changed: it takes one message at a time."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from typing import Final

from trackrecord.errors import EndpointAway
from trackrecord.learning.text.redaction.redact import redacted
from trackrecord.settings.notify_settings import NotifySettings

_LONGEST_SHOWN: Final = 200
_MOST_COMPLAINT: Final = 4096
_LOOK_EVERY_S: Final = 0.02


class MessageRefused(Exception):
    """Raised when the command refuses one message, and might take another one."""


def tell(settings: NotifySettings, message_id: str, body: bytes) -> None:
    """Start the command on one message, which it reads from its standard input.

    Args:
        settings: the command, and how long its end is waited for; then it and what it started are
            killed.
        message_id: the same each time that the message is told.
        body: the message.

    Raises:
        MessageRefused: the command refuses this message.
        EndpointAway: the command cannot be started, or does not end.
    """
    environment = {**os.environ, "MESSAGE_ID": message_id}
    # Files and not pipes: whatever it reads and writes, nobody has to wait for it.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(body)
        given.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                list(settings.command),
                env=environment,
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            message = f"the command cannot be started ({error.strerror})"
            raise EndpointAway(message) from None
        is_ended = _ends(process, settings.timeout_s)
        # Also what it left running: nothing may pile up. Its id is not reaped yet, so that the
        # group cannot be another one's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        complaints.seek(0)
        complaint = complaints.read(_MOST_COMPLAINT)
    if not is_ended:
        message = f"the command did not end within {settings.timeout_s:g} s and was killed"
        raise EndpointAway(message)
    if process.returncode:
        raise MessageRefused(_failure(process.returncode, complaint))


def _ends(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Wait until a child has ended, and leave it to be reaped; return False if it does not end."""
    deadline = time.monotonic() + timeout_s
    while not _has_ended(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _failure(status: int, complaint: bytes) -> str:
    lines = redacted(complaint.decode(errors="replace")).split("\n", 1)
    said = f": {ascii(lines[0])[1:-1][:_LONGEST_SHOWN]}" if lines[0].strip() else ""
    return f"the command ended with status {status}{said}"
