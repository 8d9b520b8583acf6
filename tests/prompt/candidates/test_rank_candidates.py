"""rank(): scores, ages, depth, and one order whatever the order of input."""

import dataclasses
import itertools
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.prompt.candidates.candidate import LEARNT_KINDS, Candidate
from trackrecord.prompt.candidates.rank import age_factor, rank, score_of, tokens_of
from trackrecord.prompt.question.rules import ContextRules

RULES = ContextRules()
KINDS = ("phase", "task", "decision", "evidence", "agent_context", *LEARNT_KINDS)
finite = st.floats(allow_nan=False, allow_infinity=False)


def candidate(name="c", kind="evidence", text="text", **more):
    return Candidate(id=name, kind=kind, text=text, **more)


def ids(ranked):
    return [entry.candidate.id for entry in ranked.entries]


@st.composite
def candidate_lists(draw, most=40):
    chosen = draw(st.lists(st.text(min_size=1, max_size=3).filter(_is_utf8), unique=True,
                           max_size=most))  # fmt: skip
    flags = st.booleans()
    return [
        Candidate(
            id=name,
            kind=draw(st.sampled_from(KINDS)),
            text=draw(st.text("ab \n", max_size=30)),
            priority=draw(st.sampled_from([-1, 0, 0.5, 7])),
            score=draw(st.sampled_from([0.0, 0.25, 1.5])),
            dependency_depth=draw(st.none() | st.sampled_from([0, 1, 3, 1e300])),
            decision_age_hours=draw(st.none() | st.sampled_from([-5, 0, 24, 1e308])),
            is_current_task=draw(flags),
            has_failure=draw(flags),
            has_evidence=draw(flags),
        )
        for name in chosen
    ]


def _is_utf8(text):
    return not any("\ud800" <= character <= "\udfff" for character in text)


@given(candidate_lists(), st.randoms(), st.sampled_from(["exponential", "linear"]))
def test_any_permutation_gives_one_order(candidates, chance, decay):
    """Of up to max_candidates candidates."""
    shuffled = candidates[:]
    chance.shuffle(shuffled)
    config = {"age_decay": decay}
    assert rank(candidates, config) == rank(shuffled, config)


@given(candidate_lists())
def test_the_order_is_score_then_priority_then_id(candidates):
    """Both descending, and the id ascending by code point; nothing is added or lost."""
    entries = rank(candidates).entries
    assert {entry.candidate for entry in entries} == set(candidates)
    for better, worse in itertools.pairwise(entries):
        if better.score == worse.score and better.candidate.priority == worse.candidate.priority:
            assert list(map(ord, better.candidate.id)) < list(map(ord, worse.candidate.id))
        else:
            assert (better.score, better.candidate.priority) > (
                worse.score,
                worse.candidate.priority,
            )


def test_ties_go_by_code_point_and_not_by_a_locale():
    """Z before a, a before é, é before 中."""
    names = ["中", "é", "a", "Z", "10", "9"]
    assert ids(rank([candidate(name) for name in names])) == ["10", "9", "Z", "a", "é", "中"]


@pytest.mark.parametrize(("depth", "score"), [(0, 2.5), (1, 1.25), (3, 0.625), (None, 2.5)])
def test_a_failure_by_its_depth(depth, score):
    """2.5, 1.25 and 0.625 at depth 0, 1 and 3; without a depth nothing is divided."""
    assert score_of(candidate(has_failure=True, dependency_depth=depth), RULES) == score


@pytest.mark.parametrize(
    ("kind", "said", "score"),
    [
        ("phase", {}, 1.0),
        ("task", {}, 0.0),
        ("agent_context", {}, 0.0),
        ("evidence", {}, 0.0),
        ("task", {"is_current_task": True}, 2.0),
        ("task", {"is_blocked_task": True}, 1.5),
        ("evidence", {"has_failure": True}, 2.5),
        ("evidence", {"has_success": True}, 0.5),
        ("evidence", {"has_evidence": True}, 1.0),
        ("decision", {"decision_age_hours": 0}, 1.5),
        ("decision", {"decision_age_hours": 24}, 0.75),
        ("decision", {}, 0.0),
        ("evidence", {"decision_age_hours": 0}, 0.0),
    ],
)
def test_each_weight_counts_once_where_it_holds(kind, said, score):
    """The default weights; a decision's recency counts for decisions of a known age only."""
    assert score_of(candidate(kind=kind, **said), RULES) == pytest.approx(score)


def test_all_that_holds_is_summed_up_before_it_is_divided():
    """The base / (1 + proximity·depth)."""
    everything = candidate(
        kind="phase", is_current_task=True, is_blocked_task=True, has_failure=True,
        has_success=True, has_evidence=True, dependency_depth=2,
    )  # fmt: skip
    rules = dataclasses.replace(RULES, dependency_proximity_weight=0.5)
    assert score_of(everything, rules) == pytest.approx((1 + 2 + 1.5 + 2.5 + 0.5 + 1) / 2)


@pytest.mark.parametrize("kind", LEARNT_KINDS)
def test_what_is_learnt_brings_its_own_score(kind):
    """Weighed by the kind's own weight; on other kinds a score counts for nothing."""
    rules = dataclasses.replace(RULES, **{f"{kind}_weight": 3.0})
    assert score_of(candidate(kind=kind, score=0.4), rules) == pytest.approx(1.2)
    assert score_of(candidate(kind=kind, score=0.4), RULES) == pytest.approx(0.4)
    assert score_of(candidate(kind="evidence", score=0.4), rules) == 0.0


@given(st.floats(0, 1e6), st.floats(1, 168))
def test_an_exponential_age_halves_with_each_half_life(age, half_life):
    """2^(−age/half-life)."""
    rules = ContextRules(half_life_hours=half_life)
    assert age_factor(0, rules) == 1.0
    assert age_factor(half_life, rules) == pytest.approx(0.5)
    assert age_factor(age + half_life, rules) == pytest.approx(age_factor(age, rules) / 2)


@given(st.floats(0, 1e6))
def test_a_linear_age_reaches_nothing(age):
    """max(0, 1 − age/max_age_hours), which is twice the half-life unless it is set."""
    usual = ContextRules(age_decay="linear", half_life_hours=30)
    assert age_factor(age, usual) == pytest.approx(max(0.0, 1 - age / 60))
    own = ContextRules(age_decay="linear", half_life_hours=30, max_age_hours=10)
    assert age_factor(age, own) == pytest.approx(max(0.0, 1 - age / 10))
    assert (age_factor(60, usual), age_factor(1e300, usual)) == (0.0, 0.0)


@given(st.floats(max_value=0, allow_nan=False, allow_infinity=False))
def test_a_negative_age_counts_as_none(age):
    """The clocks of two machines differ."""
    for decay in ("exponential", "linear"):
        assert age_factor(age, ContextRules(age_decay=decay)) == 1.0


@given(finite.filter(lambda depth: depth >= 0), finite, finite)
def test_every_finite_number_gives_a_finite_score(depth, age, priority):
    """Nothing overflows into something that has no order."""
    extreme = candidate(
        kind="decision", dependency_depth=depth, decision_age_hours=age, priority=priority,
        score=1e6, is_current_task=True,
    )  # fmt: skip
    (entry,) = rank([extreme], {"weights": {"dependencyProximity": 5}}).entries
    assert 0 <= entry.score <= 3.5


def test_more_than_max_candidates():
    """The first so many are ranked, whatever they are worth, and the rest are named."""
    poor = [candidate(f"poor-{number:02}") for number in range(10)]
    rich = [candidate(f"rich-{number}", has_failure=True) for number in range(3)]
    ranked = rank([*poor, *rich], {"max_candidates": 10})
    assert ids(ranked) == [each.id for each in poor]
    assert ranked.left_out == 3
    assert list(ranked.beyond) == rich
    assert rank([*poor, *rich]).left_out == 0


def test_ranking_that_is_off_leaves_the_order_untouched():
    """And leaves nobody out."""
    given_order = [candidate(name, has_failure=name == "b") for name in "zyxwvutsrqponmb"]
    ranked = rank(given_order, {"enabled": False, "max_candidates": 10})
    assert ids(ranked) == list("zyxwvutsrqponmb")
    assert ranked.left_out == 0


@pytest.mark.parametrize(
    ("content_type", "tokens"), [("prose", 3), ("code", 5), ("markdown", 4), ("json", 4)]
)
def test_tokens_are_estimated_by_characters(content_type, tokens):
    """ceil(11·ratio), prose unless it is said otherwise; tokens that are given stand."""
    text = "eleven chrs"
    assert tokens_of(candidate(text=text, content_type=content_type), RULES) == tokens
    assert tokens_of(candidate(text=text), RULES) == 3
    assert tokens_of(candidate(text=text, tokens=70), RULES) == 70
    assert tokens_of(candidate(text=text, tokens=0), RULES) == 0
    assert tokens_of(candidate(text=""), RULES) == 0
    own = ContextRules(**{f"{content_type}_ratio": 1.0})
    assert tokens_of(candidate(text=text, content_type=content_type), own) == 11


def test_rank_and_select_import_nothing_heavy():
    """An agent that only ranks needs neither settings nor servers."""
    script = (
        "import json, sys, trackrecord; "
        "r = trackrecord.rank([{'id': 'a', 'kind': 'task', 'text': 'x'}]); "
        "t = trackrecord.select(r, 100).text; "
        "heavy = ['celery', 'sqlalchemy', 'pydantic', 'redis', 'click']; "
        "print(json.dumps([t, [name for name in heavy if name in sys.modules]]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True,
                          timeout=200)  # fmt: skip
    assert json.loads(done.stdout) == ["## Tasks\n\nx", []]
