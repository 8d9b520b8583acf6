"""A move that kills its own process before the statement, or the commit, of a given number."""

import os
import signal
from itertools import count

from sqlalchemy import event

from trackrecord.store.database.engine import connect_store
from trackrecord.store.transfer import rows
from trackrecord.store.transfer.move import move_store
from trackrecord.store.transfer.places import StorePlace


def move_until(number: int, source_url: str, target_url: str) -> None:
    """Move a store in small batches, but survive fewer steps than `number`."""
    rows._MOST_ROWS = 3
    engines = [connect_store(url) for url in (source_url, target_url)]
    steps = count(1)

    def die_when_it_is_time(*_args: object) -> None:
        """Count a step; the last one is not survived."""
        if next(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    for engine in engines:
        event.listen(engine, "before_cursor_execute", die_when_it_is_time)
        event.listen(engine, "commit", die_when_it_is_time)
    places = [StorePlace(engine, name) for engine, name in zip(engines, ("a", "b"), strict=True)]
    move_store(*places, now=100.0, report=lambda *_args: None)
