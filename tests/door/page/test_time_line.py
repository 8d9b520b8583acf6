"""The time line of a run: pure, readable, and within bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.resources.reports.runs import CallDetails
from trackrecord.wire.outcome import ToolCall
from trackrecord_door.page.drawings.time_line import time_line_of

_tools = st.sampled_from([f"tool_{number}" for number in range(18)])
_calls = st.lists(
    st.builds(
        ToolCall,
        tool=_tools,
        timestamp=st.one_of(st.none(), st.floats(1e9, 1e9 + 1e6)),
        duration_ms=st.one_of(st.none(), st.floats(0, 1e8)),
    ),
    max_size=20,
)


def line_of(calls):
    return time_line_of([CallDetails.of(each) for each in calls])


def test_calls_by_the_clock_may_run_in_parallel():
    line = line_of(
        [
            ToolCall(tool="b", timestamp=1e9 + 4, duration_ms=6000, ok=False),
            ToolCall(tool="a", timestamp=1e9, duration_ms=5000),
        ]
    )
    assert (line.kind, line.span_s) == ("clock", 10.0)
    first, second = line.bars
    assert (first.call.tool, first.number, first.start, first.width) == ("a", 2, 0.0, 0.5)
    assert (second.failed, second.parallel, second.start, second.width) == (True, True, 0.4, 0.6)


@pytest.mark.parametrize(
    ("calls", "kind", "starts"),
    [
        ([ToolCall(duration_ms=1000), ToolCall(duration_ms=3000)], "durations", [0.0, 0.25]),
        ([ToolCall(timestamp=1e9, duration_ms=1000), ToolCall(duration_ms=1000)], "durations",
         [0.0, 0.5]),
        ([ToolCall(), ToolCall()], "sequence", [0.0, 0.5]),
        ([ToolCall(timestamp=1e9), ToolCall(timestamp=1e9)], "sequence", [0.0, 0.5]),
        ([ToolCall(timestamp="yesterday"), ToolCall(timestamp="today")], "sequence", [0.0, 0.5]),
    ],
)  # fmt: skip
def test_what_has_no_times_is_a_plain_sequence(calls, kind, starts):
    line = line_of(calls)
    assert (line.kind, [bar.start for bar in line.bars]) == (kind, starts)


@given(_calls)
def test_every_bar_lies_within_the_line(calls):
    """And each call has its bar, under its own number."""
    line = line_of(calls)
    assert sorted(bar.number for bar in line.bars) == [*range(1, len(calls) + 1)]
    for bar in line.bars:
        assert bar.start >= 0
        assert bar.width > 0
        assert bar.start + bar.width <= 1 + 1e-9
        assert bar.call == CallDetails.of(calls[bar.number - 1])
