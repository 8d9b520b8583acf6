"""Deliver outcomes from memory to Redis, or to the spool while Redis is away.

Imported by the writing thread only: its imports take a quarter of a second.

Outages of Redis: the writing thread sees them at once, another thread notices their end.

A command to a server that hangs takes a whole timeout. If the thread that empties the queue waited
for it, the queue would overflow; so a thread of its own asks, and lives only while Redis is away.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence

from trackrecord.errors import ServerUnavailable
from trackrecord.process.forking import not_while_forking
from trackrecord.redis.client import agent_client
from trackrecord.settings.agent_settings import AgentSettings

from ..delivery.notices import Notices
from ..delivery.stats import DeliveryCounts
from ..delivery.stream_and_spool_format import stream_entry
from ..delivery.stream_writer import append
from ..delivery.waiting import WaitingItem
from ..spool.forwarder import forwarding
from ..spool.spooling import Spooling


class Outage:
    """The state of Redis: available or away.

    Args:
        answers: asks Redis, slowly at worst; returns True if it is available.
        retry_after_s: the pause between two questions.
        on_end: called, in the asking thread, when Redis responds again.
    """

    def __init__(
        self, answers: Callable[[], bool], retry_after_s: float, on_end: Callable[[], None]
    ) -> None:
        self._answers = answers
        self._retry_after_s = retry_after_s
        self._on_end = on_end
        self.lasts = False

    def begin(self) -> None:
        """Note that Redis is away, and watch for its return."""
        if self.lasts:
            return
        self.lasts = True
        watch = threading.Thread(target=self._watch, name="trackrecord-outage", daemon=True)
        try:
            watch.start()
        except RuntimeError:  # no more threads: then the next batch finds out
            self.lasts = False

    def _watch(self) -> None:
        while self.lasts:
            time.sleep(self._retry_after_s)
            if self._answers():
                self.lasts = False
                self._on_end()
                return

    def give_up(self) -> None:
        """Stop watching."""
        self.lasts = False


class OutcomeDelivery:
    """Deliver outcomes out of this process; used by one thread.

    Args:
        settings: validated settings.
        spooling: writes them to the spool while Redis is away.
        notices: logs problems.
        counts: counts sent, spooled and forwarded outcomes.
        wake: called from another thread when `forward` has work to do.
    """

    def __init__(
        self,
        settings: AgentSettings,
        spooling: Spooling,
        notices: Notices,
        counts: DeliveryCounts,
        wake: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._spooling = spooling
        self._notices = notices
        self._counts = counts
        self._client = agent_client(settings)
        self._outage = Outage(self._redis_answers, settings.retry_after_s, wake)
        self._forwarding: Iterator[int] | None = None
        # Others may have left something in the spool: look once, after the first success.
        self._look_into_spool = False
        self._sent_before = False

    def deliver(self, items: Sequence[WaitingItem]) -> None:
        """Send outcomes, or spool them, or count them as dropped."""
        ready = self._spooling.ready(self._with_adopted(items))
        if ready and not self._sent(ready):
            self._look_into_spool = True
            self._spooling.spool(ready)

    def _with_adopted(self, items: Sequence[WaitingItem]) -> Sequence[WaitingItem]:
        if self._outage.lasts or all(item.adopts_since is None for item in items):
            return items
        try:
            # A program without attempts does without this.
            with not_while_forking():
                from .adopt_errors import with_adopted_errors
            return with_adopted_errors(self._client, self._settings, items)
        except Exception as error:  # noqa: BLE001 - as when sending
            self._redis_is_away(error)
            return items

    def forward(self) -> bool:
        """Forward outcomes from the spool, by one pipelined write.

        Returns:
            Whether there is more to do at once.
        """
        if self._outage.lasts:
            return False
        if self._forwarding is None:
            if not self._look_into_spool:
                return False
            self._look_into_spool = False
            self._spooling.close()
            self._forwarding = forwarding(self._settings, self._client)
        try:
            step = next(self._forwarding, None)
        except Exception as error:  # noqa: BLE001 - as when sending
            self._redis_is_away(error)
            return False
        if step is None:
            self._forwarding = None
            return False
        self._counts.forwarded += step
        return True

    def _sent(self, items: Sequence[WaitingItem]) -> bool:
        if self._outage.lasts:
            return False
        try:
            entries = [stream_entry(item.kind, item.body) for item in items]
            append(
                self._client,
                self._settings.keys,
                entries,
                replicas=self._settings.redis_replicas,
            )
        except Exception as error:  # noqa: BLE001 - whatever the error is, the spool is better than a loss
            self._redis_is_away(error)
            return False
        self._counts.sent += len(items)
        if not self._sent_before:
            self._sent_before = self._look_into_spool = True
        return True

    def _redis_is_away(self, error: Exception) -> None:
        self._forwarding = None
        self._look_into_spool = True
        what = str(error) if isinstance(error, ServerUnavailable) else type(error).__name__
        self._notices.say("redis_away", f"{what}; until then outcomes wait in the spool")
        self._outage.begin()

    def _redis_answers(self) -> bool:
        try:
            return bool(self._client.ping())
        except Exception:  # noqa: BLE001 - the thread that asks must go on asking
            return False

    def close(self) -> None:
        """Close the connection and the spool's file."""
        self._outage.give_up()
        self._forwarding = None
        self._spooling.close()
        self._client.close()
