"""Asks Redis what is known of tasks in flight, for one process; waits no longer than is allowed."""

from __future__ import annotations

# As for outcomes: redis-py imports these two when it first connects, which a fork may interrupt.
import email.parser  # noqa: F401 - as said above
import encodings.idna  # noqa: F401 - as said above
import os
import threading
import time
from dataclasses import dataclass

import redis

from trackrecord.agent_settings import AgentSettings, load_agent_settings
from trackrecord.errors import ServerUnavailable
from trackrecord.inflight.retry_text import retry_text
from trackrecord.inflight.store import InFlightStore
from trackrecord.learning.text.language import Language
from trackrecord.redis_client import agent_client

from .fork_hooks import Step, call_in_child
from .notices import Notices


@dataclass
class InFlightReader:
    """Reads and resolves errors for one process.

    Attributes:
        settings: where Redis is, and how long to wait for it.
    """

    settings: AgentSettings

    def __post_init__(self) -> None:
        self._client: redis.Redis = agent_client(self.settings)
        self._notices = Notices()
        self._retry_at = 0.0

    def store(self, project: str | None) -> InFlightStore:
        """The tasks in flight of a project, the settings' own when none is given."""
        return InFlightStore(
            self._client,
            self.settings.keys,
            project or self.settings.project,
            self.settings.errors,
        )

    def context(
        self, task_id: str, project: str | None, *, include_resolved: bool, language: Language
    ) -> str:
        """The text for a retry's prompt; "" also while Redis is away, which the log then says."""
        if time.monotonic() < self._retry_at:
            return ""
        try:
            task = self.store(project).read(task_id)
        except ServerUnavailable as error:
            self._retry_at = time.monotonic() + self.settings.retry_after_s
            self._notices.say("redis_away", f"{error}; until then prompts lack earlier errors")
            return ""
        return retry_text(
            task, self.settings.errors, include_resolved=include_resolved, language=language
        )


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
