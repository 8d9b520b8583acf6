"""Deliver reports on tasks in flight from memory to Redis.

Imported by the writing thread only: its imports take a quarter of a second.
"""

from collections.abc import Callable, Sequence

import msgspec

from trackrecord.errors import RefusedByRedis, ServerUnavailable
from trackrecord.inflight.reports import ErrorReport
from trackrecord.inflight.store import Report, write_reports
from trackrecord.redis.client import agent_client
from trackrecord.settings.agent_settings import AgentSettings

from ..delivery.drops import Drops, ReportReason
from ..delivery.notices import Notices
from ..delivery.waiting import WaitingItem

_decoder = msgspec.json.Decoder(tuple[str | None, Report])


class InFlightDelivery:
    """Deliver reports out of this process; used by one thread.

    Args:
        settings: validated settings.
        drops: counts reports that Redis refuses.
        notices: logs problems.
        wait: waits between two tries while Redis is away, or is woken earlier.
        gives_up: returns whether to stop waiting for Redis.
        on_answer: called whenever Redis responds.

    Attributes:
        is_away: whether Redis did not respond to the last command.
    """

    def __init__(
        self,
        settings: AgentSettings,
        drops: Drops[ReportReason],
        notices: Notices,
        *,
        wait: Callable[[float], None],
        gives_up: Callable[[], bool],
        on_answer: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._drops = drops
        self._notices = notices
        self._wait = wait
        self._gives_up = gives_up
        self._on_answer = on_answer
        self._client = agent_client(settings)
        self.is_away = False

    def deliver(self, items: Sequence[WaitingItem]) -> None:
        """Write reports, however long Redis is away; a report written twice counts once."""
        reports = [_decoder.decode(item.body) for item in items]
        named = [(project or self._settings.project, _safe(report)) for project, report in reports]
        while not self._gives_up():
            try:
                refusal = self._write(named)
            except ServerUnavailable as error:
                self.is_away = True
                self._notices.say("redis_away", f"{error}; until then errors wait in memory")
                self._wait(self._settings.retry_after_s)
            else:
                self.is_away = False
                self._on_answer()
                self._drops.count("refused", len(items) if refusal else 0, detail=refusal)
                return

    def _write(self, reports: Sequence[tuple[str, Report]]) -> str:
        """Return why Redis refuses the reports; "" when it took them."""
        try:
            write_reports(self._client, self._settings.keys, self._settings.errors, reports)
        except RefusedByRedis as error:
            return str(error)
        return ""

    def forward(self) -> bool:
        """Return False: this delivery has no other work."""
        return False

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _safe(report: Report) -> Report:
    return report.without_secrets() if isinstance(report, ErrorReport) else report
