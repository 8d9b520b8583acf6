"""The time line of a run: when each of its calls was made, and how long it took."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from trackrecord.resources.reports.runs import CallDetails

# How the bars are to be read: by the clock, one after the other by their durations, or as a plain
# sequence, because nobody reported a time.
TimeLineKind = Literal["clock", "durations", "sequence"]

_NARROWEST: Final = 0.004


@dataclass(frozen=True)
class Bar:
    """One call on the time line.

    Attributes:
        number: its number among the run's calls, from 1.
        call: the call.
        start: where its bar begins, 0..1.
        width: how wide its bar is, 0..1.
        failed: whether the call failed.
        parallel: whether another call was running when it began.
        after_s: seconds from the beginning of the first call; None where it is not known.
    """

    number: int
    call: CallDetails
    start: float
    width: float
    failed: bool
    parallel: bool = False
    after_s: float | None = None


@dataclass(frozen=True)
class TimeLine:
    """The calls of a run.

    Attributes:
        kind: how the bars are to be read.
        bars: the calls in the order of the report, by the clock in the order of their beginning.
        span_s: seconds from the first beginning to the last end; None where no time is known.
    """

    kind: TimeLineKind
    bars: tuple[Bar, ...]
    span_s: float | None = None


def time_line_of(calls: Sequence[CallDetails]) -> TimeLine:
    """Return the time line of a run's calls.

    By the clock if each call has its moment, else by the durations that are known, one call after
    the other, else as a plain sequence.
    """
    moments = [call.started_at for call in calls]
    if calls and all(moment is not None for moment in moments):
        spans = [
            (moment, moment + (call.duration_ms or 0.0) / 1000)
            for moment, call in zip(moments, calls, strict=True)
            if moment is not None
        ]
        if spans and max(end for _, end in spans) > min(begin for begin, _ in spans):
            return _by_clock(calls, spans)
    if any(call.duration_ms for call in calls):
        return _by_durations(calls)
    width = 1 / max(1, len(calls))
    return TimeLine(
        "sequence",
        tuple(
            Bar(number + 1, call, number * width, width, call.failed)
            for number, call in enumerate(calls)
        ),
    )


def _by_clock(calls: Sequence[CallDetails], spans: Sequence[tuple[float, float]]) -> TimeLine:
    first = min(begin for begin, _ in spans)
    last = max(end for _, end in spans)
    bars = []
    latest = first
    for number in sorted(range(len(calls)), key=lambda each: (spans[each], each)):
        begin, end = spans[number]
        start, width = _within((begin - first) / (last - first), (end - begin) / (last - first))
        call = calls[number]
        is_parallel = begin < latest
        bars.append(Bar(number + 1, call, start, width, call.failed, is_parallel, begin - first))
        latest = max(latest, end)
    return TimeLine("clock", tuple(bars), last - first)


def _by_durations(calls: Sequence[CallDetails]) -> TimeLine:
    total = sum(call.duration_ms or 0.0 for call in calls)
    bars = []
    before = 0.0
    for number, call in enumerate(calls, start=1):
        took = call.duration_ms or 0.0
        start, width = _within(before / total, took / total)
        bars.append(Bar(number, call, start, width, call.failed))
        before += took
    return TimeLine("durations", tuple(bars), total / 1000)


def _within(start: float, width: float) -> tuple[float, float]:
    """Return a bar that can be seen and lies within the line."""
    wide = min(1.0, max(_NARROWEST, width))
    return max(0.0, min(start, 1.0 - wide)), wide
