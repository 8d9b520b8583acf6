"""Timing calls one by one."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from .percentiles import percentile


@dataclass(frozen=True)
class Latency:
    """The durations of calls, in microseconds.

    Attributes:
        p50: the median.
        p99: the 99th percentile.
        longest: the longest call.
        after_pause: the median of the first calls after a pause: the processor has slept, and has
            to fetch the code again.
    """

    p50: float
    p99: float
    longest: float
    after_pause: float

    @classmethod
    def of(cls, nanoseconds: list[int], burst: int) -> "Latency":
        """Return the latency of single calls, made in bursts of this length."""
        return cls(
            percentile(nanoseconds, 0.50) / 1000,
            percentile(nanoseconds, 0.99) / 1000,
            max(nanoseconds) / 1000,
            percentile(nanoseconds[::burst], 0.50) / 1000,
        )

    def as_dict(self) -> dict[str, float]:
        """Return the values as a dict, to send to another process."""
        return asdict(self)


def time_calls(
    call: Callable[[int], object],
    count: int,
    *,
    burst: int = 1,
    pause_s: float = 0.0,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Latency:
    """Time a call many times, with a pause after each burst.

    Args:
        call: is given its number.
        count: how many calls.
        burst: calls in a row.
        pause_s: the pause between bursts.
        clock: in nanoseconds; `time.process_time_ns` for processor time.
    """
    took = []
    for start in range(0, count, burst):
        for number in range(start, min(count, start + burst)):
            before = clock()
            call(number)
            took.append(clock() - before)
        if pause_s:
            time.sleep(pause_s)
    return Latency.of(took, burst)


def time_by_turns(
    calls: Mapping[str, Callable[[], object]],
    count: int,
    *,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> dict[str, Latency]:
    """Time calls that are compared, one after the other: what else the machine does hits all.

    Args:
        calls: by name.
        count: how many of each.
        clock: as for `time_calls`.
    """
    took: dict[str, list[int]] = {name: [] for name in calls}
    for _ in range(count):
        for name, call in calls.items():
            before = clock()
            call()
            took[name].append(clock() - before)
    return {name: Latency.of(durations, 1) for name, durations in took.items()}
