"""How long spans are waited for, and how much of them is kept."""

import msgspec

MIB = 1024 * 1024


class TraceRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of the buffer of traces.

    Attributes:
        settle_s: how long after its root ended a trace is waited for: its other spans come from
            other processes, in batches of their own.
        idle_s: how long after its last span a trace without a root is waited for.
        keep_s: how long a trace is kept after that, so that late spans are added to all others.
        remember_s: how long it is known which outcomes a trace became, for scores that come later.
        max_traces: the number of traces that wait at once.
        max_trace_bytes: the size of one trace; what goes beyond is rejected.
        max_bytes: the size of the buffer on disk.
    """

    settle_s: float = 3.0
    idle_s: float = 300.0
    keep_s: float = 900.0
    remember_s: float = 30 * 86_400.0
    max_traces: int = 10_000
    max_trace_bytes: int = 16 * MIB
    max_bytes: int = 256 * MIB
