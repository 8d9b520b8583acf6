"""Episodes: signatures, and the order in which tools were really used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.competences.episodes.episodes import NoProcedure, procedure_of
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.wire.outcome import ToolCall

RULES = CompetenceRules()
NAMES = st.text("ab+\\ ", min_size=1, max_size=4).filter(str.strip).map(str.strip)


def calls(*names: str | None) -> list[ToolCall]:
    return [ToolCall(tool=name) for name in names]


def signature(*names: str | None, rules: CompetenceRules = RULES) -> str:
    order = procedure_of(rules, calls(*names))
    assert not isinstance(order, NoProcedure)
    return signature_of(order)


@pytest.mark.parametrize(
    "names", [("go_test", "go_build", "lint"), ("lint", "go_test", "go_build", "lint")]
)
def test_order_and_repeats_do_not_matter(names):
    """The signature is the sorted distinct names."""
    assert signature(*names) == "go_build+go_test+lint"


def test_names_are_stripped_and_keep_their_case():
    """Blank names are dropped."""
    assert signature(" Edit ", "", None, "   ", "edit") == "Edit+edit"


@pytest.mark.parametrize("names", [(), ("",), (None, "  ")])
def test_no_named_tool_is_no_procedure(names):
    """There is no episode then."""
    assert procedure_of(RULES, calls(*names)) is NoProcedure.NO_TOOLS


def test_repeats_are_kept_when_a_setting_says_so():
    """Each use counts."""
    rules = CompetenceRules(keep_repeats=True)
    assert signature("b", "a", "b", rules=rules) == "a+b+b"
    assert procedure_of(rules, calls("b", "a", "b")) == ("b", "a", "b")


def test_a_plus_inside_a_name_is_escaped():
    """`a+b` and `a`, `b` stay apart."""
    assert signature("a+b") == "a\\+b"
    assert signature("a", "b") == "a+b"
    assert signature("a\\", "b") == "a\\\\+b"


@given(st.frozensets(NAMES, min_size=1), st.frozensets(NAMES, min_size=1))
def test_different_sets_never_share_a_signature(one, other):
    """The signature is injective."""
    assert (signature(*one) == signature(*other)) == (one == other)


def test_too_many_tools_are_no_procedure():
    """The bound is on distinct tools."""
    assert isinstance(procedure_of(RULES, calls(*(f"t{n}" for n in range(64)), "t0")), tuple)
    many = procedure_of(RULES, calls(*(f"t{n}" for n in range(65))))
    assert many is NoProcedure.TOO_MANY_TOOLS


def test_an_endless_name_is_no_procedure():
    """Nobody calls a tool that."""
    assert procedure_of(RULES, calls("x" * 257)) is NoProcedure.LONG_NAME


def test_dependencies_come_first():
    """What depends on nothing keeps its position; ids may be numbers or texts."""
    graph = [
        ToolCall(tool="deploy", id="d", depends_on=("t", 7)),
        ToolCall(tool="lint"),
        ToolCall(tool="build", id=7),
        ToolCall(tool="test", id="t", depends_on=("7",)),
    ]
    assert procedure_of(RULES, graph) == ("lint", "build", "test", "deploy")


def test_a_blank_call_still_carries_dependencies():
    """An unnamed call in between does not cut the chain."""
    graph = [
        ToolCall(tool="last", depends_on=("b",)),
        ToolCall(tool="", id="b", depends_on=("a",)),
        ToolCall(tool="first", id="a"),
    ]
    assert procedure_of(RULES, graph) == ("first", "last")


def test_circles_and_unknown_ids_are_survived():
    """A circle is broken at its first call."""
    graph = [
        ToolCall(tool="a", id="a", depends_on=("b", "nowhere")),
        ToolCall(tool="b", id="b", depends_on=("a", "b")),
        ToolCall(tool="c", id="a", depends_on=()),
    ]
    assert procedure_of(RULES, graph) == ("c", "a", "b")


GRAPHS = st.lists(
    st.builds(
        ToolCall,
        tool=st.sampled_from("abcdef"),
        id=st.sampled_from([1, 2, 3, "1", "x", None]),
        depends_on=st.none()
        | st.lists(st.sampled_from([1, 2, 3, "x", "?"]), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


@given(GRAPHS)
def test_every_graph_has_an_order(graph):
    """No call is lost, whatever the dependencies."""
    order = procedure_of(RULES, graph)
    assert not isinstance(order, NoProcedure)
    assert sorted(order) == sorted({call.tool for call in graph if call.tool})


def test_calls_of_the_user_are_not_a_part_of_the_procedure():
    """What the other side does in its own systems cannot be recommended to an agent."""
    graph = [ToolCall(tool="find"), ToolCall(tool="toggle", actor="user"), ToolCall(tool="fix")]
    assert procedure_of(RULES, graph) == ("find", "fix")
    assert procedure_of(RULES, graph[1:2]) is NoProcedure.NO_TOOLS
