"""A drain that kills its own process at a chosen point."""

import os
import signal
from collections.abc import Iterable
from itertools import count
from typing import Any

from sqlalchemy import event

from trackrecord.redis.fleet_counts import Counts
from trackrecord.settings.settings import Settings
from trackrecord_worker.app import create_app
from trackrecord_worker.caching.refresh import RankingsRefresher
from trackrecord_worker.learning.stream import OutcomeStream
from trackrecord_worker.services import Services


def drain_until(point: str, settings: Settings) -> None:
    """Drain the stream until the process dies; nothing is cleaned up.

    Args:
        point: the number of a statement, or "commit", "acknowledge", "acknowledged", "refresh".
        settings: of the worker.
    """

    class DyingStream(OutcomeStream):
        """Dies before or after acknowledging."""

        def acknowledge(self, entry_ids: Iterable[bytes], counts: Counts | None = None) -> None:
            """Once committed."""
            if point == "acknowledge":
                _die()
            super().acknowledge(entry_ids, counts)
            if point == "acknowledged":
                _die()

    class DyingRefresher(RankingsRefresher):
        """Dies before the rankings are refreshed."""

        def note_changes(self, projects: Iterable[str]) -> None:
            """Once acknowledged and set aside."""
            if point == "refresh":
                _die()
            super().note_changes(projects)

    stages = Services(settings, create_app(settings))
    stages.drain._background._stream = DyingStream(stages.redis, settings.keys)
    stages.drain._refresher = DyingRefresher(stages.engine, stages.redis, settings)
    if point == "commit":
        event.listen(stages.engine, "commit", _die)
    elif point.isdecimal():
        statements = count(1)

        def die_at_statement(*_args: Any) -> None:
            """The last statement is not survived."""
            if next(statements) == int(point):
                _die()

        event.listen(stages.engine, "before_cursor_execute", die_at_statement)
    stages.drain.run()


def _die(*_args: object) -> None:
    """Die as at a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)
