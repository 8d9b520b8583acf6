"""Beat as a thread of a worker: one process does all on one machine."""

from threading import Event, Thread
from typing import Any

from celery import Celery, bootsteps
from celery.beat import Service
from celery.signals import beat_init
from celery.worker import state

_ENDED = 1


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
        """End it, and wait until it has ended."""
        self._is_to_end.set()
        self.join()
