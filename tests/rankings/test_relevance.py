"""For a task, only what has to do with it; else the few things that hold for the project."""

import msgspec
import pytest
from advised import NOW, advice, expected, kind, lesson, pattern_entry
from golden import memory, pattern

from trackrecord.learning.memories.rules import MemoryRules
from trackrecord.prompt.advice_document import ExpectedInKind, PatternEntry
from trackrecord.prompt.candidates.rules import ContextRules
from trackrecord.prompt.context_answer import context_from
from trackrecord.prompt.document import RankingsDocument
from trackrecord.prompt.known import KnownDocuments
from trackrecord.prompt.presentation import present_failing
from trackrecord.prompt.rankings_answer import answer_from
from trackrecord.prompt.recommended import _surely_better
from trackrecord.prompt.wanted import WantedSections

TASKS = {
    "refund the order of a customer": [
        (("get_order", "issue_refund"), 3, 0),
        (("get_order",), 0, 2),
    ],
    "refund an order that was returned": [(("get_order", "issue_refund"), 2, 1)],
    "repair the build of the shop": [(("read_log", "edit_file"), 2, 1)],
    "repair the red build": ([(("read_log",), 0, 2)], "no such module"),
}
KINDS = {"repair the build of the shop": 1, "repair the red build": 1}
LESSONS = (lesson("a", "issue_refund"), lesson("b", "edit_file", score=0.8))


def asked(counted=None, task=None, *, budget=400, rules=None, wanted=None, **parts):
    document = RankingsDocument(project="p", revision=1, computed_at=NOW, **parts)
    return answer_from(
        document, project="p", problem=None, task=task, budget=budget, limit=None, language="en",
        now=NOW, memory_rules=MemoryRules(), advice=counted, rules=rules or ContextRules(),
        wanted=wanted,
    )  # fmt: skip


def ids(entries):
    return [each.id for each in entries]


@pytest.mark.parametrize(
    ("task", "wanted"), [("refund an order", ["a"]), ("repair the build", ["b"])]
)
def test_lessons_about_tools_that_similar_tasks_use(task, wanted):
    """A lesson about a tool that such tasks never use says nothing to the agent."""
    assert ids(asked(advice(TASKS, lessons=LESSONS), task).lessons) == wanted


def test_without_a_task_the_strongest():
    """All lessons but the faded ones compete."""
    faded = lesson("c", "get_order", state="faded")
    answer = asked(advice(TASKS, lessons=(*LESSONS, faded)))
    assert ids(answer.lessons) == ["a", "b"]
    assert answer.prompt.startswith(
        "## Lessons From Tool Calls\n\n- `issue_refund` failed in 9 of 9"
    )


def test_patterns_and_warnings_of_such_tasks():
    """By the kinds of task in which they were seen."""
    counted = advice(
        TASKS,
        task_kinds=KINDS,
        kinds=(kind("refund"), kind("repair")),
        patterns=(
            pattern_entry("small-steps", {1: 5}, successes=4, failures=1),
            pattern_entry("ask-first", {0: 5}, successes=4, failures=1),
            pattern_entry("big-bang", {1: 7}, successes=0, failures=7),
        ),
    )
    parts = {
        "patterns": (pattern("ask-first", "proven", 1.4), pattern("small-steps", "proven", 1.2)),
        "anti_patterns": (pattern("big-bang", "deprecated", 0.9, is_negative=True),),
    }
    refund = asked(counted, "refund an order", **parts)
    repair = asked(counted, "repair the build", **parts)
    assert (ids(refund.patterns), ids(refund.anti_patterns)) == (["ask-first"], [])
    assert (ids(repair.patterns), ids(repair.anti_patterns)) == (["small-steps"], ["anti-big-bang"])


def test_what_is_no_better_than_what_such_tasks_do_otherwise_is_not_recommended():
    """Nor is anybody warned of what only had the hard tasks."""
    counted = advice(
        TASKS,
        patterns=(
            pattern_entry("easy-tasks", effect=-0.2, is_worth_recommending=False),
            pattern_entry("hard-tasks", effect=0.2, effect_low=0.1, is_worth_recommending=True),
        ),
    )
    answer = asked(
        counted,
        patterns=(pattern("easy-tasks", "proven", 1.4),),
        anti_patterns=(pattern("hard-tasks", "deprecated", 0.9, is_negative=True),),
    )
    assert answer.prompt == ""
    assert {why.id for why in answer.why if "otherwise" in why.reason} == {
        "easy-tasks", "anti-hard-tasks",
    }  # fmt: skip


def in_kind(rate, runs=10, *, worth=True):
    """What is expected at one kind of task, surely better or worse than such tasks go otherwise."""
    effect = 0.3 if worth else -0.3
    a, b = rate * (runs + 3), (1 - rate) * (runs + 3)
    return ExpectedInKind(
        runs, round(runs * rate), a, b, rate, worth, effect, effect - 0.1, effect + 0.1
    )


OPPOSITE = {
    "act-now": {0: in_kind(0.8), 1: in_kind(0.3, worth=False)},
    "look-first": {0: in_kind(0.3, worth=False), 1: in_kind(0.8)},
}


@pytest.mark.parametrize(
    ("task", "best"), [("refund an order", "act-now"), ("repair the build", "look-first")]
)
def test_what_is_best_at_such_tasks_is_recommended_at_them(task, best):
    """Although over all tasks both patterns, and both procedures, are equally good."""
    level = expected(10, 10, effect=0.0, effect_low=-0.1, is_worth_recommending=False)
    procedures = {
        "get_order+issue_refund": OPPOSITE["act-now"],
        "edit_file+read_log": OPPOSITE["look-first"],
    }
    counted = advice(
        TASKS,
        estimates=dict.fromkeys(procedures, level),
        task_kinds=KINDS,
        kinds=(kind("refund"), kind("repair")),
        patterns=tuple(
            PatternEntry(slug=slug, expected=level, by_kind=parts)
            for slug, parts in OPPOSITE.items()
        ),
    )
    counted = msgspec.structs.replace(
        counted,
        procedures=tuple(
            msgspec.structs.replace(each, by_kind=procedures.get(each.signature, {}))
            for each in counted.procedures
        ),
    )
    both = (pattern("act-now", "established", 0.6), pattern("look-first", "established", 0.6))
    answer = asked(counted, task, patterns=both)
    assert ids(answer.patterns) == [best]
    known = KnownDocuments(
        RankingsDocument(project="p", revision=1, computed_at=NOW), counted, task, "en",
        MemoryRules(),
    )  # fmt: skip
    better = [each.signature for each, _ in _surely_better(known)]
    assert better == [next(name for name, at in procedures.items() if at is OPPOSITE[best])]


def test_failing_procedures_of_such_tasks():
    """Those whose tools such tasks use, unless such tasks fail so often anyway."""
    failing = (present_failing("issue_refund", 22), present_failing("read_log", 3))
    counted = advice(
        TASKS, expected=expected(6, 4), estimates={"read_log": expected(0, 3, usual=0.4)}
    )
    assert ids(asked(counted, "refund an order", failing=failing).failing) == ["issue_refund"]
    assert ids(asked(counted, "repair the build", failing=failing).failing) == []


def test_a_lesson_takes_the_place_of_the_same_failing_procedure():
    """One fact is told once."""
    told = lesson("x", "issue_refund", kind="never-succeeds")
    answer = asked(advice({}, lessons=(told,)), failing=(present_failing("issue_refund", 22),))
    assert (ids(answer.lessons), answer.failing) == (["x"], ())


def test_procedures_of_similar_successes():
    """With the counts of similar tasks, and none that failures used as often."""
    answer = asked(advice(TASKS), "refund an order")
    assert answer.prompt.startswith(
        "## What Worked in Similar Tasks\n\n"
        "- get_order → issue_refund "
        "[used in 5 of 5 runs of similar tasks that succeeded, 1 of 3 that failed]"
    )
    assert asked(advice(TASKS)).procedures == ()
    easy = {"answer the question": [(("give_up",), 6, 6), (("look",), 2, 2)]}
    assert asked(advice(easy), "answer the question").procedures == ()


def test_an_error_is_told_once():
    """That a similar task ended in it is not said where a lesson names it."""
    alone = asked(advice(TASKS), "repair the red build")
    assert "a failure ended in: no such module" in alone.prompt
    known = lesson("no such module", "read_log")
    both = asked(advice(TASKS, lessons=(known,)), "repair the red build")
    assert both.prompt.count("no such module") == 1


def test_nothing_at_all_is_an_answer():
    """Lessons about tools that such tasks do not use do not stand in."""
    assert (
        asked(
            advice(TASKS, lessons=LESSONS[1:]),
            "refund the order of a customer",
            wanted=WantedSections(include=frozenset({"lessons"})),
        ).prompt
        == ""
    )


def test_where_nothing_tells_what_is_related_the_few_strongest_stand_in():
    """A project whose tasks have no text, or no similar one."""
    many = tuple(lesson(f"l{n}", f"tool{n}", score=1 - n / 100) for n in range(40))
    answer = asked(advice({}, lessons=many), "something new")
    assert ids(answer.lessons) == ["l0", "l1", "l2"]


def test_nobody_is_told_what_did_harm():
    """But `why` does."""
    counted = advice(TASKS, lessons=LESSONS)
    known = {"memories": (memory("m1", "Sessions expire", 0.9), memory("m2", "Use uv", 0.5))}
    answer = asked(counted, withdrawn=("lesson:a", "memory:m1", "memory:m2"), **known)
    assert (ids(answer.lessons), answer.memories) == (["b"], ())
    assert {why.id for why in answer.why if why.reason.startswith("withdrawn")} == {
        "lesson:a", "memory:m1", "memory:m2",
    }  # fmt: skip


def test_no_section_takes_more_than_its_share_while_others_need_it():
    """A hundred lessons leave room for the memories; without memories, they take it."""
    many = tuple(lesson(f"l{n:02}", f"tool{n}", score=0.99) for n in range(50))
    memories = tuple(memory(f"m{n}", f"Sessions of module {n} expire", 0.3) for n in range(50))
    both = asked(advice({}, lessons=many), memories=memories)
    alone = asked(advice({}, lessons=many))
    assert len(alone.lessons) > len(both.lessons) > 1
    assert len(both.memories) > 1
    assert max(both.tokens, alone.tokens) <= 400


def test_what_is_learnt_leaves_room_for_the_agents_own():
    """In context(), all of it together takes at most `learnt_tokens`."""
    many = tuple(lesson(f"l{n:02}", f"tool{n}", score=0.99) for n in range(50))
    document = RankingsDocument(project="p", revision=1, computed_at=NOW)
    shared = {"project": "p", "problem": None, "task": None, "language": "en", "now": NOW}
    answer = context_from(
        document, (), ContextRules(learnt_tokens=100), budget=4000, memory_rules=MemoryRules(),
        advice=advice({}, lessons=many), **shared,
    )  # fmt: skip
    assert 50 < answer.tokens <= 100
    assert {each.reason for each in answer.left_out} == {"share"}


@pytest.mark.parametrize(
    ("wanted", "sections"),
    [
        (WantedSections(include=frozenset({"memories"})), {"memories"}),
        (WantedSections(exclude=frozenset({"memories"})), {"lessons"}),
        (WantedSections(), {"lessons", "memories"}),
    ],
)
def test_sections_by_name(wanted, sections):
    """Only those that are wanted; the others are named as excluded."""
    answer = asked(
        advice({}, lessons=LESSONS), memories=(memory("m", "Use uv", 0.5),), wanted=wanted
    )
    assert {why.section for why in answer.why if why.is_in} == sections
    assert {why.section for why in answer.why if why.reason == "excluded"} == (
        {"lessons", "memories"} - sections
    )
    by_rules = asked(
        advice({}, lessons=LESSONS),
        memories=(memory("m", "Use uv", 0.5),),
        rules=ContextRules(include=tuple(wanted.include or ()), exclude=tuple(wanted.exclude)),
    )
    assert by_rules.prompt == answer.prompt


def test_why_each_line_is_in_and_the_best_others_are_not():
    """Each line with its relevance; what is not about the task, and what had no room."""
    counted = advice(TASKS, lessons=LESSONS)
    answer = asked(counted, "refund an order")
    lines = answer.prompt.count("\n- ")
    assert [why.is_in for why in answer.why].count(True) == lines
    by_id = {why.id: why for why in answer.why}
    assert by_id["lesson:a"].reason.startswith("such tasks use its tools with a probability of ")
    assert by_id["lesson:b"].reason == "not about this task"
    assert {why.text for why in answer.why if why.is_in} <= set(
        answer.prompt.replace("\n- ", "\n").split("\n")
    )
    tight = asked(counted, "refund an order", budget=10)
    assert tight.prompt == ""
    assert "no room in the budget of 10 tokens" in tight.why[0].reason
    assert len(tight.why) <= 10


def test_the_texts_of_past_tasks_are_masked():
    """Unless the setting says otherwise."""
    tasks = {"I am Anya Garcia, refund order 4711": ([(("look",), 0, 2)], "no such order")}
    plain = ContextRules(mask_past_tasks=False)
    assert '"refund order {n}" [0 of 2 succeeded' in asked(advice(tasks), "refund the order").prompt
    assert (
        "Anya Garcia, refund order 4711"
        in asked(advice(tasks), "refund the order", rules=plain).prompt
    )


def test_what_is_told_of_a_past_task_counts_all_that_are_alike_when_masked():
    """Also those that had no failure, and those that are less similar than others."""
    named = "Fix the failing test of cart{}".format
    texts = {named(number): [(("edit", "test"), 1, 0)] for number in range(13)}
    for number in (13, 14):
        texts[named(number)] = ([(("edit",), 0, 1)], "no such fixture")
    answer = asked(advice(texts), "fix the failing test of cart99")
    (told,) = answer.past_tasks
    assert "[13 of 15 succeeded; " in told.lines["en"]


def test_a_disputed_procedure_is_not_recommended_by_votes():
    """Somebody contested or retracted its record."""
    texts = {
        f"Fix the red build of cart{number}": [(("edit", "test"), 1, 0)] for number in range(5)
    }
    counted = advice(texts)
    assert ids(asked(counted, "fix the red build").procedures) == ["edit+test"]
    assert asked(counted, "fix the red build", disputed=("edit+test",)).procedures == ()
