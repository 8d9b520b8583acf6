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
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import redis
import structlog
from celery import Celery, bootsteps
from celery.beat import ScheduleEntry, Scheduler, SchedulingError, Service
from celery.signals import beat_init
from celery.worker import state
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
                causes = list(_causes_of(error))
                if any(map(is_out_of_memory, causes)):
                    self._say_full()
                elif any(isinstance(each, redis.ConnectionError) for each in causes):
                    _log.error("wake_up_not_sent", task=entry.task, reason=str(error))
                else:
                    raise
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


def _causes_of(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


_ENDED = 1
_LONGEST_SENDING_S = 2.0


class EmbeddedBeat(bootsteps.StartStopStep):
    """Run beat beside the pool, where the worker's option `--beat-thread` asks for it.

    Celery's own option, `--beat`, makes a process of it, which takes as much memory again.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, *, beat_thread: bool = False, **options: Any) -> None:  # noqa: ANN401 - Celery's signature
        self.enabled = beat_thread
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:  # noqa: ANN401 - as above
        """Return the thread, which Celery starts and stops with the worker."""
        return BeatThread(worker.app)


class BeatThread(Thread):
    """Beat; where it ends by itself, so does the worker, which would be woken no more.

    Args:
        app: the Celery app.
    """

    def __init__(self, app: Celery) -> None:
        super().__init__(name="beat", daemon=True)
        self._app = app
        self._service = Service(app, scheduler_cls=app.conf.beat_scheduler)
        self._is_to_end = Event()

    def run(self) -> None:
        """Send wake-ups until `stop`; Celery's own loop would sleep to the end of its nap."""
        self._app.set_current()
        beat_init.send(sender=self._service)
        scheduler = self._service.scheduler
        try:
            while not self._is_to_end.wait(scheduler.tick()):
                if scheduler.should_sync():
                    scheduler._do_sync()  # type: ignore[attr-defined] # missing in the stubs
        finally:
            scheduler.close()
            if not self._is_to_end.is_set():
                state.should_stop = _ENDED  # type: ignore[assignment] # an exit status, see there

    def stop(self) -> None:
        """End it, and wait until it has sent what it is sending.

        Without Redis it pauses between trials to connect for ever longer: not waited for.
        """
        self._is_to_end.set()
        self.join(_LONGEST_SENDING_S)
