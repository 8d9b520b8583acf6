"""trackrecord.context(): an agent's own candidates and what is learnt, in one text."""

import os
import time
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trackrecord
from tests.prompt.advised import known_pattern as pattern
from tests.prompt.advised import memory, rankings
from tests.prompt.golden import competence
from tests.support.prompt_answers import context_from
from trackrecord.errors import InvalidCandidate, SettingsError
from trackrecord.prompt.candidates.candidate import Candidate
from trackrecord.prompt.question.rules import ContextRules
from trackrecord.prompt.reading import client as rankings_client
from trackrecord.prompt.reading.cache import write_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.settings.settings import load_settings

RULES = ContextRules()
CURRENT = {"id": "now", "kind": "task", "text": "Fix it", "metadata": {"isCurrentTask": True}}


REMEMBERED = rankings(
    memories=(
        memory("m1", "The build cache must be cleared", 0.9),
        memory("m2", "Use port 5432", 0.5),
    ),
    beyond={"memories": 7},
)


LEARNT = rankings(
    patterns=(pattern("tests-first", 8), pattern("small-steps", 4)),
    anti_patterns=(pattern("big-bang", 1, 6),),
    competences=(
        competence("build", "build is red", 0.8),
        competence("refund", "refund request", 0.8),
    ),
)


def composed(given_document, own=(), rules=RULES, **more):
    return context_from(given_document, own, rules, now=time.time(), **more)


def ids(considered):
    return [each.id for each in considered]


@pytest.fixture
def process(settings, fake_client, monkeypatch):
    """This process's reader, as a fresh agent has it."""
    reader = RankingsReader(settings, fake_client)
    monkeypatch.setattr(rankings_client, "_readers", {os.getpid(): reader})


@pytest.fixture
def process_of_a_server(settings, monkeypatch):
    """The same with a real server, if there is one."""
    monkeypatch.setattr(rankings_client, "_readers", {os.getpid(): RankingsReader(settings)})


def test_both_are_ranked_together(fake_client, settings, process):
    """By score, whoever brought them; the report says which is which."""
    write_document(fake_client, settings, msgspec.structs.replace(LEARNT, computed_at=time.time()))
    failure = {"id": "log", "kind": "evidence", "text": "2 tests failed",
               "metadata": {"hasFailure": True, "dependencyDepth": 4}}  # fmt: skip
    answer = trackrecord.context("p", "the build is red", [failure, CURRENT], 400, explore="off")
    scores = {each.id: each.score for each in answer.taken}
    assert ids(answer.taken)[0] == "now"
    assert scores["now"] == 2.0
    assert scores["log"] == 0.5
    assert scores["tests-first"] == pytest.approx(LEARNT.patterns[0].score)
    assert scores["anti-big-bang"] == pytest.approx(LEARNT.anti_patterns[0].score)
    assert "build" in scores
    assert "refund" not in scores  # it has nothing to do with the task
    assert [each.score for each in answer.taken] == sorted(scores.values(), reverse=True)
    assert [each.rank for each in answer.taken] == list(range(1, 7))
    assert {each.id for each in answer.taken if not each.is_learnt} == {"now", "log"}
    assert (answer.left_out, answer.not_competing, answer.problem) == ((), 0, None)
    assert not answer.is_stale
    assert 0 <= answer.age_s < 60


def test_an_agents_own_memory_replaces_the_learnt_one():
    """Of the same id; the report says so."""
    own = [Candidate(id="m1", kind="memory", text="Mine", score=0.1)]
    answer = composed(REMEMBERED, own)
    assert "Mine" in answer.prompt
    assert [(each.id, each.reason) for each in answer.left_out] == [("m1", "replaced")]


def test_what_is_left_out_and_why(process):
    """For the budget, beyond max_candidates, replaced by the agent's own."""
    own = [Candidate(id=f"own-{number:02}", kind="evidence", text="x" * 400, has_failure=True)
           for number in range(12)]  # fmt: skip
    own.append(Candidate(id="tests-first", kind="pattern", text="- mine", score=1.0))
    answer = composed(LEARNT, own[::-1], replace(RULES, max_candidates=10), budget=500)
    assert answer.tokens <= 500
    reasons = {(each.id, each.is_learnt): each.reason for each in answer.left_out}
    assert reasons["tests-first", True] == "replaced"
    assert [key for key, reason in reasons.items() if reason == "max_candidates"] == [
        ("own-02", False), ("own-01", False), ("own-00", False),
    ]  # fmt: skip
    for each in answer.left_out:
        assert (each.score is None) is (each.rank is None) is (each.reason != "budget")
    assert "budget" in reasons.values()
    everything = len(own) + 5
    assert len(answer.taken) + len(answer.left_out) == everything


def test_one_that_is_not_ranked_replaces_nothing():
    """The learnt one stands in for it; another kind of the same id is another candidate."""
    own = [Candidate(id=f"own-{number}", kind="evidence", text="x") for number in range(10)]
    own.append(Candidate(id="tests-first", kind="pattern", text="- mine"))
    answer = composed(LEARNT, own, replace(RULES, max_candidates=10))
    assert [each.id for each in answer.taken if each.kind == "pattern"] == [
        "tests-first", "small-steps",
    ]  # fmt: skip
    assert [(each.id, each.reason) for each in answer.left_out] == [
        ("tests-first", "max_candidates")
    ]
    task = Candidate(id="tests-first", kind="task", text="Write tests first")
    both = composed(LEARNT, [task])
    assert sorted(each.kind for each in both.taken if each.id == "tests-first") == [
        "pattern", "task",
    ]  # fmt: skip


def test_ranking_that_is_off_leaves_the_text_untouched():
    """No heading, no section and no sorting, byte for byte; what is learnt follows in sections."""
    own = [
        Candidate(id="z", kind="task", text="# Task\n\tFix it  \n", is_current_task=True),
        Candidate(id="y", kind="phase", text="Testing", section=None),
        Candidate(id="x", kind="pattern", text="- ours", section="proven"),
        Candidate(id="w", kind="task", text="Then release"),
    ]
    off = replace(RULES, enabled=False)
    as_given = "# Task\n\tFix it  \n\n\nTesting\n\n- ours\n\nThen release"
    assert composed(None, own, off).prompt == as_given
    together = composed(LEARNT, own, off).prompt
    assert together == f"{as_given}\n\n{composed(LEARNT, (), RULES).prompt}"
    counted = composed(LEARNT, own, off, tokenizer=len)
    assert (counted.prompt, counted.tokens) == (together, len(together))


def test_only_the_best_of_each_kind_compete():
    """As many as max_learnt says; the others are counted, also those beyond the cache."""
    many = rankings(
        patterns=tuple(pattern(f"p{number:02}", 9) for number in range(30)), beyond={"patterns": 7}
    )
    answer = composed(many, rules=replace(RULES, max_learnt=4))
    assert ids(answer.taken) == ["p00", "p01", "p02", "p03"]
    assert answer.not_competing == 33
    assert composed(many, rules=replace(RULES, max_learnt=0)).prompt == ""


def test_settings_weigh_what_is_learnt(fake_client, home, monkeypatch):
    """And a call's own config weighs more than they do."""
    settings = load_settings(home=home, context={"pattern_weight": 3.0})
    monkeypatch.setattr(
        rankings_client, "_readers", {os.getpid(): RankingsReader(settings, fake_client)}
    )
    write_document(fake_client, settings, LEARNT)
    asked = {"candidates": [CURRENT], "budget": 400}
    assert ids(trackrecord.context("p", **asked).taken)[0] == "tests-first"
    config = {"weights": {"currentTask": 5}}
    assert ids(trackrecord.context("p", **asked, config=config).taken)[:2] == ["now", "tests-first"]


def test_without_redis_the_agents_own_are_ranked(process_of_a_server):
    """Marked so."""
    answer = trackrecord.context("p", "fix", [CURRENT], 100)
    assert answer.prompt == "## Tasks\n\nFix it"
    assert (answer.age_s, answer.is_stale) == (None, False)
    assert "redis is unavailable" in answer.problem


def test_what_the_caller_hands_in_wrongly_is_an_error(process):
    """The message names the culprit."""
    with pytest.raises(InvalidCandidate, match="candidate 'now': there are two"):
        trackrecord.context("p", candidates=[CURRENT, CURRENT])
    with pytest.raises(SettingsError, match="phase_weight"):
        trackrecord.context("p", config={"weights": {"phase": 6}})


@given(st.integers(-5, 200), st.booleans())
def test_never_over_budget_by_the_callers_tokenizer(budget, own):
    """Nor without one."""
    candidates = [Candidate(id="now", kind="task", text="Fix it, please", is_current_task=True)]
    for tokenizer in (None, lambda text: len(text.split()), lambda text: list(text.encode())):
        answer = composed(
            LEARNT, candidates if own else (), budget=budget, tokenizer=tokenizer, task="build"
        )
        assert answer.tokens <= max(0, budget)
        if tokenizer is not None:
            count = tokenizer(answer.prompt)
            assert answer.tokens == (count if isinstance(count, int) else len(count))


def test_rankings_name_what_did_not_fit(fake_client, settings, process):
    """Best first; with a budget for all there is nothing to name."""
    write_document(fake_client, settings, LEARNT)
    answer = trackrecord.rankings(project="p", budget=60)
    taken = {
        each.id
        for each in (
            *answer.told["patterns"], *answer.told["anti_patterns"], *answer.told["competences"],
        )
    }  # fmt: skip
    everything = (*LEARNT.patterns, *LEARNT.anti_patterns, *LEARNT.competences)
    scores = {each.id: each.score for each in everything}
    assert set(answer.over_budget) == set(scores) - taken
    assert answer.left_out == len(answer.over_budget) > 0
    assert [scores[each] for each in answer.over_budget] == sorted(
        (scores[each] for each in answer.over_budget), reverse=True
    )
    assert trackrecord.rankings(project="p", budget=None).over_budget == ()
