"""The traces in the buffer, as far as needed to tell which of them are due."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from trackrecord.learning.text.times import believed_age
from trackrecord.settings.daemon_settings import TraceRules

from .trace_store import WaitingTrace


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """A trace that is to be published.

    Attributes:
        trace: its id.
        version: how it stood when this was said.
        is_idle: whether nothing more is expected.
        is_early: whether more was expected.
    """

    trace: str
    version: int
    is_idle: bool
    is_early: bool


class WaitingTraces:
    """All traces that are kept, the longest silent first.

    Args:
        rules: how long is waited.
        kept: those on disk, the longest silent first.
    """

    def __init__(self, rules: TraceRules, kept: Iterable[WaitingTrace]) -> None:
        self._rules = rules
        self._traces = OrderedDict((each.trace, each) for each in kept)

    def __len__(self) -> int:
        return len(self._traces)

    def get(self, trace: str) -> WaitingTrace | None:
        """Return the state of a trace; None if it is unknown."""
        return self._traces.get(trace)

    def after(self, trace: str, now: float) -> WaitingTrace:
        """Return a trace's state after a new span; changes nothing yet."""
        old = self._traces.get(trace)
        if old is None:
            return WaitingTrace(trace=trace, first_at=now, last_at=now)
        return msgspec.structs.replace(
            old, last_at=now, is_published=False, version=old.version + 1
        )

    def put(self, waiting: WaitingTrace) -> None:
        """Store the new state of a trace."""
        self._traces[waiting.trace] = waiting
        self._traces.move_to_end(waiting.trace)

    def press(self, trace: str) -> bool:
        """Have a trace published again soon; return whether it is kept."""
        waiting = self._traces.get(trace)
        if waiting is None:
            return False
        # One that has not ended is published in its time, with what presses.
        waiting.is_pressed = waiting.is_pressed or waiting.is_published
        waiting.is_published = False
        waiting.version += 1
        return True

    def join(self, trace: str, earlier: str, most_bytes: int) -> WaitingTrace | None:
        """Have a trace published as a part of an earlier one; return that, if it has room."""
        own, other = self._traces.get(trace), self._traces.get(earlier)
        if own is None or other is None or own is other or own.bytes + other.bytes > most_bytes:
            return None
        other.bytes += own.bytes
        other.last_at = max(own.last_at, other.last_at)
        other.is_pressed, other.is_published = True, False
        other.version += 1
        self.forget([trace])
        return other

    def press_oldest(self, number: int) -> None:
        """Have some traces published as they are, the longest silent first."""
        for _, waiting in zip(range(number), self._traces.values(), strict=False):
            waiting.is_pressed = True

    def due(self, now: float, most: int) -> list[Due]:
        """Return traces that are to be published, at most so many."""
        too_many = len(self._traces) - self._rules.max_traces
        all_due = (
            self._due(trace, waiting, _silent_s(waiting, now), is_over=position < too_many)
            for position, (trace, waiting) in enumerate(self._traces.items())
            if not waiting.is_published
        )
        return list(islice((due for due in all_due if due is not None), most))

    def _due(
        self, trace: str, waiting: WaitingTrace, silent: float, *, is_over: bool
    ) -> Due | None:
        is_idle = silent >= self._rules.idle_s
        is_whole = waiting.has_ended and silent >= self._rules.settle_s
        if not (is_whole or is_idle or waiting.is_pressed or is_over):
            return None
        return Due(
            trace=trace,
            version=waiting.version,
            is_idle=is_idle,
            is_early=not (is_whole or is_idle or waiting.has_ended),
        )

    def has_unpublished(self) -> bool:
        """Return whether a trace is to be published, now or later."""
        return not all(waiting.is_published for waiting in self._traces.values())

    def settle(self, due: Due) -> WaitingTrace | None:
        """Note that a trace was published; None if more has come in the meantime."""
        waiting = self._traces.get(due.trace)
        if waiting is None or waiting.version != due.version:
            return None
        waiting.is_published = True
        waiting.is_pressed = False
        return waiting

    def old(self, now: float) -> list[str]:
        """Return the traces that need not be kept any longer."""
        too_many = len(self._traces) - self._rules.max_traces
        return [
            trace
            for position, (trace, waiting) in enumerate(self._traces.items())
            if waiting.is_published
            and (position < too_many or _silent_s(waiting, now) >= self._rules.keep_s)
        ]

    def published(self, most: int) -> list[str]:
        """Return traces that are kept only for late spans, the longest silent first."""
        return [trace for trace, waiting in self._traces.items() if waiting.is_published][:most]

    def forget(self, traces: Sequence[str]) -> None:
        """Forget traces."""
        for trace in traces:
            self._traces.pop(trace, None)


def _silent_s(waiting: WaitingTrace, now: float) -> float:
    """Return for how many seconds nothing of a trace has come."""
    return believed_age(now - waiting.last_at)
