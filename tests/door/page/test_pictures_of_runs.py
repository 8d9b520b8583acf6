"""The picture of a procedure and the time line of a run: pure, readable, and within bounds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.competences.episodes.flow import flow_of
from trackrecord.resources.reports.runs import CallDetails
from trackrecord.wire.outcome import ToolCall
from trackrecord_door.page.drawings.procedure_graph import picture_of
from trackrecord_door.page.drawings.time_line import time_line_of

_tools = st.sampled_from([f"tool_{number}" for number in range(18)])
_runs = st.lists(
    st.tuples(st.lists(st.tuples(_tools, st.booleans()), max_size=20), st.booleans()), max_size=6
)
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


def went(*tools, success=True):
    steps = tuple(RunStep(tool.strip("!"), "it broke" if "!" in tool else None) for tool in tools)
    return Run(outcome=0, task_id="t", ended_at=0.0, success=success, steps=steps)


def test_a_picture_shows_orders_failures_and_ends():
    """Links are labelled with how often they were taken, and the more often the thicker."""
    flow = flow_of(
        [went("find", "book"), went("find", "book!", "book"), went("find", success=False)]
    )
    picture = picture_of(flow)
    boxes = {box.name: box for box in picture.boxes}
    assert set(boxes) == {"Start", "find", "book", "Goal reached", "Goal not reached"}
    assert (boxes["book"].says, boxes["book"].fails) == ("3 calls, 1 failed", True)
    assert (boxes["find"].says, boxes["find"].fails) == ("3 calls", False)
    moves = {move.title: move for move in picture.moves}
    again = moves["book was called again once, in 1 run, of which 1 reached their goal"]
    ahead = moves["book followed find 2 times, in 2 runs, of which 2 reached their goal"]
    assert (again.leads_back, ahead.leads_back, ahead.label) == (True, False, "2×")
    assert ahead.thickness > again.thickness
    assert [move.label for move in picture.moves if move.fails] == ["1×"]
    assert "most failed calls: book, 1 of 3" in picture.says


def test_nothing_is_drawn_without_a_call():
    assert picture_of(flow_of([])) is None


def test_a_long_name_is_shortened_and_kept_in_the_title():
    (box,) = [box for box in picture_of(flow_of([went("工具" * 60)])).boxes if box.kind == "step"]
    assert len(box.name) < 20
    assert box.whole_name == "工具" * 60
    assert box.place.width < 250


@settings(max_examples=40)
@given(_runs)
def test_each_tool_stands_in_the_picture_and_most_moves_do(given_runs):
    """However the runs went: at most 15 steps, and few enough links to be read."""
    flow = flow_of(
        Run(outcome=0, task_id="t", ended_at=0.0, success=success, steps=tuple(
            RunStep(tool, "x" if failed else None) for tool, failed in steps
        ))
        for steps, success in given_runs
    )  # fmt: skip
    picture = picture_of(flow)
    if picture is None:
        assert flow.runs == 0
        return
    steps = [box for box in picture.boxes if box.kind == "step"]
    assert len(steps) == len(flow.steps) <= 15
    assert len(picture.moves) <= 4 * len(picture.boxes) + 2
    assert picture.shown <= picture.all
    assert picture_of(flow) == picture


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
