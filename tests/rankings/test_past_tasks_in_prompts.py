"""Past tasks in a prompt: few, each line once, and never instead of what was learnt from them."""

from itertools import permutations

import pytest
from golden import FULL, NOW, TASK, competence, memory, past_task, pattern
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.prompt.candidates.candidate import Candidate
from trackrecord.prompt.candidates.rules import ContextRules
from trackrecord.prompt.context_answer import context_from
from trackrecord.prompt.document import RankingsDocument
from trackrecord.prompt.rankings_answer import answer_from

RULES = ContextRules()


def asked(parts, *, own=(), rules=RULES, **more):
    """Both answers about one document."""
    document = RankingsDocument(project="p", revision=1, computed_at=NOW, **parts)
    wanted = {"task": TASK, "budget": None, "language": "en", "problem": None, **more}
    shared = {"project": "p", "now": NOW, **wanted}
    return (
        answer_from(document, memory_rules=MemoryRules(), limit=None, rules=rules, **shared),
        context_from(document, own, rules, memory_rules=MemoryRules(), **shared),
    )


def test_at_most_three_stand_in_a_prompt():
    """The most similar ones; the others are counted as left out."""
    shared = permutations(("login", "test", "fails", "session", "change"), 3)
    many = tuple(past_task(f"o{n}", " ".join(words)) for n, words in enumerate(shared))
    answer, context = asked({"past_tasks": many})
    assert len(answer.past_tasks) == 3
    assert answer.prompt.count("\n- ") == 3
    assert answer.left_out == context.not_competing == 57
    assert context.prompt == answer.prompt


def test_equal_ones_are_one_line_with_their_count():
    """The same task with the same end says nothing new; with another end it does."""
    often = tuple(past_task(f"o{n}", "Fix the login test") for n in range(60))
    failed = tuple(past_task(f"x{n}", "Fix the login test", success=False) for n in range(2))
    once = past_task("z", "Change the session test")
    answer, context = asked({"past_tasks": (*often, *failed, once)})
    assert (
        answer.prompt
        == context.prompt
        == (
            "## Similar Past Tasks and How They Ended\n\n"
            '- "… the login test" [succeeded] ×60\n'
            '- "… the login test" [failed] ×2\n'
            '- "Change the session test" [succeeded]'
        )
    )
    assert {each.lines["zh"] for each in answer.past_tasks} == {
        '- "… the login test" [成功] ×60',
        '- "… the login test" [失败] ×2',
        '- "Change the session test" [成功]',
    }
    assert (answer.left_out, context.not_competing) == (0, 0)


LEARNT = {key: value for key, value in FULL.items() if key not in ("past_tasks", "beyond")}


@pytest.mark.parametrize("budget", range(0, 400, 9))
def test_they_never_push_anything_out(budget):
    """Whatever the budget, all that fits without them stands in the prompt with them, too."""
    with_them, without = asked(FULL, budget=budget), asked(LEARNT, budget=budget)
    for one, other in zip(with_them, without, strict=True):
        assert one.prompt.startswith(other.prompt)
        assert one.tokens <= budget
    own = [Candidate(id="t", kind="task", text="Fix the login", has_evidence=True, priority=-9.0)]
    one, other = (asked(parts, own=own, budget=budget)[1] for parts in (FULL, LEARNT))
    assert [each for each in one.taken if not each.id.startswith("task:")] == list(other.taken)


@given(st.floats(0, 5), st.integers(0, 200), st.sampled_from(["anti_pattern", "pattern", "memory"]))
def test_nor_whatever_weighs_more(weight, budget, kind):
    """They are weighed as memories; no weight puts them before what was learnt."""
    rules = ContextRules(**{"memory_weight": 5.0, f"{kind}_weight": weight})
    parts = {
        "anti_patterns": (pattern("bad", "candidate", 0.01, is_negative=True),),
        "patterns": (pattern("good", "proven", 0.01),),
        "competences": (competence("c", "x", 0.01),),
        "memories": (memory("m", "the login", 0.01),),
        "past_tasks": (past_task("o", TASK), past_task("o2", "login")),
    }
    context = asked(parts, rules=rules, budget=budget)[1]
    is_past = [each.id.startswith("task:") for each in context.taken]
    assert is_past == sorted(is_past)
    without = asked({**parts, "past_tasks": ()}, rules=rules, budget=budget)[1]
    assert [each.id for each in without.taken] == [
        each.id for each in context.taken if not each.id.startswith("task:")
    ]
