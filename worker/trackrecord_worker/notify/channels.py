"""The channels: a webhook and a command, each of which takes one message at a time."""

import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Final, Protocol

from trackrecord.errors import EndpointAway
from trackrecord.notify_settings import NotifySettings, key_of
from trackrecord.redaction.redact import redacted

from .message import signed_headers

_LONGEST_SHOWN: Final = 200
_AGAIN_LATER: Final = frozenset({408, 425, 429})

# At "info" it writes the URL of every request, which may hold a secret.
logging.getLogger("httpx").setLevel(logging.WARNING)


class NotTaken(Exception):
    """Raised when a receiver refuses one message, and might take another one."""


class Channel(Protocol):
    """A way in which people are told."""

    def tell(self, message_id: str, body: bytes) -> None:
        """Tell one message.

        Raises:
            NotTaken: the receiver refuses this message.
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
            raise NotTaken(message)
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
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                self._words,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            message = f"the command cannot be started ({error.strerror})"
            raise EndpointAway(message) from None
        try:
            _, complaint = process.communicate(body, timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            message = f"the command did not end within {self._timeout_s:g} s and was killed"
            raise EndpointAway(message) from None
        finally:
            # Also what it left running: nothing may pile up.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        if process.returncode:
            raise NotTaken(_failure(process.returncode, complaint))


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
