"""Sending the outbox: at least once, and later again after a failure."""

import contextlib
import secrets
import threading
import time
from typing import Final

import redis
import structlog

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import EndpointAway
from trackrecord.times import iso

from .channels import Channel, MessageRefused, channel_of
from .message import type_of
from .outbox import Outbox, WaitingNews

_LOOK_EVERY_S: Final = 1.0
_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 3600.0
_SAY_AGAIN_S: Final = 3600.0
# What nobody took for so long is given up, and said so.
GIVE_UP_AFTER_S: Final = 3 * 86_400.0
# Longer than the longest telling.
_LOCK_S: Final = 120

_KEEP_LOCK = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""

_log = structlog.get_logger(__name__)


class Sender:
    """Sends through one channel; one sender at a time does, in a whole fleet.

    Args:
        name: the name of the channel.
        channel: the channel.
        client: a Redis client.
        settings: the names of the keys.
    """

    def __init__(
        self, name: str, channel: Channel, client: redis.Redis, settings: DaemonSettings
    ) -> None:
        self._name = name
        self._channel = channel
        self._client = client
        self._lock = settings.keys.notification_lock(name)
        self._outbox = Outbox(client, settings.keys)
        self._me = secrets.token_hex(8)
        self._pause_s = 0.0
        self._resume_at = 0.0
        self._refused: dict[str, tuple[float, float]] = {}
        self._said_at = 0.0

    def send_due(self) -> int:
        """Send pending news; return how much was sent.

        A receiver that is away pauses the channel, each time for twice as long. One that refuses a
        message is asked to take the others, and that one later.

        Raises:
            redis.RedisError: Redis cannot be reached; what is in the outbox stays there.
        """
        told = 0
        after = "-"
        while waiting := self._outbox.waiting(self._name, after=after):
            for each in waiting:
                if time.monotonic() < self._resume_at or not self._is_mine():
                    return told
                if self._is_due(each):
                    told += self._send(each)
            after = waiting[-1].entry_id
        return told

    def give_back(self) -> None:
        """Leave the channel to another process."""
        if self._is_mine():
            self._client.delete(self._lock)

    def _is_mine(self) -> bool:
        return bool(self._client.eval(_KEEP_LOCK, 1, self._lock, self._me, _LOCK_S))

    def _is_due(self, waiting: WaitingNews) -> bool:
        _, resume_at = self._refused.get(waiting.entry_id, (0.0, 0.0))
        return time.monotonic() >= resume_at

    def _send(self, waiting: WaitingNews) -> bool:
        try:
            self._channel.tell(f"msg_{waiting.entry_id}", waiting.body)
        except MessageRefused as error:
            before, _ = self._refused.pop(waiting.entry_id, (0.0, 0.0))
            if not self._gives_up(waiting, str(error), "it is tried again later"):
                pause_s = _longer(before)
                self._refused[waiting.entry_id] = (pause_s, time.monotonic() + pause_s)
            return False
        except EndpointAway as error:
            self._pause_s = _longer(self._pause_s)
            self._resume_at = time.monotonic() + self._pause_s
            self._gives_up(waiting, str(error), "all that waits is tried again later")
            return False
        self._outbox.done(self._name, waiting.entry_id)
        self._refused.pop(waiting.entry_id, None)
        if self._said_at and self._pause_s:
            _log.info("notifications_told_again", channel=self._name)
        self._pause_s = self._said_at = 0.0
        return True

    def _gives_up(self, waiting: WaitingNews, reason: str, effect: str) -> bool:
        """Log that a message was not taken; return whether it is too old to be tried again."""
        if time.time() - waiting.noted_at > GIVE_UP_AFTER_S:
            # What it tells stays on record; its words in a log would outlast `forget`.
            _log.error(
                "notification_given_up",
                channel=self._name,
                reason=reason,
                type=type_of(waiting.body),
                noted_at=iso(waiting.noted_at),
            )
            self._outbox.done(self._name, waiting.entry_id)
            self._refused.pop(waiting.entry_id, None)
            return True
        now = time.monotonic()
        if not self._said_at or now - self._said_at > _SAY_AGAIN_S:
            self._said_at = now
            _log.warning("notification_failed", channel=self._name, reason=reason, effect=effect)
        return False


def _longer(pause_s: float) -> float:
    """Return the next pause, a little different each time."""
    return min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S, 2 * pause_s)) * (
        1 + secrets.randbelow(100) / 1000
    )


class SenderThread:
    """A thread that sends through one channel for as long as its process lives.

    Args:
        name: the name of the channel.
        client: a Redis client.
        settings: who is told.
    """

    def __init__(self, name: str, client: redis.Redis, settings: DaemonSettings) -> None:
        self._sender = Sender(name, channel_of(name, settings.notify), client, settings)
        self._stopping = threading.Event()
        self._is_away = False
        self._thread = threading.Thread(target=self._run, name=f"notify-{name}", daemon=True)

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Let it finish the current message, or leave it to its successor."""
        self._stopping.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while not self._stopping.wait(_LOOK_EVERY_S):
            try:
                self._sender.send_due()
                self._is_away = False
            except (redis.RedisError, OSError) as error:
                if not self._is_away:
                    _log.warning("redis_unavailable", task="notify", reason=type(error).__name__)
                self._is_away = True
        with contextlib.suppress(redis.RedisError, OSError):
            self._sender.give_back()
