"""A drain that kills its own process at a chosen point.

Usage: dying_drain.py POINT, with the settings in the environment. POINT is the number of a
statement, or "commit", "acknowledge", "acknowledged", "refresh". Nothing is cleaned up.
"""

import os
import signal
import sys
from collections.abc import Iterable
from itertools import count
from typing import Any

from sqlalchemy import event

from trackrecord.settings import load_settings
from trackrecord_worker.app import create_app
from trackrecord_worker.refresh import RankingsRefresher
from trackrecord_worker.stages import Stages
from trackrecord_worker.stream import OutcomeStream

point = sys.argv[1]


def die(*_args: object) -> None:
    """What a power cut does."""
    os.kill(os.getpid(), signal.SIGKILL)


class DyingStream(OutcomeStream):
    """Dies before or after acknowledging."""

    def acknowledge(self, entry_ids: Iterable[bytes]) -> None:
        """Once committed."""
        if point == "acknowledge":
            die()
        super().acknowledge(entry_ids)
        if point == "acknowledged":
            die()


class DyingRefresher(RankingsRefresher):
    """Dies before the rankings are refreshed."""

    def note_changes(self, projects: Iterable[str]) -> None:
        """Once acknowledged and set aside."""
        if point == "refresh":
            die()
        super().note_changes(projects)


settings = load_settings()
stages = Stages(settings, create_app(settings))
stages.drain._background._stream = DyingStream(stages.redis, settings.keys)
stages.drain._refresher = DyingRefresher(stages.engine, stages.redis, settings, stages.recogniser)
if point == "commit":
    event.listen(stages.engine, "commit", die)
elif point.isdecimal():
    statements = count(1)

    def die_at_statement(*_args: Any) -> None:
        """The last statement is not survived."""
        if next(statements) == int(point):
            die()

    event.listen(stages.engine, "before_cursor_execute", die_at_statement)
stages.drain.run()
