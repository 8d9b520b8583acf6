"""Prompt-time reads take any argument: read, or replaced by its default, and said."""

import asyncio
import os
from itertools import count
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trackrecord
from tests.prompt.advised import memory, rankings
from trackrecord.errors import InvalidCandidate, SettingsError
from trackrecord.prompt.question.question import DEFAULT_BUDGET, PromptQuestion, asked_for
from trackrecord.prompt.reading import client as rankings_client
from trackrecord.prompt.reading.cache import write_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings
from trackrecord.testing import rankings_of

USUAL = PromptQuestion("usual")


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
    asked = asked_for(USUAL, budget=given, limit=given)
    assert (asked.budget, asked.limit, asked.problem) == (bound, bound, None)


@pytest.mark.parametrize("given", ["x", "1.5", nan, -inf, True, [], object(), b"x"])
def test_bounds_that_make_no_sense(given):
    """The defaults take their place, and both are named in one line."""
    asked = asked_for(USUAL, budget=given, limit=given)
    assert (asked.budget, asked.limit) == (DEFAULT_BUDGET, None)
    assert asked.problem == (
        "budget must be a whole number or None: 400 is used; "
        "limit must be a whole number or None: none is used"
    )


def test_texts():
    """A number is a text; for anything else nothing is fitted, or read at all."""
    assert asked_for(USUAL, task=5).task == "5"
    assert asked_for(USUAL, project=7).project == "7"
    assert asked_for(USUAL, project=None).project == "usual"
    assert (
        asked_for(USUAL, task=[]).problem
        == "task must be a text or None: the answer is not fitted to it"
    )
    assert not asked_for(USUAL, project=[]).names_project


@given(st.from_type(object), st.from_type(object), st.from_type(object), st.from_type(object))
def test_whatever_is_asked_nothing_is_raised(project, task, budget, limit):
    """By the rules, and by rankings()."""
    with rankings_of(memories=["Use uv"]):
        asked = asked_for(USUAL, project=project, task=task, budget=budget, limit=limit)
        assert isinstance(asked.problem, (str, type(None)))
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
        for given, wrong, budget, has_learnt in (
            ({"budget": "x"}, "budget", 2000, True),
            ({"project": [], "budget": "400"}, "project", 400, False),
        ):
            found = trackrecord.context(candidates=[own], **given)
            assert (found.budget, found.is_stale) == (budget, False)
            assert "Fix it" in found.prompt
            assert ("Use uv" in found.prompt) == has_learnt
            assert f"{wrong} must be" in found.problem
        with pytest.raises(InvalidCandidate):
            trackrecord.context(candidates=[{"id": "t"}])


@pytest.mark.parametrize("given", [["lesson"], "lesson", ["lessons", "lesson"], {"lesson": 1}])
def test_a_section_that_there_is_not(given):
    """It is named in one line, with those that there are, and ignored."""
    with rankings_of(memories=["Use uv"]):
        for known in (trackrecord.rankings(exclude=given), trackrecord.context(exclude=given)):
            assert known.problem == (
                "exclude: there is no section 'lesson': the sections are lessons, anti_patterns, "
                "failing, "
                "patterns, procedures, competences, memories, errors, evidence"
            )
            assert "Use uv" in known.prompt


@given(st.from_type(object) | st.just(count()), st.from_type(object))
def test_whatever_sections_are_asked_for_nothing_is_raised(include, exclude):
    """What is no name of a section is ignored."""
    with rankings_of(memories=["Use uv"]):
        assert trackrecord.rankings(include=include, exclude=exclude).project
        assert trackrecord.context(include=include, exclude=exclude).project


def test_sections_in_every_call():
    """Both calls and their awaitable forms, with the names in any order."""
    with rankings_of(memories=["Use uv"], patterns=["tests-first"]):
        # The last one is a section of an earlier version.
        only, without = {"include": ["memories"]}, {"exclude": ["patterns", "past_tasks"]}
        for chosen in (only, without):
            answers = (
                trackrecord.rankings(**chosen),
                trackrecord.context(**chosen),
                asyncio.run(trackrecord.arankings(**chosen)),
                asyncio.run(trackrecord.acontext(**chosen)),
            )
            assert {each.prompt for each in answers} == {
                '## Memories\n\n- an agent noted: "Use uv" [confidence 0.8]'
            }
            assert {each.problem for each in answers} == {None}


def test_the_usual_budget_is_a_setting(fake_client, settings, monkeypatch):
    """Of rankings(), where the caller gives none."""
    monkeypatch.setenv("TRACKRECORD_CONTEXT__LEARNT_TOKENS", "20")
    memories = [f"Sessions of module {number} expire at midnight" for number in range(9)]
    with rankings_of(memories=memories) as _:
        assert trackrecord.rankings().tokens > 20  # settings of the environment play no part
    reader = RankingsReader(load_settings(home=settings.home), fake_client)
    assert reader.settings.context.learnt_tokens == 20
    monkeypatch.setattr(rankings_client, "_readers", {os.getpid(): reader})
    lines = {"en": "- x" * 9, "zh": "- x" * 9}
    known = tuple(memory(str(number), "x", 0.5, lines=lines) for number in range(9))
    write_document(fake_client, settings, rankings(memories=known))
    assert 0 < trackrecord.rankings(project="p").tokens <= 20
    assert trackrecord.rankings(project="p", budget=None).tokens > 20


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_settings_name_sections(name, monkeypatch):
    """A name that there is not is an error of the settings, with one line."""
    monkeypatch.setenv(f"TRACKRECORD_CONTEXT__{name.upper()}", '["lessons"]')
    assert getattr(load_settings().context, name) == ("lessons",)
    monkeypatch.setenv(f"TRACKRECORD_CONTEXT__{name.upper()}", '["lesson"]')
    with pytest.raises(SettingsError, match="there is no section 'lesson'"):
        load_settings()
