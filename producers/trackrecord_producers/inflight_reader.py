"""Asks Redis what is known of tasks in flight, for one process; waits no longer than is allowed."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass

import redis

from trackrecord.agent_settings import AgentSettings, load_agent_settings
from trackrecord.errors import ServerUnavailable
from trackrecord.inflight.errors import TaskInFlight
from trackrecord.inflight.store import InFlightStore
from trackrecord.redis_client import agent_client

from .fork_hooks import Step, call_in_child


@dataclass
class InFlightReader:
    """Reads and resolves errors for one process.

    Attributes:
        settings: where Redis is, and how long to wait for it.
    """

    settings: AgentSettings

    def __post_init__(self) -> None:
        self._client: redis.Redis = agent_client(self.settings)
        self._retry_at = 0.0

    def store(self, project: str | None) -> InFlightStore:
        """The tasks in flight of a project, the settings' own when none is given."""
        return InFlightStore(
            self._client,
            self.settings.keys,
            project or self.settings.project,
            self.settings.errors,
        )

    def task(self, task_id: str, project: str | None) -> TaskInFlight:
        """What is on record of a task; not asked for again too soon once Redis was away.

        Raises:
            InvalidErrorReport: there can be no such task.
            ServerUnavailable: Redis cannot be reached.
        """
        if time.monotonic() < self._retry_at:
            message = "Redis could not be reached a moment ago, and is not asked again yet"
            raise ServerUnavailable(message)
        try:
            return self.store(project).read(task_id)
        except ServerUnavailable:
            self._retry_at = time.monotonic() + self.settings.retry_after_s
            raise


_lock = threading.Lock()
_readers: dict[int, InFlightReader] = {}


def process_reader() -> InFlightReader:
    """The reader of this process.

    Raises:
        SettingsError: a setting is wrong.
    """
    reader = _readers.get(os.getpid())
    if reader is None:
        with _lock:
            reader = _readers[os.getpid()] = InFlightReader(load_agent_settings())
    return reader


def _begin_in_child() -> None:
    # Another thread may have held it while this process was forked.
    global _lock
    _lock = threading.Lock()
    _readers.clear()


call_in_child(Step.READERS, _begin_in_child)
