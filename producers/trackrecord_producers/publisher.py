"""The publisher: takes outcomes from the agent at once, and brings them out in the background.

Only the standard library and msgspec are imported before the first outcome is accepted; settings
and the Redis client are the writing thread's business.
"""

from __future__ import annotations

# Redis's client imports this one, which cannot be imported any more once the program is ending.
import concurrent.futures.thread  # noqa: F401 - cannot be imported at exit
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trackrecord.errors import InvalidMemory, InvalidOutcome, SettingsError
from trackrecord.forking import not_while_forking
from trackrecord.wire.outcome import MAX_BODY_BYTES

from . import exit_hooks
from .body import build_body
from .bounded_queue import BoundedQueue, Waiting
from .drops import Drops, Reason
from .notices import Notices
from .stats import DeliveryCounts, Stats

if TYPE_CHECKING:
    from trackrecord.settings import Settings

    from .delivery import Delivery
    from .spooling import Spooling

# What holds until the settings are known, a fraction of a second after the first outcome: the
# settings' own defaults, and for a body the most that they allow, which is checked again later.
_QUEUE_MAX = 10_000
_QUEUE_MAX_BYTES = 64 * 1024 * 1024
_MAX_BODY_BYTES = 64 * MAX_BODY_BYTES
_FLUSH_TIMEOUT_S = 2.0

_BATCH_BYTES = 4 * 1024 * 1024
# Outcomes that follow each other closely travel together, and wake the writer once.
_LINGER_S = 0.01


def _load_settings() -> Settings:
    from trackrecord.settings import load_settings

    return load_settings()


class Publisher:
    """Publishes outcomes for one process and, after a fork, for each child on its own.

    Args:
        load: gives the settings; called once, by the writing thread.
    """

    def __init__(self, load: Callable[[], Settings] = _load_settings) -> None:
        self._load = load
        self._begin()
        _publishers.add(self)

    def _begin(self) -> None:
        """Start from nothing: in a new process there is no thread, and the queue is not ours."""
        self._notices = Notices()
        self._drops = Drops(self._notices)
        self._counts = DeliveryCounts()
        self._queue = BoundedQueue(_QUEUE_MAX, _QUEUE_MAX_BYTES)
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._settings: Settings | None = None
        self._max_body_bytes = _MAX_BODY_BYTES
        self._refused: tuple[Reason, str] | None = None
        self._leaving = False

    @property
    def drops(self) -> Drops:
        """What was lost in this process."""
        return self._drops

    def publish(self, fields: dict[str, Any], *, adopts_since: float | None = None) -> str | None:
        """Accept one outcome; never raises, and never waits for what goes wrong behind it.

        Args:
            fields: fields of the wire format; changed in place.
            adopts_since: as in `Waiting`.

        Returns:
            The outcome's id, or None when it was dropped; `stats` says why.
        """
        try:
            names_project = fields.get("project") is not None
            outcome_id, body = build_body(fields, max_bytes=self._max_body_bytes)
            return self._accept(outcome_id, Waiting(body, names_project, adopts_since))
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self._count_fault(error)
        return None

    def hand_over(
        self, write: Callable[[], tuple[str, bytes]], *, names_project: bool
    ) -> str | None:
        """Accept what `write` gives: an id, and a body as it waits in the queue; never raises.

        Args:
            write: called at once; InvalidOutcome and InvalidMemory are counted as "invalid".
            names_project: whether the body says which project it belongs to.
        """
        try:
            given_id, body = write()
            return self._accept(given_id, Waiting(body, names_project))
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self._count_fault(error)
        return None

    def _count_fault(self, error: Exception) -> None:
        if isinstance(error, (InvalidOutcome, InvalidMemory)):
            self._drops.count("invalid", detail=str(error))
        else:
            self._drops.count("internal_error", detail=type(error).__name__)

    def _accept(self, given_id: str, waiting: Waiting) -> str | None:
        if self._refused:
            reason, detail = self._refused
            self._drops.count(reason, detail=detail)
            return None
        if not self._queue.put(waiting):
            self._drops.count("queue_full")
            return None
        if self._settings is None or self._leaving:
            self._bring_out()
        return given_id

    def _bring_out(self) -> None:
        """Somebody must: a thread, or nobody any more when the process is about to end."""
        if self._leaving:
            self._spool_rest()
            return
        with self._lock:
            if self._thread is not None:
                # It is still importing what it needs, which a fork has to wait for: threads that
                # publish without a pause must not keep it from going on.
                time.sleep(0)
                return
            thread = threading.Thread(target=self._run, name="trackrecord-publisher", daemon=True)
            self._thread = thread
        exit_hooks.register(self.close)
        try:
            thread.start()
        except RuntimeError as error:
            self._thread = None
            self._notices.say("no_thread", f"outcomes wait for a thread to be started: {error}")

    def _run(self) -> None:
        try:
            delivery = self._delivery()
        except Exception as error:  # noqa: BLE001 - also an import that fails
            self._refuse(error)
            return
        while not self._leaving:
            try:
                self._turn(delivery)
            except Exception as error:  # noqa: BLE001 - the thread must outlive its mistakes
                self._drops.count("internal_error", detail=type(error).__name__)
                time.sleep(_LINGER_S)
        delivery.close()

    def _turn(self, delivery: Delivery) -> None:
        """One round of the writing thread: a batch, a step of the spool, or a rest."""
        batch_size = self._settings.publish_batch if self._settings else 1
        batch = self._queue.take(batch_size, _BATCH_BYTES)
        if batch:
            try:
                delivery.deliver(batch)
            except Exception as error:  # noqa: BLE001 - counted, and the next batch is tried
                self._drops.count("internal_error", len(batch), detail=type(error).__name__)
            finally:
                self._queue.done()
        if not delivery.forward() and not batch:
            self._queue.wait(None)
            self._queue.wait(_LINGER_S)

    def _delivery(self) -> Delivery:
        # A child forked in the middle of an import could never import the same again.
        with not_while_forking():
            from .delivery import Delivery
        spooling = self._spooling()
        settings = self._known_settings()
        return Delivery(settings, spooling, self._notices, self._counts, self._queue.hurry)

    def _spooling(self) -> Spooling:
        with not_while_forking():
            from .spooling import Spooling
        return Spooling(self._known_settings(), self._drops, self._counts)

    def _known_settings(self) -> Settings:
        if self._settings is None:
            with not_while_forking():
                settings = self._load()
            self._queue.limit(settings.queue_max, settings.queue_max_bytes)
            self._max_body_bytes = settings.max_body_bytes
            self._settings = settings
        return self._settings

    def _refuse(self, error: Exception) -> None:
        """Without settings there is nowhere to go: drop what waits and all that comes."""
        self._refused = reason, detail = _reason(error)
        self._drops.count(reason, len(self._queue.seize()), detail=detail)

    def flush(self, timeout_s: float = _FLUSH_TIMEOUT_S) -> bool:
        """Wait until all that was published before is with Redis or in the spool, or was dropped.

        Returns:
            Whether that came to pass in time.
        """
        if threading.current_thread() is self._thread:
            return False
        return self._queue.wait_until_done(timeout_s)

    def close(self) -> None:
        """Bring everything out before the process ends; never raises.

        Waits for Redis as long as the settings say, then writes the rest to the spool. An outcome
        that is published later goes straight to the spool.
        """
        try:
            timeout_s = self._settings.flush_timeout_s if self._settings else _FLUSH_TIMEOUT_S
            done = self._thread is not None and self.flush(timeout_s)
            self._leaving = True
            if not done or len(self._queue):
                self._spool_rest()
            self._queue.hurry()
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self._drops.count("internal_error", detail=type(error).__name__)

    def _spool_rest(self) -> None:
        """Write all that waits to the spool, in this thread.

        What the writing thread has in its hand goes too: sent twice is harmless, lost is not.
        """
        rest = self._queue.seize()
        if not rest:
            return
        try:
            spooling = self._spooling()
        except Exception as error:  # noqa: BLE001 - also an import that fails
            reason, detail = _reason(error)
            self._drops.count(reason, len(rest), detail=detail)
            return
        spooling.spool(spooling.ready(rest))
        spooling.close()

    def stats(self) -> Stats:
        """How publishing goes in this process."""
        return Stats(
            published=self._queue.accepted,
            waiting=len(self._queue),
            sent=self._counts.sent,
            spooled=self._counts.spooled,
            forwarded=self._counts.forwarded,
            dropped=self._drops.by_reason(),
        )


def _reason(error: Exception) -> tuple[Reason, str]:
    """Why nothing can be brought out, and what of it may be said."""
    if isinstance(error, SettingsError):
        return "bad_settings", str(error)
    return "internal_error", type(error).__name__


_publishers: weakref.WeakSet[Publisher] = weakref.WeakSet()


def _begin_in_child() -> None:
    for publisher in list(_publishers):
        publisher._begin()


os.register_at_fork(after_in_child=_begin_in_child)
