"""Outcomes from memory to the spool, with what is lost on the way counted."""

from collections.abc import Sequence

from trackrecord.agent_settings import AgentSettings

from .body import with_project
from .bounded_queue import Waiting
from .drops import Drops
from .spool import SpoolWriter
from .tally import Tally


class Spooling:
    """Spools outcomes for one thread.

    Args:
        settings: validated settings.
        drops: counts what is lost.
        tally: counts what is not lost.
    """

    def __init__(self, settings: AgentSettings, drops: Drops, tally: Tally) -> None:
        self._settings = settings
        self._drops = drops
        self._tally = tally
        self._writer = SpoolWriter(settings.spool_dir, settings.spool_max_bytes)

    def ready(self, items: Sequence[Waiting]) -> list[bytes]:
        """Bodies as they travel: with their project, and none larger than the settings allow."""
        project = self._settings.project
        bodies = [
            item.body if item.names_project else with_project(item.body, project) for item in items
        ]
        largest = self._settings.max_body_bytes
        fitting = [body for body in bodies if len(body) <= largest]
        too_large = len(bodies) - len(fitting)
        self._drops.count("invalid", too_large, detail=f"more than {largest} bytes")
        return fitting

    def spool(self, bodies: Sequence[bytes]) -> None:
        """Write bodies to the spool; what finds no room there is dropped."""
        if not bodies:
            return
        appended = self._writer.append(bodies)
        self._tally.spooled += appended.written
        self._drops.count("spool_full", appended.too_many)
        self._drops.count("spool_error", appended.failed, detail=appended.problem)

    def close(self) -> None:
        """Leave what was spooled to whoever forwards it."""
        self._writer.close()
