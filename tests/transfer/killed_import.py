"""An import that kills its own process before the statement, or the commit, of a given number."""

import os
import signal
from itertools import count
from pathlib import Path

from sqlalchemy import event

from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.database.engine import connect_store
from trackrecord.store.transfer.importing import import_project


def import_until(number: int, url: str, path: str) -> None:
    """Import an export, but survive fewer steps than `number`."""
    engine = connect_store(url)
    steps = count(1)

    def die_when_it_is_time(*_args: object) -> None:
        """Count a step; the last one is not survived."""
        if next(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(engine, "before_cursor_execute", die_when_it_is_time)
    event.listen(engine, "commit", die_when_it_is_time)
    memories = Rules().memories
    import_project(engine, Path(path), None, memories, now=100.0, report=lambda _at: None)
