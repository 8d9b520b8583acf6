"""Record the errors of tasks in flight that arrive on the stream among outcomes."""

from collections.abc import Sequence

import redis

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.inflight.retry_record import RetryTexts
from trackrecord.inflight.store import write_reports

from .stream_entries import ArrivedError, RefusedEntry

_NO_ROOM = "too many errors of its task are resolved that have not been recorded"


class ErrorRecorder:
    """Record reports on tasks in flight, and write what their retries read.

    Args:
        client: a patient Redis client.
        settings: the names of the keys, and the limits of what is kept.
    """

    def __init__(self, client: redis.Redis, settings: DaemonSettings) -> None:
        self._client = client
        self._settings = settings
        self._texts = RetryTexts(client, settings.keys, settings.errors)

    def record(self, arrived: Sequence[ArrivedError]) -> list[RefusedEntry]:
        """Record reports; one that comes again is recognised by its id.

        Returns:
            The entries that there is no room for.

        Raises:
            ServerUnavailable: Redis is away or refuses writes; all of it stays pending.
        """
        if not arrived:
            return []
        reports = [(each.project, each.report) for each in arrived]
        has_room = write_reports(self._client, self._settings.keys, self._settings.errors, reports)
        self.refresh_texts()
        return [
            RefusedEntry(each.entry_id, each.fields, _NO_ROOM, "no_room")
            for each, is_kept in zip(arrived, has_room, strict=True)
            if not is_kept
        ]

    def refresh_texts(self) -> None:
        """Write the texts of tasks that anyone has changed.

        Raises:
            ServerUnavailable: Redis is away or refuses writes.
        """
        self._texts.refresh()
