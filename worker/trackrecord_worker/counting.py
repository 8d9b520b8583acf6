"""Counting, for the whole fleet, what no batch is acknowledged with."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from trackrecord.fleet_counts import Ending, consolidation_counts

from .services import Services


@contextmanager
def counted_consolidation(stages: Services) -> Iterator[None]:
    """Count the consolidation of all projects in the block: how it ends, and how long it takes."""
    started = time.perf_counter()
    ending: Ending = "failed"
    try:
        yield
        ending = "finished"
    finally:
        failed = None if ending == "finished" else "consolidation"
        stages.spans.note("consolidate", started, failed=failed)
        _add(stages, ending, time.perf_counter() - started)


def _add(stages: Services, ending: Ending, seconds: float) -> None:
    with stages.redis.pipeline(transaction=True) as pipe:
        for name, number in consolidation_counts(ending, seconds).items():
            pipe.hincrby(stages.settings.keys.counters, name, number)
        pipe.execute()
