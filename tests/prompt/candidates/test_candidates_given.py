"""Candidates and rules as callers hand them in: both spellings, defaults, and what is wrong."""

import dataclasses

import pytest

from trackrecord.errors import InvalidCandidate, SettingsError
from trackrecord.prompt.candidates.candidate import Candidate, read_candidates
from trackrecord.prompt.candidates.rank import rank
from trackrecord.prompt.question.rules import ContextRules, rules_from

FULL = Candidate(
    id="d1", kind="decision", text="Use one queue", tokens=9, priority=2, content_type="code",
    dependency_depth=1, decision_age_hours=3.5, is_current_task=True, is_blocked_task=True,
    has_failure=True, has_success=True, has_evidence=True,
)  # fmt: skip
OUTSIDE = {"id": "d1", "kind": "decision", "text": "Use one queue", "tokens": 9, "priority": 2}


def given(**said):
    return {"id": "x", "kind": "task", "text": "text", **said}


def test_camel_case_and_snake_case_say_the_same():
    """Also decisionAge for decisionAgeHours."""
    snake = {
        "content_type": "code", "dependency_depth": 1, "decision_age_hours": 3.5,
        "is_current_task": True, "is_blocked_task": True, "has_failure": True,
        "has_success": True, "has_evidence": True,
    }  # fmt: skip
    camel = {
        "contentType": "code", "dependencyDepth": 1, "decisionAgeHours": 3.5,
        "isCurrentTask": True, "isBlockedTask": True, "hasFailure": True,
        "hasSuccess": True, "hasEvidence": True,
    }  # fmt: skip
    short = {**camel, "decisionAge": camel["decisionAgeHours"]}
    del short["decisionAgeHours"]
    for metadata in (snake, camel, short):
        assert read_candidates([{**OUTSIDE, "metadata": metadata}]) == [FULL]


def test_null_and_unknown_fields_are_as_if_nothing_were_said():
    """A framework hands in what it has."""
    bare = Candidate(id="x", kind="task", text="text")
    nothing = {"tokens": None, "priority": None, "metadata": None, "colour": "red"}
    assert read_candidates([given(**nothing)]) == [bare]
    empty = {"metadata": {"dependencyDepth": None, "isCurrentTask": None, "mood": 3}}
    assert read_candidates([given(**empty)]) == [bare]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (given(kind="story"), "kind 'story'"), (given(kind=["task"]), "kind"),
        (given(text=None), "no text"), (given(text="\ud800"), "surrogate"),
        (given(tokens=-1), "tokens"), (given(tokens=1.5), "tokens"),
        (given(tokens=float("nan")), "tokens"), (given(priority=float("nan")), "priority"),
        (given(priority=10**400), "priority"), (given(score=float("inf")), "score"),
        (given(section="preface"), "section"), (given(metadata=[]), "metadata"),
        (given(metadata={"contentType": "poem"}), "content_type"),
        (given(metadata={"dependencyDepth": -1}), "dependency_depth"),
        (given(metadata={"dependencyDepth": float("nan")}), "dependency_depth"),
        (given(metadata={"decisionAge": float("nan")}), "decision_age_hours"),
        (given(metadata={"decisionAge": "old"}), "decision_age_hours"),
        (given(metadata={"isCurrentTask": 1}), "is_current_task"),
        (given(metadata={"hasFailure": True, "has_failure": True}), "has_failure"),
    ],
)  # fmt: skip
def test_what_is_wrong_names_the_candidate_and_the_field(wrong, named):
    """In one line."""
    with pytest.raises(InvalidCandidate) as caught:
        rank([given(id="good"), wrong])
    message = str(caught.value)
    assert "candidate 'x'" in message
    assert named in message
    assert "\n" not in message


@pytest.mark.parametrize("wrong", [{"kind": "task", "text": "t"}, given(id=""), given(id=4), 7])
def test_one_without_an_id_is_named_by_its_number(wrong):
    """Nothing else could name it."""
    with pytest.raises(InvalidCandidate, match="candidate number 2"):
        rank([given(id="good"), wrong])


def test_a_doubled_id_is_an_error():
    """Also beyond max_candidates, and whatever the kinds."""
    twelve = [given(id=f"c{number}") for number in range(12)]
    with pytest.raises(InvalidCandidate, match="candidate 'c3': there are two"):
        rank([*twelve, given(id="c3", kind="phase")], {"max_candidates": 10})


def test_a_candidate_is_checked_when_it_is_made():
    """Whoever holds one may trust it."""
    with pytest.raises(InvalidCandidate, match="has no id"):
        Candidate(id="", kind="task", text="t")
    with pytest.raises(InvalidCandidate, match="dependency_depth"):
        Candidate(id="x", kind="task", text="t", dependency_depth=-0.5)


def test_partial_rules_merge_with_the_defaults():
    """Giving only weights does not switch ranking off."""
    assert rules_from(None) == rules_from({}) == ContextRules()
    assert rules_from({"weights": {"phase": 3}}) == ContextRules(phase_weight=3)
    assert rules_from({"weights": {"phase": 3}}).enabled
    assert rules_from({"weights": None, "max_age_hours": None}) == ContextRules()


def test_rules_in_either_spelling_flat_or_in_groups():
    """As an agent framework has them."""
    wanted = ContextRules(
        recent_failure_weight=4, code_ratio=0.5, half_life_hours=48, age_decay="linear",
        max_age_hours=5, max_candidates=20,
    )  # fmt: skip
    camel = {
        "weights": {"recentFailure": 4}, "tokenRatios": {"code": 0.5}, "halfLifeHours": 48,
        "ageDecay": "linear", "maxAgeHours": 5, "maxCandidates": 20,
    }  # fmt: skip
    flat = {
        "recent_failure_weight": 4, "code_ratio": 0.5, "half_life_hours": 48,
        "age_decay": "linear", "max_age_hours": 5, "max_candidates": 20,
    }  # fmt: skip
    assert rules_from(camel) == rules_from(flat) == wanted
    assert rules_from({"weights": {"phase": 0}}, wanted) == dataclasses.replace(
        wanted, phase_weight=0
    )


@pytest.mark.parametrize(
    "config",
    [
        {"decision_decay": {"mode": "linear", "half_life_hours": 48, "max_age_hours": 60}},
        {"decisionDecay": {"mode": "linear", "halfLifeHours": 48, "maxAgeHours": 60}},
        {"decision_decay": {"mode": "linear", "half_life_hours": 48}, "max_age_hours": 60},
        {"age_decay": "linear", "decision_decay": {"mode": "linear"}, "half_life_hours": 48.0,
         "maxAgeHours": 60},
    ],
)  # fmt: skip
def test_how_decisions_age_may_stand_in_a_group(config):
    """In either spelling, and beside the flat names as long as both say the same."""
    wanted = ContextRules(age_decay="linear", half_life_hours=48, max_age_hours=60)
    assert rules_from(config) == wanted


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"decision_decay": {"mode": "slow"}}, "age_decay is one of"),
        ({"decision_decay": {"half_life_hours": 0.5}}, "half_life_hours must lie in 1..168"),
        ({"decision_decay": {"half_live_hours": 4}}, "there is no 'half_live_hours' in"),
        ({"decision_decay": "linear"}, "decision_decay must be an object"),
        (
            {"decision_decay": {"mode": "linear"}, "age_decay": "exponential"},
            "age_decay is given twice, as 'linear' and as 'exponential'",
        ),
        ({"weights": {"phase": 2}, "phaseWeight": 3}, "phase_weight is given twice"),
        ({"weights": {"phase": 5.01}}, "phase_weight must lie in 0..5"),
        ({"weights": {"phase": float("nan")}}, "phase_weight"),
        ({"weights": {"phase": "2"}}, "phase_weight must be a number"),
        ({"weights": {"fame": 1}}, "fame"),
        ({"weights": 3}, "weights"),
        ({"max_candidates": 9}, "max_candidates must lie in 10..500"),
        ({"max_candidates": 10.5}, "max_candidates"),
        ({"max_learnt": -1}, "max_learnt"),
        ({"half_life_hours": 0.5}, "half_life_hours must lie in 1..168"),
        ({"max_age_hours": 0}, "max_age_hours"),
        ({"token_ratios": {"prose": 0.05}}, "prose_ratio must lie in 0.1..1"),
        ({"enabled": "no"}, "enabled"),
        ({"colour": 1}, "colour"),
        ([], "an object"),
    ],
)
def test_rules_out_of_range_are_named(config, named):
    """In one line."""
    with pytest.raises(SettingsError) as caught:
        rank([], config)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
