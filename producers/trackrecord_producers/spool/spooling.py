"""Write waiting items to the spool, and count those that are lost."""

from collections.abc import Sequence

import msgspec

from trackrecord.settings.agent_settings import AgentSettings
from trackrecord.wire.redacted_body import redacted_body

from ..delivery.drops import Drops, Reason
from ..delivery.stats import DeliveryCounts
from ..delivery.stream_and_spool_format import spool_line
from ..delivery.waiting import WaitingItem
from .files import SpoolWriter


class Spooling:
    """Write to the spool for one thread.

    Args:
        settings: validated settings.
        drops: counts lost items.
        counts: counts spooled items.
    """

    def __init__(
        self, settings: AgentSettings, drops: Drops[Reason], counts: DeliveryCounts
    ) -> None:
        self._settings = settings
        self._drops = drops
        self._counts = counts
        self._writer = SpoolWriter(settings.spool_dir, settings.spool_max_bytes)

    def ready(self, items: Sequence[WaitingItem]) -> list[WaitingItem]:
        """Return the items with their project, without secrets, and without those too large."""
        named = [_safe(item.of_project(self._settings.project)) for item in items]
        largest = self._settings.max_body_bytes
        fitting = [item for item in named if len(item.body) <= largest]
        too_large = len(named) - len(fitting)
        self._drops.count("invalid", too_large, detail=f"more than {largest} bytes")
        return fitting

    def spool(self, items: Sequence[WaitingItem]) -> None:
        """Write items to the spool; drop those that do not fit."""
        if not items:
            return
        appended = self._writer.append(
            [spool_line(item.kind, item.body, is_safe=item.is_safe) for item in items]
        )
        self._counts.spooled += appended.written
        self._drops.count("spool_full", appended.too_many)
        self._drops.count("spool_error", appended.failed, detail=appended.problem)

    def close(self) -> None:
        """Leave the spooled items to the process that forwards them."""
        self._writer.close()


def _safe(item: WaitingItem) -> WaitingItem:
    if item.is_safe:
        return item
    return msgspec.structs.replace(item, body=redacted_body(item.body), is_safe=True)
