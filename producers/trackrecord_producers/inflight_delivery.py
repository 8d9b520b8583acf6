"""Where reports on tasks in flight go from memory: to Redis.

Imported by the writing thread only: what it needs takes a quarter of a second to import.
"""

from collections.abc import Sequence

from trackrecord.agent_settings import AgentSettings
from trackrecord.inflight.store import RefusedByRedis, Report, write_reports
from trackrecord.redis_client import agent_client


class InFlightDelivery:
    """Brings reports out of this process; used by one thread.

    Args:
        settings: validated settings.
    """

    def __init__(self, settings: AgentSettings) -> None:
        self._settings = settings
        self._client = agent_client(settings)

    @property
    def retry_after_s(self) -> float:
        """The pause before an unreachable Redis is tried again."""
        return self._settings.retry_after_s

    def deliver(self, reports: Sequence[tuple[str | None, Report]]) -> str:
        """Write reports, each with its project, None for the settings' own.

        Returns:
            Why Redis refuses them; "" when it took them.

        Raises:
            ServerUnavailable: Redis cannot be reached.
        """
        named = [(project or self._settings.project, report) for project, report in reports]
        try:
            write_reports(self._client, self._settings.keys, self._settings.errors, named)
        except RefusedByRedis as error:
            return str(error)
        return ""

    def close(self) -> None:
        """Give up the connection."""
        self._client.close()
