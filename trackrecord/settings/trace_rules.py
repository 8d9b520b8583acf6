"""The rules of how long a trace waits for spans, and how many of them are kept."""

from dataclasses import dataclass

from trackrecord.learning.numbers.checks import Inner, require

_MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class TraceRules:
    """The rules of the buffer of traces.

    Attributes:
        settle_s: how long a trace is waited for after its root ended: the other spans may come from
            other processes, in batches of their own.
        idle_s: how long a trace whose root has not come is waited for after its last span.
        keep_s: how long a trace is kept after its last span, for late spans, and for what goes on
            after a person's answer.
        max_traces: maximum number of traces that are kept.
        max_trace_bytes: maximum size of one trace; what goes beyond it is rejected.
        max_bytes: maximum size of all traces on disk. Beyond it exporters are asked to wait.
    """

    settle_s: Inner[float] = 3.0
    idle_s: float = 300.0
    keep_s: Inner[float] = 86_400.0
    max_traces: Inner[int] = 10_000
    max_trace_bytes: Inner[int] = 16 * _MIB
    max_bytes: Inner[int] = 256 * _MIB

    def __post_init__(self) -> None:
        require(self.idle_s >= 0, "idle_s must not be negative")
