"""A bounded queue and the one daemon thread that empties it, for one process at a time.

Nothing here raises into the agent, and putting something into the queue never waits for the
thread. The owner's policy decides what happens to items, also to those that are left
when the process ends. Only the standard library and msgspec are imported before the first item is
accepted: the thread imports settings and the
Redis client.
"""

from __future__ import annotations

import _thread

# Redis's client imports this one, which cannot be imported any more once the program is ending.
import concurrent.futures.thread  # noqa: F401 - cannot be imported at exit
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from trackrecord.process.forking import not_while_forking

from . import exit_hooks
from .bounded_queue import BoundedQueue, OneTimeGate
from .drops import Drops, WriterReason, reason_of

if TYPE_CHECKING:
    from trackrecord.settings.agent_settings import AgentSettings

    from .notices import Notices
    from .waiting import WaitingItem

# The thread's first act is to rest: its imports would hold up the caller that has just started it.
_FIRST_REST_S: Final = 0.01
_PAUSE_AFTER_FAULT_S: Final = 0.01
# How long the end of a process waits for the thread's imports: they are its own work, which a busy
# machine makes slow, and not Redis's fault.
START_WAIT_S: Final = 5.0


class Delivery(Protocol):
    """The destination of items; made and used by the writing thread only."""

    def deliver(self, items: Sequence[WaitingItem]) -> None:
        """Deliver items out of this process, or count them as dropped."""

    def forward(self) -> bool:
        """Take one step of other work; return whether there is more to do at once."""

    def close(self) -> None:
        """Close connections and files."""


class Policy(msgspec.Struct, frozen=True):
    """The settings in which background writers differ.

    Attributes:
        thread_name: the name of its thread.
        queue_max: maximum number of items that wait.
        queue_max_bytes: maximum total size of the items that wait.
        batch: how many items are delivered at once, at most.
        batch_bytes: how large they may be together.
        linger_s: how long to wait after the first item for others that follow it closely.
        closes_last: whether it is closed after the others when the process ends.
    """

    thread_name: str
    queue_max: int
    queue_max_bytes: int
    batch: int
    batch_bytes: int
    linger_s: float = 0.0
    closes_last: bool = False


class BackgroundWriter:
    """Accepts items in any thread and delivers them in a thread of its own.

    Attributes:
        queue: the items that wait or are being delivered.
        batch: how many items are delivered at once, at most.
        has_begun: whether the thread was started.
        is_leaving: whether nothing is delivered any more.

    Args:
        policy: sizes and names.
        open_delivery: called once, in the thread; imports what it needs.
        drops: counts what is lost.
        notices: logs problems.
        take_rest: called with the items left when the process ends, and with later ones.
        close: called when the process ends; `leave` is a part of it.
        on_done: called in the thread after each batch.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        open_delivery: Callable[[], Delivery],
        drops: Drops[WriterReason],
        notices: Notices,
        take_rest: Callable[[Sequence[WaitingItem]], None],
        close: Callable[[], None],
        on_done: Callable[[], None] = lambda: None,
    ) -> None:
        self._policy = policy
        self._open_delivery = open_delivery
        self._drops = drops
        self._notices = notices
        self._take_rest = take_rest
        self._close = close
        self._on_done = on_done
        self.batch = policy.batch
        self.queue = BoundedQueue(policy.queue_max, policy.queue_max_bytes)
        self._lock = threading.RLock()
        self.has_begun = False
        self._thread_ident: int | None = None
        self._is_ready = OneTimeGate()
        self._refusal: tuple[WriterReason, str] | None = None
        self.is_leaving = False

    @property
    def is_this_thread(self) -> bool:
        """Return whether the caller is the writing thread itself."""
        return threading.get_ident() == self._thread_ident

    def accept(self, item: WaitingItem, put: Callable[[WaitingItem], bool] | None = None) -> bool:
        """Put an item into the queue and make sure that it is delivered.

        Args:
            item: the item to deliver.
            put: the function that puts it into the queue, if not the queue's own `put`.

        Returns:
            False when it was dropped.
        """
        if self._refusal:
            reason, detail = self._refusal
            self._drops.count(reason, detail=detail)
            return False
        if not (put or self.queue.put)(item):
            self._drops.count("queue_full")
            return False
        if not self.has_begun or self.is_leaving:
            self._see_to_delivery()
        return True

    def _see_to_delivery(self) -> None:
        """Start the thread; if the process is about to end, take the rest in this thread."""
        if self.is_leaving:
            self._take_what_is_left()
            return
        with self._lock:
            if self.has_begun:
                return
            self.has_begun = True
        exit_hooks.register(self._close, last=self._policy.closes_last)
        try:
            # Thread.start would wait until the thread runs, on a busy machine for milliseconds.
            _thread.start_new_thread(self._run, ())
        except RuntimeError as error:
            self.has_begun = False
            self._notices.say("no_thread", f"outcomes wait for a thread to be started: {error}")

    def _run(self) -> None:
        self._thread_ident = threading.get_ident()
        threading.current_thread().name = self._policy.thread_name
        try:
            # A child forked in the middle of an import could never import the same again; one that
            # is forked after all of it need not import anything for itself.
            with not_while_forking():
                self.queue.wait(_FIRST_REST_S)
                delivery = self._open_delivery()
        except Exception as error:  # noqa: BLE001 - also an import that fails
            self._refuse(error)
            return
        finally:
            self._is_ready.open()
        while not self.is_leaving:
            try:
                self._turn(delivery)
            except Exception as error:  # noqa: BLE001 - the thread must outlive its mistakes
                self._drops.count("internal_error", detail=type(error).__name__)
                time.sleep(_PAUSE_AFTER_FAULT_S)
        delivery.close()

    def _turn(self, delivery: Delivery) -> None:
        """Do one round of the thread: a batch, a step of the delivery's other work, or a rest."""
        batch = self.queue.take(self.batch, self._policy.batch_bytes)
        if batch:
            try:
                delivery.deliver(batch)
            except Exception as error:  # noqa: BLE001 - counted, and the next batch is tried
                self._drops.count("internal_error", len(batch), detail=type(error).__name__)
            finally:
                self.queue.done()
                self._on_done()
        if not delivery.forward() and not batch:
            self.queue.wait(None)
            if self._policy.linger_s:
                self.queue.wait(self._policy.linger_s)

    def _refuse(self, error: Exception) -> None:
        """Drop all waiting and later items: without settings there is no destination."""
        self._refusal = reason, detail = reason_of(error)
        self._drops.count(reason, len(self.queue.seize()), detail=detail)
        self._on_done()

    def wait_until_ready(self, timeout_s: float) -> None:
        """Wait until the thread has finished its imports."""
        self.queue.hurry()
        self._is_ready.wait(timeout_s)

    def leave(self) -> None:
        """Stop delivering: all waiting and later items are the rest."""
        self.is_leaving = True
        self._take_what_is_left()
        self.queue.hurry()

    def _take_what_is_left(self) -> None:
        """Take all items, also those being delivered: a duplicate is harmless, a loss is not."""
        rest = self.queue.seize()
        if rest:
            self._take_rest(rest)


def load_settings() -> AgentSettings:
    """Return the settings of this process; imports what reads them.

    Raises:
        SettingsError: a setting is wrong.
    """
    from trackrecord.settings.agent_settings import load_agent_settings

    return load_agent_settings()
