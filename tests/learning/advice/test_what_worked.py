"""What can be handed out as what worked, and who has got the tools for it."""

import pytest
from msgspec import structs

from tests.learning.advice.histories import run
from trackrecord.learning.advice.estimates.counting import usual_orders
from trackrecord.learning.advice.recipes import gives_up, recipes_among
from trackrecord.learning.advice.runs.agent_tools import tools_of_agents


def recipes(runs):
    return recipes_among(usual_orders(runs), runs)


def times(count, first, *tools, success=True):
    return [run(first + number, *tools, success=success) for number in range(count)]


@pytest.mark.parametrize(
    "tool",
    ["transfer_to_human_agents", "escalate_ticket", "giveUp", "handoff_to_operator", "转人工"],
)
def test_handing_over_is_giving_up(tool):
    """By its name; a procedure with it worked for nobody who wants the task done."""
    assert gives_up(tool)
    assert recipes(times(5, 0, "look", tool)) == frozenset()


@pytest.mark.parametrize(
    "tool", ["transfer_money", "transfer_to_refund_agent", "ask_human", "look"]
)
def test_other_tools_do_not_give_up(tool):
    """Money is transferred, other agents are routed to, and people are asked."""
    assert not gives_up(tool)
    assert recipes(times(5, 0, tool, "book")) == {"+".join(sorted((tool, "book")))}


def test_an_order_is_kept_by_most_of_the_successes():
    """Not only the order of first use: several calls in a row are one, what comes back is not."""
    kept = times(3, 0, "look", "look", "book")
    back = times(3, 10, "look", "book", "look")
    assert recipes(kept + back[:2]) == {"book+look"}
    assert recipes(kept + back) == frozenset()


def test_a_tool_that_only_failures_end_in_never_worked():
    """One in the middle of what works is none, although failures stop at it."""
    lucky = times(6, 0, "look", "guess", "book")
    fine = times(20, 20, "find", "book")
    lost = times(20, 50, "look", "guess", success=False)
    assert recipes(lucky + fine + lost) == {"book+find"}
    halfway = times(20, 50, "find", success=False)
    assert recipes(lucky + fine + lost + halfway[:12]) == {"book+find"}


def of(source, runs):
    return [structs.replace(each, source=source) for each in runs]


def test_agents_of_one_fleet_share_their_tools_and_those_of_another_kind_do_not():
    """However few runs of one agent there are, as long as chance explains what it did not use."""
    fleet = of("a", times(9, 0, "find", "book") + times(9, 10, "find")) + of(
        "b", times(2, 30, "find")
    )
    assert tools_of_agents(fleet) == {"a": ("book", "find"), "b": ("book", "find")}
    codex = of("codex", times(20, 0, "shell:pytest", "apply_patch"))
    claude = of("claude-code", times(6, 30, "Read", "Edit", "shell:npm test"))
    assert tools_of_agents(codex + claude) == {
        "claude-code": ("Edit", "Read", "shell"),
        "codex": ("apply_patch", "shell"),
    }
