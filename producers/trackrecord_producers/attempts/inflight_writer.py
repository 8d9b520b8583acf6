"""Write reports on tasks in flight from the agent to Redis, in the background.

Like publishing, but without a spool: old errors do not help a later attempt, so reports that cannot
be delivered before the process ends are dropped and counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from trackrecord.inflight.reports import AttemptEnd, ErrorReport

from ..delivery import exit_hooks
from ..delivery.background_writer import START_WAIT_S, BackgroundWriter, Policy, load_settings
from ..delivery.drops import REPORT_ADVICE, Drops, ReportReason
from ..delivery.fork_hooks import HookStep, renew_in_child
from ..delivery.notices import Notices
from ..delivery.waiting import WaitingItem

if TYPE_CHECKING:
    from trackrecord.settings.agent_settings import AgentSettings

    from .inflight_delivery import InFlightDelivery

Report = ErrorReport | AttemptEnd

_POLICY: Final = Policy(
    thread_name="trackrecord-in-flight",
    queue_max=2000,
    queue_max_bytes=8 * 1024 * 1024,
    batch=100,
    batch_bytes=1024 * 1024,
    # The publisher may take the most of the time that there is when the process ends.
    closes_last=True,
)
# Counted from the first step that is taken when the process ends.
_EXIT_WAIT_S: Final = 2.5
_POLL_S: Final = 0.05
_GRACE_S: Final = 0.5

_encode = msgspec.json.Encoder().encode


class InFlightWriter:
    """Write reports for one process and, after a fork, for each child on its own.

    Args:
        load: returns the settings; called once, by the writing thread.
    """

    def __init__(self, load: Callable[[], AgentSettings] = load_settings) -> None:
        self._load = load
        self.begin_in_child()
        renew_in_child(HookStep.WRITERS, self)

    def begin_in_child(self) -> None:
        """Start again: a new process has no thread, and the queue is its parent's."""
        self._notices = Notices()
        self.drops: Drops[ReportReason] = Drops(
            self._notices, "reports on tasks in flight", REPORT_ADVICE
        )
        self._delivery: InFlightDelivery | None = None
        self._is_prompt = True
        self._writer = BackgroundWriter(
            _POLICY,
            open_delivery=self._open_delivery,
            drops=self.drops,
            notices=self._notices,
            take_rest=self._drop_rest,
            close=self.close,
        )

    def write(self, project: str | None, report: Report, *, wait_s: float = 0.0) -> bool:
        """Accept a report; never raises.

        Args:
            project: the task's project; the settings' project when not given.
            report: an error, or the end of an attempt.
            wait_s: how long to wait until Redis has it; not at all while Redis is known not to
                answer promptly.

        Returns:
            Whether it was accepted.
        """
        try:
            item = WaitingItem(_encode((project, report)), names_project=True, kind="error")
            accepted = self._writer.accept(item) and not self._writer.is_leaving
            if accepted and wait_s > 0:
                self.flush(wait_s)
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.drops.count("internal_error", detail=type(error).__name__)
            return False
        return accepted

    def flush(self, timeout_s: float) -> bool:
        """Wait until all reports accepted before are with Redis, or were dropped.

        Returns:
            Whether that happened in time. If not, no caller waits again until Redis responds.
        """
        if not len(self._writer.queue):
            return True
        if not self._answers_promptly() or self._writer.is_this_thread:
            return False
        self._writer.wait_until_ready(START_WAIT_S)
        in_time = self._writer.queue.wait_until_done(timeout_s)
        self._is_prompt = in_time
        return in_time

    def _answers_promptly(self) -> bool:
        delivery = self._delivery
        return self._is_prompt and not (delivery and delivery.is_away)

    def _open_delivery(self) -> InFlightDelivery:
        from .inflight_delivery import InFlightDelivery

        settings = self._load()
        self._delivery = InFlightDelivery(
            settings,
            self.drops,
            self._notices,
            wait=self._writer.queue.wait,
            gives_up=lambda: self._writer.is_leaving,
            on_answer=self._note_answer,
        )
        return self._delivery

    def _note_answer(self) -> None:
        self._is_prompt = True

    def close(self) -> None:
        """Deliver everything before the process ends, if Redis is available; never raises."""
        try:
            self._wait_for_redis()
            self._writer.leave()
        except Exception as error:  # noqa: BLE001 - nothing may reach the agent
            self.drops.count("internal_error", detail=type(error).__name__)

    def _wait_for_redis(self) -> None:
        if not len(self._writer.queue):
            return
        self._writer.wait_until_ready(START_WAIT_S)
        deadline = max(exit_hooks.began_at() + _EXIT_WAIT_S, time.monotonic() + _GRACE_S)
        while time.monotonic() < deadline and not (self._delivery and self._delivery.is_away):
            if self._writer.queue.wait_until_done(_POLL_S):
                return

    def _drop_rest(self, rest: Sequence[WaitingItem]) -> None:
        self.drops.count("unsent", len(rest), detail="the process is ending")
