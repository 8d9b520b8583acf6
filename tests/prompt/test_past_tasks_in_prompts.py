"""Past tasks in a prompt: few, and never instead of what was learnt from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.prompt.advised import advice
from tests.prompt.golden import FULL, NOW, TASK, competence, memory, pattern
from tests.support.prompt_answers import answer_from, context_from
from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.prompt.candidates.candidate import Candidate
from trackrecord.prompt.documents.rankings_document import RankingsDocument
from trackrecord.prompt.question.rules import ContextRules
from trackrecord.prompt.question.section_filter import ALL, SectionFilter

RULES = ContextRules()
MODULES = ("cart", "mail", "menu", "news", "page", "role", "shop", "user")
PAST = advice(
    {
        f"Fix the login test of module {name}": [(("read", "edit"), 12, 0), (("edit",), 0, 9)]
        for name in MODULES
    }
)
WITHOUT = SectionFilter(exclude=frozenset({"past_tasks"}))


def asked(parts, *, own=(), rules=RULES, wanted=ALL, **more):
    """Both answers about one document."""
    document = RankingsDocument(project="p", revision=1, computed_at=NOW, **parts)
    given = {"task": TASK, "budget": None, "language": "en", "problem": None, **more}
    shared = {"project": "p", "now": NOW, "advice": PAST, "wanted": wanted, **given}
    return (
        answer_from(document, memory_rules=MemoryRules(), limit=None, rules=rules, **shared),
        context_from(document, own, rules, memory_rules=MemoryRules(), **shared),
    )


def test_at_most_three_stand_in_a_prompt():
    """The most similar ones; the others are counted as left out."""
    answer, context = asked({}, task=f"fix the login test of module {', '.join(MODULES)}")
    assert len(answer.past_tasks) == 3
    assert answer.prompt.count("12 of 21 succeeded: with read 12 of 12, without 0 of 9]") == 3
    assert answer.left_out == context.not_competing == 5
    assert context.prompt == answer.prompt


@pytest.mark.parametrize("budget", range(0, 400, 9))
def test_they_never_push_anything_out(budget):
    """Whatever the budget, all that fits without them stands in the prompt with them, too."""
    parts = {key: value for key, value in FULL.items() if key != "beyond"}
    with_them, without = (asked(parts, budget=budget, wanted=each) for each in (ALL, WITHOUT))
    for one, other in zip(with_them, without, strict=True):
        assert one.prompt.startswith(other.prompt)
        assert one.tokens <= budget
    own = [Candidate(id="t", kind="task", text="Fix the login", has_evidence=True, priority=-9.0)]
    one, other = (asked(parts, own=own, budget=budget, wanted=each)[1] for each in (ALL, WITHOUT))
    assert [each for each in one.taken if not each.id.startswith("task:")] == list(other.taken)


def test_there_is_one_to_push_out():
    """Else what is above would say nothing."""
    assert asked(FULL)[0].past_tasks != ()


@given(st.floats(0, 5), st.integers(0, 200), st.sampled_from(["anti_pattern", "pattern", "memory"]))
def test_nor_whatever_weighs_more(weight, budget, kind):
    """They are weighed as memories; no weight puts them before what was learnt."""
    rules = ContextRules(**{"memory_weight": 5.0, f"{kind}_weight": weight})
    parts = {
        "anti_patterns": (pattern("bad", "candidate", 0.01, is_negative=True),),
        "patterns": (pattern("good", "proven", 0.01),),
        "competences": (competence("c", "x", 0.01),),
        "memories": (memory("m", "the login", 0.01),),
    }
    context = asked(parts, rules=rules, budget=budget)[1]
    is_past = [each.id.startswith("task:") for each in context.taken]
    assert is_past == sorted(is_past)
    without = asked(parts, rules=rules, budget=budget, wanted=WITHOUT)[1]
    assert [each.id for each in without.taken] == [
        each.id for each in context.taken if not each.id.startswith("task:")
    ]
