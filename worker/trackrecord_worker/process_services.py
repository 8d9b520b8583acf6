"""The Celery app, and what its tasks get their clients from.

Beat makes the same app as a worker, and runs none of its tasks: what they need is imported where
a worker starts.
"""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Lock, get_ident
from typing import TYPE_CHECKING

import redis
from celery import Celery

from trackrecord.settings.daemon_settings import DaemonSettings

if TYPE_CHECKING:
    from .services import ProcessParts, Services


class ServicesOfProcess:
    """Provide the stages of the current thread; a forked child builds its own."""

    def __init__(self, settings: DaemonSettings, app: Celery) -> None:
        self._settings = settings
        self._app = app
        self._lock = Lock()
        self._pid = 0
        self._parts: ProcessParts | None = None
        self._by_thread: dict[int, Services] = {}
        # Told once, when this process begins to learn.
        self.ready_fd: int | None = None

    def tell_ready(self) -> None:
        """Tell the process that started this worker that it begins to learn."""
        ready_fd, self.ready_fd = self.ready_fd, None
        if ready_fd is not None:
            with suppress(OSError):  # nobody waits any more
                os.write(ready_fd, b"1")
            os.close(ready_fd)

    def get(self) -> Services:
        """Return the stages of this thread, which share a store with the others of its process."""
        from .services import ProcessParts, Services

        with self._lock:
            if self._pid != os.getpid():
                self._parts, self._by_thread = ProcessParts(self._settings), {}
                self._pid = os.getpid()
            thread = get_ident()
            if thread not in self._by_thread:
                self._by_thread[thread] = Services(self._settings, self._app, self._parts)
            return self._by_thread[thread]

    def close(self) -> None:
        """Say that this process ends."""
        if self._parts is not None and self._pid == os.getpid():
            with suppress(redis.RedisError):
                self._parts.sign_of_life.withdraw()


class TrackrecordApp(Celery):
    """The Celery app whose tasks find their clients in `stages`.

    Args:
        settings: validated settings.
    """

    def __init__(self, settings: DaemonSettings) -> None:
        # Without Celery's fixups: Django's puts the working folder in front of `sys.path`.
        super().__init__("trackrecord", set_as_current=False, fixups=[])
        self.stages = ServicesOfProcess(settings, self)
