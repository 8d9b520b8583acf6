"""The channels: a webhook and a command, each of which takes one message at a time."""

import contextlib
import logging
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import Final, Protocol

from trackrecord.errors import EndpointAway
from trackrecord.notify_settings import NotifySettings, key_of
from trackrecord.redaction.redact import redacted

from .message import signed_headers

_LONGEST_SHOWN: Final = 200
_AGAIN_LATER: Final = frozenset({408, 425, 429})
_MOST_COMPLAINT: Final = 4096
_LOOK_EVERY_S: Final = 0.02

# At "info" it writes the URL of every request, which may hold a secret.
logging.getLogger("httpx").setLevel(logging.WARNING)


class MessageRefused(Exception):
    """Raised when a receiver refuses one message, and might take another one."""


class Channel(Protocol):
    """A way of sending news."""

    def tell(self, message_id: str, body: bytes) -> None:
        """Send one message.

        Raises:
            MessageRefused: the receiver refuses this message.
            EndpointAway: the receiver cannot be reached, or takes no message now.
        """


class Webhook:
    """Posts messages to a URL, signed; redirects are not followed.

    Args:
        url: where to.
        key: the key of the signature.
        timeout_s: how long an answer is waited for.
    """

    def __init__(self, url: str, key: bytes, timeout_s: float) -> None:
        self._url = url
        self._key = key
        self._timeout_s = timeout_s

    def tell(self, message_id: str, body: bytes) -> None:
        """Post one message; see `Channel.tell`."""
        # A tenth of a second to import, and most installations have no webhook.
        import httpx

        headers = {
            "content-type": "application/json",
            "user-agent": "trackrecord",
            **signed_headers(message_id, body, self._key, now=time.time()),
        }
        try:
            # As a stream: the answer's body is not read, however long it is.
            with httpx.stream(
                "POST", self._url, content=body, headers=headers, timeout=self._timeout_s
            ) as answer:
                status = answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ImportError, ValueError) as error:
            # The texts of these errors may hold the URL, and the URL a secret.
            message = f"the webhook cannot be reached ({type(error).__name__})"
            raise EndpointAway(message) from None
        if 200 <= status < 300:
            return
        message = f"the webhook answers with status {status}"
        if 400 <= status < 500 and status not in _AGAIN_LATER:
            raise MessageRefused(message)
        raise EndpointAway(message)


class CommandChannel:
    """Starts a program for each message, which reads it from its standard input.

    Args:
        words: the program and its arguments.
        timeout_s: how long its end is waited for; then it and what it started are killed.
    """

    def __init__(self, words: Sequence[str], timeout_s: float) -> None:
        self._words = list(words)
        self._timeout_s = timeout_s

    def tell(self, message_id: str, body: bytes) -> None:
        """Run the command on one message; see `Channel.tell`."""
        environment = {**os.environ, "WEBHOOK_ID": message_id}
        # Files and not pipes: whatever it reads and writes, nobody has to wait for it.
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
            given.write(body)
            given.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                    self._words,
                    env=environment,
                    stdin=given,
                    stdout=subprocess.DEVNULL,
                    stderr=complaints,
                    start_new_session=True,
                )
            except OSError as error:
                message = f"the command cannot be started ({error.strerror})"
                raise EndpointAway(message) from None
            is_ended = _ends(process, self._timeout_s)
            # Also what it left running: nothing may pile up. Its id is not reaped yet, so that the
            # group cannot be another one's.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            complaints.seek(0)
            complaint = complaints.read(_MOST_COMPLAINT)
        if not is_ended:
            message = f"the command did not end within {self._timeout_s:g} s and was killed"
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


def channel_of(name: str, settings: NotifySettings) -> Channel:
    """Return the channel with a name: "webhook" or "command"."""
    if name == "command":
        return CommandChannel(settings.command, settings.timeout_s)
    assert settings.url is not None  # noqa: S101 - the settings refuse one without the other
    assert settings.secret is not None  # noqa: S101 - as above
    return Webhook(settings.url, key_of(settings.secret), settings.timeout_s)
