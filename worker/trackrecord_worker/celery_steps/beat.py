"""A beat that goes by the monotonic clock, and does not pile up wake-ups without workers.

The clock on the wall may be set back by a day or forward by a year: what is due every few seconds
is still due every few seconds, see `schedule` for the nightly job. For the same reason a wake-up
has no time at which it expires: that would be compared with another machine's clock. Instead each
task has a queue of its own, and no wake-up is sent to a queue in which one is waiting: a second one
would add nothing. Without a worker the queues stay as short, and leave Redis's memory to outcomes.

Nor does it keep its history in a file: two beats that share one corrupt it, and both end. A
consolidation that was missed is seen from the runs on record, see `schedule`.
"""

import contextlib
import time
from pathlib import Path
from typing import Any

import redis
import structlog
from celery.beat import ScheduleEntry, Scheduler, SchedulingError
from kombu import Producer
from kombu.exceptions import OperationalError

from trackrecord.process.folders import make_private_folder
from trackrecord.redis.problems import is_out_of_memory

_log = structlog.get_logger(__name__)


class SteadyScheduler(Scheduler):
    """Sends wake-ups by the monotonic clock, at most one of a kind at a time."""

    _is_full = False

    def apply_async(
        self,
        entry: ScheduleEntry,
        producer: Producer | None = None,
        advance: bool = True,
        **kwargs: Any,  # noqa: ANN401 - Celery's signature
    ) -> Any:  # noqa: ANN401 - as above
        """Send a task as Celery does, unless a wake-up for it is waiting."""
        if not self._is_waiting(str(entry.task)):
            try:
                sent = super().apply_async(entry, producer=producer, advance=advance, **kwargs)
            except SchedulingError as error:
                self._renew_connection()
                if not _is_about_memory(error):
                    raise
                self._say_full()
                return None
            self._is_full = False
            return sent
        if advance:
            self.reserve(entry)
        return None

    def _renew_connection(self) -> None:
        """Have the next wake-up make one: Kombu closed the channel, and would use it again."""
        self.connection.close()
        for name in ("connection", "producer"):
            vars(self).pop(name, None)

    def _say_full(self) -> None:
        if not self._is_full:
            _log.warning("redis_full", effect="no wake-ups; workers look for outcomes themselves")
        self._is_full = True

    def sync(self) -> None:
        """Write the monotonic clock to a file every three minutes: the health check reads it."""
        file = Path(self.app.conf.beat_schedule_filename)
        with contextlib.suppress(OSError):  # on a full disk, wake-ups are sent all the same
            make_private_folder(file.parent)
            file.write_text(f"{time.monotonic()}\n")

    def _when(
        self,
        entry: ScheduleEntry,  # noqa: ARG002 - Celery's signature
        next_time_to_run: float,
        **_mktime: Any,  # noqa: ANN401 - as above
    ) -> float:
        """Return when an entry is looked at next: Celery would name it by the clock on the wall."""
        return time.monotonic() + (next_time_to_run or 0.0)

    def _is_waiting(self, queue: str) -> bool:
        try:
            # An attribute of kombu's Redis transport that is missing in the stubs.
            channel: Any = self.connection.default_channel
            return bool(channel.client.llen(queue))
        except (OperationalError, redis.RedisError):
            return False  # sending will report the error


def _is_about_memory(error: BaseException | None) -> bool:
    while error is not None:
        if is_out_of_memory(error):
            return True
        error = error.__cause__ or error.__context__
    return False
