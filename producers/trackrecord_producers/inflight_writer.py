"""Brings what is known of tasks in flight from the agent to Redis, in the background.

Like publishing: a bounded queue in memory and one daemon thread. There is no spool: old errors
help nobody who tries again, so what cannot be brought out until the process ends is dropped, and
counted.
"""

from __future__ import annotations

# Redis's client imports this one, which cannot be imported any more once the program is ending.
import concurrent.futures.thread  # noqa: F401 - cannot be imported at exit
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from trackrecord.errors import ServerUnavailable, SettingsError
from trackrecord.forking import not_while_forking
from trackrecord.inflight.reports import AttemptEnd, ErrorReport

from . import exit_hooks
from .bounded_queue import BoundedQueue, Waiting
from .notices import Notices

if TYPE_CHECKING:
    from trackrecord.settings import Settings

    from .inflight_delivery import InFlightDelivery

Report = ErrorReport | AttemptEnd
Reason = Literal["invalid", "queue_full", "refused", "unsent", "bad_settings", "internal_error"]

_QUEUE_MAX: Final = 2000
_QUEUE_MAX_BYTES: Final = 8 * 1024 * 1024
_BATCH: Final = 100
_BATCH_BYTES: Final = 1024 * 1024
# From the first of all that is done when the process ends; the publisher may take the most of it.
_EXIT_WAIT_S: Final = 2.5
# Starting means importing, which is this process's own work and not Redis's fault.
_START_WAIT_S: Final = 5.0
_POLL_S: Final = 0.05
_GRACE_S: Final = 0.5

_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(tuple[str | None, Report])


def _load_settings() -> Settings:
    from trackrecord.settings import load_settings

    return load_settings()


class InFlightWriter:
    """Writes reports for one process and, after a fork, for each child on its own.

    Args:
        load: gives the settings; called once, by the writing thread.
    """

    def __init__(self, load: Callable[[], Settings] = _load_settings) -> None:
        self._load = load
        self._begin()
        _writers.add(self)

    def _begin(self) -> None:
        """Start from nothing: in a new process there is no thread, and the queue is not ours."""
        self._notices = Notices()
        self._queue = BoundedQueue(_QUEUE_MAX, _QUEUE_MAX_BYTES)
        self._lock = threading.RLock()
        self._counts: dict[str, int] = {}
        self._thread: threading.Thread | None = None
        self._refused: tuple[Reason, str] | None = None
        self._is_ready = threading.Event()
        self._is_prompt = True
        self._is_away = False
        self._leaving = False

    def write(self, project: str | None, report: Report, *, wait_s: float = 0.0) -> bool:
        """Accept a report; never raises.

        Args:
            project: whose task it is; the settings' project when not given.
            report: an error, or the end of an attempt.
            wait_s: how long to wait until Redis has it; not at all while Redis is known not to
                answer promptly.

        Returns:
            Whether it was accepted.
        """
        try:
            return self._accept(project, report, wait_s)
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.drop("internal_error", detail=type(error).__name__)
            return False

    def _accept(self, project: str | None, report: Report, wait_s: float) -> bool:
        if self._refused or self._leaving:
            reason, detail = self._refused or ("unsent", "the process is ending")
            self.drop(reason, detail=detail)
            return False
        if not self._queue.put(Waiting(_encode((project, report)), names_project=True)):
            self.drop("queue_full")
            return False
        if self._thread is None:
            self._start()
        if wait_s > 0:
            self.flush(wait_s)
        return True

    def drop(self, reason: Reason, number: int = 1, *, detail: str = "") -> None:
        """Count what is lost, and say so now and then; nothing of a report's content."""
        if number <= 0:
            return
        with self._lock:
            total = self._counts.get(reason, 0) + number
            self._counts[reason] = total
        what = f" ({detail})" if detail else ""
        message = f"dropped {total} reports on tasks in flight so far as {reason}{what}"
        self._notices.say(reason, message)

    def dropped(self) -> dict[str, int]:
        """How many reports were lost, for each reason that occurred."""
        with self._lock:
            return dict(self._counts)

    def flush(self, timeout_s: float) -> bool:
        """Wait until what was accepted before is with Redis, or was dropped.

        Returns:
            Whether that came to pass in time. When not, nobody waits again until Redis answers.
        """
        if not len(self._queue):
            return True
        if not self._is_prompt or threading.current_thread() is self._thread:
            return False
        self._is_ready.wait(_START_WAIT_S)
        self._is_prompt = self._queue.wait_until_done(timeout_s)
        return self._is_prompt

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None:
                return
            thread = threading.Thread(target=self._run, name="trackrecord-in-flight", daemon=True)
            self._thread = thread
        exit_hooks.register(self.close, last=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads: the next report tries again
            self._thread = None

    def _run(self) -> None:
        try:
            # A child forked in the middle of an import could never import the same again.
            with not_while_forking():
                from .inflight_delivery import InFlightDelivery

                delivery = InFlightDelivery(self._load())
        except Exception as error:  # noqa: BLE001 - also an import that fails
            self._refuse(error)
            return
        finally:
            self._is_ready.set()
        while not self._leaving:
            batch = self._queue.take(_BATCH, _BATCH_BYTES)
            if not batch:
                self._queue.wait(None)
                continue
            try:
                self._deliver(delivery, batch)
            except Exception as error:  # noqa: BLE001 - counted, and the next batch is tried
                self.drop("internal_error", len(batch), detail=type(error).__name__)
            finally:
                self._queue.done()
        delivery.close()

    def _deliver(self, delivery: InFlightDelivery, batch: list[Waiting]) -> None:
        """Write a batch, however long Redis is away; what is written twice counts once."""
        reports = [_decoder.decode(item.body) for item in batch]
        while not self._leaving:
            try:
                refusal = delivery.deliver(reports)
            except ServerUnavailable as error:
                self._is_prompt, self._is_away = False, True
                self._notices.say("redis_away", f"{error}; until then errors wait in memory")
                self._queue.wait(delivery.retry_after_s)
            else:
                self._is_prompt, self._is_away = True, False
                self.drop("refused", len(batch) if refusal else 0, detail=refusal)
                return

    def _refuse(self, error: Exception) -> None:
        """Without settings there is nowhere to go: drop what waits and all that comes."""
        is_settings = isinstance(error, SettingsError)
        reason: Reason = "bad_settings" if is_settings else "internal_error"
        detail = str(error) if is_settings else type(error).__name__
        self._refused = reason, detail
        self.drop(reason, len(self._queue.seize()), detail=detail)

    def close(self) -> None:
        """Bring everything out before the process ends, if Redis is there; never raises."""
        try:
            self._is_ready.wait(_START_WAIT_S if len(self._queue) else 0)
            deadline = max(exit_hooks.began_at() + _EXIT_WAIT_S, time.monotonic() + _GRACE_S)
            while time.monotonic() < deadline and not self._is_away:
                if self._queue.wait_until_done(_POLL_S):
                    break
            self._leaving = True
            self.drop("unsent", len(self._queue.seize()))
            self._queue.hurry()
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.drop("internal_error", detail=type(error).__name__)


_writers: weakref.WeakSet[InFlightWriter] = weakref.WeakSet()


def _begin_in_child() -> None:
    for writer in list(_writers):
        writer._begin()


os.register_at_fork(after_in_child=_begin_in_child)
