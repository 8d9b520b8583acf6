"""The flow of a procedure: counted from its runs, whatever their order."""

from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.advice.runs.runs import Run, RunStep
from trackrecord.learning.competences.episodes.flow import MOST_TOOLS, OTHERS, FlowMove, flow_of

_steps = st.builds(
    RunStep,
    st.sampled_from([f"t{number}" for number in range(20)]),
    st.sampled_from([None, "it broke"]),
    actor=st.sampled_from(["agent", "user"]),
)
_runs = st.lists(st.tuples(st.lists(_steps, max_size=25), st.booleans()), max_size=8)


def runs(given):
    return [
        Run(outcome=number, task_id="t", ended_at=0.0, success=success, steps=tuple(steps))
        for number, (steps, success) in enumerate(given)
    ]


def went(*tools, success=True):
    steps = tuple(RunStep(tool.strip("!"), "it broke" if "!" in tool else None) for tool in tools)
    return Run(outcome=0, task_id="t", ended_at=0.0, success=success, steps=steps)


def test_steps_moves_failures_and_ends_are_counted():
    flow = flow_of(
        [went("find", "book!", "book"), went("find", "book"), went("find!", success=False)]
    )
    find, book = flow.steps
    assert (find.tool, find.runs, find.calls, find.failed, find.ends_failed) == ("find", 3, 3, 1, 1)
    assert (book.tool, book.runs, book.calls, book.failed, book.ends) == ("book", 2, 3, 1, 2)
    assert book.failed_share == 1 / 3
    assert FlowMove(None, "find", 3, 3, 2) in flow.moves
    assert FlowMove("find", "book", 2, 2, 2) in flow.moves
    assert FlowMove("book", "book", 1, 1, 1) in flow.moves
    assert FlowMove("find", None, 1, 1, 0) in flow.moves


def test_of_many_tools_the_least_used_are_counted_as_one():
    flow = flow_of([went(*(f"t{number}" for number in range(20)))])
    assert len(flow.steps) == MOST_TOOLS
    (others,) = [step for step in flow.steps if step.tool == OTHERS]
    assert (others.calls, flow.folded) == (6, 6)


def test_just_as_many_tools_as_are_told_apart_are_told_apart():
    flow = flow_of([went(*(f"t{number}" for number in range(MOST_TOOLS)))])
    assert (len(flow.steps), flow.folded) == (MOST_TOOLS, 0)


@given(_runs)
def test_what_leads_to_a_step_leads_on_from_it(given_runs):
    """Each call is reached once and left once, and each run begins and ends once."""
    flow = flow_of(runs(given_runs))
    for step in flow.steps:
        assert sum(move.times for move in flow.moves if move.target == step.tool) == step.calls
        assert sum(move.times for move in flow.moves if move.origin == step.tool) == step.calls
    assert sum(move.times for move in flow.moves if move.origin is None) == flow.runs
    assert sum(step.ends for step in flow.steps) == flow.runs
    assert sum(step.ends - step.ends_failed for step in flow.steps) == flow.succeeded


@given(_runs)
def test_the_order_of_the_runs_does_not_matter(given_runs):
    found = runs(given_runs)
    one, other = flow_of(found), flow_of(found[::-1])
    assert (one.moves, set(one.steps)) == (other.moves, set(other.steps))
