"""The publisher: takes outcomes from the agent at once, and delivers them in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from trackrecord.process.forking import not_while_forking
from trackrecord.wire.outcome import MAX_BODY_BYTES
from trackrecord.wire.storable import mended_here

from ..bodies.body import build_body
from ..delivery import exit_hooks
from ..delivery.background_writer import (
    START_WAIT_S,
    BackgroundWriter,
    Policy,
    load_settings,
)
from ..delivery.drops import OUTCOME_ADVICE, Drops, Reason, reason_of
from ..delivery.fork_hooks import HookStep, renew_in_child
from ..delivery.notices import Notices
from ..delivery.stats import DeliveryCounts, Stats
from ..delivery.waiting import WaitingItem

if TYPE_CHECKING:
    from trackrecord.settings.agent_settings import AgentSettings

    from ..spool.journal import Journal
    from ..spool.spooling import Spooling
    from .delivery import OutcomeDelivery

# The values until the settings are known, a fraction of a second after the first outcome: the
# settings' own defaults, and for a body the most that they allow, which is checked again later.
_POLICY: Final = Policy(
    thread_name="trackrecord-publisher",
    queue_max=10_000,
    queue_max_bytes=64 * 1024 * 1024,
    batch=1,
    batch_bytes=4 * 1024 * 1024,
    # Outcomes that follow each other closely travel together, and wake the writer once.
    linger_s=0.01,
)
_MAX_BODY_BYTES: Final = 64 * MAX_BODY_BYTES
_FLUSH_TIMEOUT_S: Final = 2.0


class Publisher:
    """Publish outcomes for one process and, after a fork, for each child on its own.

    Args:
        load: returns the settings; called once in each process.

    Attributes:
        drops: the drops in this process.
    """

    def __init__(self, load: Callable[[], AgentSettings] = load_settings) -> None:
        self._load = load
        self.begin_in_child()
        renew_in_child(HookStep.WRITERS, self)

    def begin_in_child(self) -> None:
        """Start again: a new process has no thread, and the queue is its parent's."""
        self._notices = Notices()
        self.drops: Drops[Reason] = Drops(self._notices, "outcomes", OUTCOME_ADVICE)
        self._counts = DeliveryCounts()
        self._settings: AgentSettings | None = None
        self._max_body_bytes = _MAX_BODY_BYTES
        self._told = 0
        self._mended_before = mended_here()
        self._lock = threading.RLock()
        self._is_prepared = False
        self._journal: Journal | None = None
        self._writer = BackgroundWriter(
            _POLICY,
            open_delivery=self._open_delivery,
            drops=self.drops,
            notices=self._notices,
            take_rest=self._spool_rest,
            close=self.close,
            on_done=self._empty_journal,
        )

    def publish(
        self, fields: dict[str, Any], *, adopts_since: float | None = None, is_safe: bool = False
    ) -> str | None:
        """Accept one outcome; never raises, and never waits for the delivery.

        Args:
            fields: fields of the wire format; changed in place.
            adopts_since: as in `WaitingItem`.
            is_safe: as in `WaitingItem`.

        Returns:
            The outcome's id, or None when it was dropped; `stats` says why.
        """
        try:
            names_project = fields.get("project") is not None
            outcome_id, body = build_body(fields, max_bytes=self._max_body_bytes)
            item = WaitingItem(body, names_project, adopts_since, is_safe=is_safe)
            return outcome_id if self._accept(item) else None
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.count_fault(error)
        return None

    def accept(self, item: WaitingItem) -> bool:
        """Accept an encoded item; never raises. Return False if it was dropped."""
        try:
            return self._accept(item)
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.count_fault(error)
        return False

    def count_fault(self, error: Exception) -> None:
        """Count one item as dropped for an error that kept it from being accepted."""
        reason, detail = reason_of(error)
        self.drops.count(reason, detail=detail)

    def _accept(self, item: WaitingItem) -> bool:
        if not self._is_prepared:
            self._prepare()
        if self._journal is None or self._writer.is_leaving:
            return self._writer.accept(item)
        return self._writer.accept(item, self._put_and_journal)

    def _put_and_journal(self, item: WaitingItem) -> bool:
        assert self._journal is not None  # noqa: S101 - why it was chosen
        return self._journal.keep(self._put_and_number, item)

    def _put_and_number(self, item: WaitingItem) -> int:
        return self._writer.queue.accepted if self._writer.queue.put(item) else 0

    def _prepare(self) -> None:
        """Prepare for the first outcome, so that none is lost if the process is ended."""
        with self._lock:
            if not self._is_prepared:
                self._journal = None if exit_hooks.heed_signals() else self._new_journal()
                self._is_prepared = True

    def _new_journal(self) -> Journal | None:
        try:
            settings = self._known_settings()
            with not_while_forking():
                from ..spool.journal import Journal
        except Exception:  # noqa: BLE001 - the thread meets the same problem, and counts
            return None
        return Journal(settings.spool_dir, settings.project, self._notices)

    def _empty_journal(self) -> None:
        if self._journal is not None and not self._writer.is_leaving:
            self._journal.forget(self._writer.queue.finished)

    def _open_delivery(self) -> OutcomeDelivery:
        settings = self._known_settings()
        spooling = self._spooling()
        from .delivery import OutcomeDelivery

        hurry = self._writer.queue.hurry
        return OutcomeDelivery(settings, spooling, self._notices, self._counts, hurry)

    def _spooling(self) -> Spooling:
        with not_while_forking():
            from ..spool.spooling import Spooling
        return Spooling(self._known_settings(), self.drops, self._counts)

    def _known_settings(self) -> AgentSettings:
        if self._settings is None:
            with not_while_forking():
                settings = self._load()
            self._writer.queue.limit(settings.queue_max)
            self._writer.batch = settings.publish_batch
            self._max_body_bytes = settings.max_body_bytes
            self._settings = settings
        return self._settings

    def flush(self, timeout_s: float = _FLUSH_TIMEOUT_S) -> bool:
        """Wait until all earlier outcomes are with Redis or in the spool, or were dropped.

        Returns:
            Whether all of it is with Redis or in the spool: False when the time was too short, and
            when anything was dropped since the last call that waited to the end.
        """
        if not self._wait_until_done(timeout_s):
            return False
        dropped = self.drops.total()
        nothing_new, self._told = dropped == self._told, dropped
        return nothing_new

    def _wait_until_done(self, timeout_s: float) -> bool:
        return not self._writer.is_this_thread and self._writer.queue.wait_until_done(timeout_s)

    def close(self) -> None:
        """Deliver everything before the process ends; never raises.

        Waits for Redis as long as the settings say, then writes the rest to the spool. An outcome
        that is published later goes straight to the spool.
        """
        try:
            self._wait_for_redis()
            self._writer.leave()
            if self._journal is not None:
                self._journal.close()
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.drops.count("internal_error", detail=type(error).__name__)

    def _wait_for_redis(self) -> None:
        if not self._writer.has_begun or not len(self._writer.queue):
            return
        self._writer.wait_until_ready(START_WAIT_S)
        timeout_s = self._settings.flush_timeout_s if self._settings else _FLUSH_TIMEOUT_S
        self._wait_until_done(timeout_s)

    def _spool_rest(self, rest: Sequence[WaitingItem]) -> None:
        """Write all waiting items to the spool, in this thread."""
        try:
            spooling = self._spooling()
        except Exception as error:  # noqa: BLE001 - also an import that fails
            reason, detail = reason_of(error)
            self.drops.count(reason, len(rest), detail=detail)
            return
        spooling.spool(spooling.ready(rest))
        spooling.close()

    def stats(self) -> Stats:
        """Return the counts of publishing in this process."""
        return Stats(
            published=self._writer.queue.accepted,
            waiting=len(self._writer.queue),
            **msgspec.structs.asdict(self._counts),
            dropped=self.drops.by_reason(),
            mended=mended_here() - self._mended_before,
        )
