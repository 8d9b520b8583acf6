"""Counting, for the whole fleet, what no batch is acknowledged with."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from trackrecord.fleet_counts import Ending, consolidation_counts
from trackrecord.redis_keys import Keys


@contextmanager
def counted_consolidation(client: redis.Redis, keys: Keys) -> Iterator[None]:
    """Count the consolidation of all projects in the block: how it ends, and how long it takes."""
    started = time.perf_counter()
    ending: Ending = "failed"
    try:
        yield
        ending = "finished"
    finally:
        _add(client, keys, ending, time.perf_counter() - started)


def _add(client: redis.Redis, keys: Keys, ending: Ending, seconds: float) -> None:
    with client.pipeline(transaction=True) as pipe:
        for name, number in consolidation_counts(ending, seconds).items():
            pipe.hincrby(keys.counters, name, number)
        pipe.execute()
