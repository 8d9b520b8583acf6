"""Read tasks in flight from Redis, for one process; wait no longer than the settings allow."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass

import redis

from trackrecord.errors import ServerUnavailable
from trackrecord.inflight.errors import TaskInFlight
from trackrecord.inflight.store import InFlightStore
from trackrecord.redis.client import agent_client
from trackrecord.settings.agent_settings import AgentSettings, load_agent_settings

from ..delivery.fork_hooks import HookStep, call_in_child


@dataclass
class InFlightReader:
    """Read and resolve errors for one process.

    Attributes:
        settings: the address of Redis, and how long to wait for it.
    """

    settings: AgentSettings

    def __post_init__(self) -> None:
        self._client: redis.Redis = agent_client(self.settings)
        self._retry_at = 0.0

    def store(self, project: str | None) -> InFlightStore:
        """Return the tasks in flight of a project, by default the settings' project."""
        return InFlightStore(
            self._client,
            self.settings.keys,
            project or self.settings.project,
            self.settings.errors,
        )

    def task(self, task_id: str, project: str | None) -> TaskInFlight:
        """Return the record of a task; after an outage of Redis, do not read again too soon.

        Raises:
            InvalidErrorReport: the task's id is invalid.
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


def process_errors_reader() -> InFlightReader:
    """Return the reader of this process.

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


call_in_child(HookStep.READERS, _begin_in_child)
