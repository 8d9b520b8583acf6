"""Prompt-time reads take any argument: read, or replaced by its default, and said."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trackrecord
from trackrecord.errors import InvalidCandidate
from trackrecord.prompt.asked import DEFAULT_BUDGET, asked_for
from trackrecord.testing import rankings_of


class Index:
    """A whole number of another library."""

    def __index__(self):
        return 7


@pytest.mark.parametrize(
    ("given", "bound"),
    [(None, None), (10, 10), ("10", 10), (" 10 ", 10), (10.0, 10), (10.9, 10), (inf, None),
     (Index(), 7), (0, 0), (-5, -5)],
)  # fmt: skip
def test_bounds_that_have_one_reading(given, bound):
    """Text of a whole number, floats rounded down, no end for no limit."""
    asked = asked_for(None, None, given, given)
    assert (asked.budget, asked.limit, asked.problem) == (bound, bound, None)


@pytest.mark.parametrize("given", ["x", "1.5", nan, -inf, True, [], object(), b"x"])
def test_bounds_that_make_no_sense(given):
    """The defaults take their place, and both are named in one line."""
    asked = asked_for(None, None, given, given)
    assert (asked.budget, asked.limit) == (DEFAULT_BUDGET, None)
    assert asked.problem == (
        "budget must be a whole number or None: 400 is used; "
        "limit must be a whole number or None: none is used"
    )


def test_texts():
    """A number is a text; for anything else nothing is fitted, or read at all."""
    assert asked_for(7, 5, None).task == "5"
    assert asked_for(7, 5, None).project == "7"
    assert (
        asked_for(None, [], None).problem
        == "task must be a text or None: the answer is not fitted to it"
    )
    assert not asked_for([], None, None).names_project


@given(st.from_type(object), st.from_type(object), st.from_type(object), st.from_type(object))
def test_whatever_is_asked_nothing_is_raised(project, task, budget, limit):
    """By the rules, and by rankings()."""
    with rankings_of(memories=["Use uv"]):
        assert isinstance(asked_for(project, task, budget, limit).problem, (str, type(None)))
        trackrecord.rankings(project=project, task=task, budget=budget, limit=limit, lang=task)


def test_rankings_answer_all_the_same():
    """A prompt gets what is learnt; a project that is not known by name gets nothing."""
    with rankings_of(memories=["Use uv"]):
        known = trackrecord.rankings(budget="x", task=5, limit="1")
        assert known.problem == "budget must be a whole number or None: 400 is used"
        assert not known.is_stale
        assert "Use uv" in trackrecord.rankings(limit="x").prompt
        unknown = trackrecord.rankings(project=[])
        assert (unknown.prompt, unknown.problem) == (
            "",
            "project must be a text or None: nothing is read",
        )


def test_context_treats_them_alike():
    """The agent's own candidates are written whatever else is wrong; a wrong one raises."""
    own = {"id": "t", "kind": "task", "text": "Fix it"}
    with rankings_of(memories=["Use uv"]):
        found = trackrecord.context(candidates=[own], budget="x")
        assert (found.budget, "Fix it" in found.prompt, "Use uv" in found.prompt) == (
            2000,
            True,
            True,
        )
        assert "budget must be" in found.problem
        assert not found.is_stale
        found = trackrecord.context(project=[], candidates=[own], budget="400")
        assert (found.budget, "Fix it" in found.prompt, "Use uv" in found.prompt) == (
            400,
            True,
            False,
        )
        assert "project must be" in found.problem
        with pytest.raises(InvalidCandidate):
            trackrecord.context(candidates=[{"id": "t"}])
