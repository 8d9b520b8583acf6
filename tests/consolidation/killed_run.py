"""A run that kills its own process before the statement, or the commit, of a given number."""

import os
import signal
from itertools import count

from sqlalchemy import Engine, event

from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.store.database.engine import connect_store
from trackrecord_consolidation.run import consolidate


def die_at(engine: Engine, number: int) -> None:
    """Kill this process before the statement, or the commit, of a given number."""
    steps = count(1)

    def die_when_it_is_time(*_args: object) -> None:
        """Count a step; the last one is not survived."""
        if next(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(engine, "before_cursor_execute", die_when_it_is_time)
    event.listen(engine, "commit", die_when_it_is_time)


def run_until(number: int, url: str) -> None:
    """Consolidate the store, but survive fewer steps than `number`; nothing is cleaned up."""
    engine = connect_store(url)
    die_at(engine, number)
    consolidate(
        engine, CompetenceRules(), "default", now=100.0, actor="test", episodes_at_once=4,
        turn_s=0.01,
    )  # fmt: skip
