"""A beat that does not pile up wake-ups without a worker to take them.

A wake-up expires, but only a worker that reads it throws it away. Without a worker the list would
grow by the hour, in the memory that the outcomes need.

Nor does it keep its history in a file: two beats that share one corrupt it, and both end. A
consolidation that was missed is seen from the runs on record, see `schedule`.
"""

from pathlib import Path
from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from kombu import Producer
from kombu.exceptions import OperationalError

QUEUE = "trackrecord"

# Many more than a busy worker leaves waiting; beat sends about two a second.
_ENOUGH_WAITING = 50


class ThriftyScheduler(Scheduler):
    """Send no wake-up while many are waiting already: another one would add nothing."""

    def apply_async(
        self,
        entry: ScheduleEntry,
        producer: Producer | None = None,
        advance: bool = True,
        **kwargs: Any,  # noqa: ANN401 - Celery's signature
    ) -> Any:  # noqa: ANN401 - as above
        """Send a task as Celery does, unless enough wake-ups are waiting."""
        if self._waiting() < _ENOUGH_WAITING:
            return super().apply_async(entry, producer=producer, advance=advance, **kwargs)
        if advance:
            self.reserve(entry)
        return None

    def sync(self) -> None:
        """Touch a file every three minutes: the health check reads its age."""
        Path(self.app.conf.beat_schedule_filename).touch()

    def _waiting(self) -> int:
        try:
            with self.app.connection_for_write() as connection:
                # An attribute of kombu's Redis transport that is missing in the stubs.
                channel: Any = connection.default_channel
                return int(channel.client.llen(QUEUE))
        except OperationalError:
            return 0  # sending will report the error
