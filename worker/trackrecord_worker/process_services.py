"""The Celery app, and what its tasks get their clients from.

Beat makes the same app as a worker, and runs none of its tasks: what they need is imported where
a worker starts.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from celery import Celery

from trackrecord.settings.daemon_settings import DaemonSettings

if TYPE_CHECKING:
    from .services import Services


class ServicesOfProcess:
    """Provide the stages of the current process; a forked child builds its own."""

    def __init__(self, settings: DaemonSettings, app: Celery) -> None:
        self._settings = settings
        self._app = app
        self._pid = 0
        self._stages: Services | None = None

    def get(self) -> Services:
        """Return the stages of this process."""
        if self._stages is None or self._pid != os.getpid():
            from .services import Services

            self._pid = os.getpid()
            self._stages = Services(self._settings, self._app)
        return self._stages

    def close(self) -> None:
        """Send the last spans of this process, before it ends."""
        if self._stages is not None and self._pid == os.getpid():
            self._stages.spans.close()


class TrackrecordApp(Celery):
    """The Celery app whose tasks find their clients in `stages`.

    Args:
        settings: validated settings.
    """

    def __init__(self, settings: DaemonSettings) -> None:
        # Without Celery's fixups: Django's puts the working folder in front of `sys.path`.
        super().__init__("trackrecord", set_as_current=False, fixups=[])
        self.stages = ServicesOfProcess(settings, self)
