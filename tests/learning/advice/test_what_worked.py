"""What can be handed out as what worked, and who has got the tools for it."""

from msgspec import structs

from tests.learning.advice.histories import run
from trackrecord.learning.advice.estimates.estimates import recipes_among, usual_orders
from trackrecord.learning.advice.runs.agent_tools import tools_of_agents


def recipes(runs):
    return recipes_among(usual_orders(runs), runs)


def times(count, first, *tools, success=True):
    return [run(first + number, *tools, success=success) for number in range(count)]


def test_an_order_is_kept_by_most_of_the_successes():
    """Not only the order of first use: several calls in a row are one, what comes back is not."""
    kept = times(3, 0, "look", "look", "book")
    back = times(3, 10, "look", "book", "look")
    assert recipes(kept + back[:2]) == {"book+look"}
    assert recipes(kept + back) == frozenset()


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
