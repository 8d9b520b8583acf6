"""For a task, only what has to do with it; else the few things that hold for the project."""

import pytest
from msgspec import structs

from tests.prompt.advised import NOW, advice, expected, kind, lesson, pattern_entry, rankings
from tests.prompt.golden import memory, pattern
from tests.support.prompt_answers import answer_from, context_from
from trackrecord.prompt.documents.advice_document import ExpectedInKind, PatternEntry
from trackrecord.prompt.documents.presentation import present_failing
from trackrecord.prompt.question.rules import ContextRules

TASKS = {
    "refund the order of a customer": [
        (("get_order", "issue_refund"), 3, 0),
        (("get_order",), 0, 2),
    ],
    "refund an order that was returned": [(("get_order", "issue_refund"), 2, 1)],
    "repair the build of the shop": [(("read_log", "edit_file"), 2, 1)],
    "repair the red build": [(("read_log",), 0, 2)],
}
KINDS = {"repair the build of the shop": 1, "repair the red build": 1}
LESSONS = (
    lesson("a", "issue_refund", usual=0.4),
    lesson("b", "edit_file", score=0.8, usual=0.2),
)


EMPTY = rankings(computed_at=NOW)


def asked(counted=None, task=None, *, budget=400, language="en", source=None, **parts):
    document = structs.replace(EMPTY, **parts)
    return answer_from(
        document, task=task, budget=budget, language=language, advice=counted, source=source
    )


def ids(entries):
    return [each.id for each in entries]


@pytest.mark.parametrize(
    ("task", "wanted"), [("refund an order", ["a"]), ("repair the build of the shop", ["b"])]
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
    # What nothing is known to mend, no session needs to be told.
    at_times = advice(TASKS, lessons=(lesson("d", "get_order", usual=0.9, needs_naming=True),))
    for task in (None, "refund an order"):
        silent = asked(at_times, task)
        assert silent.prompt == ""
        assert [why.reason for why in silent.why] == [
            "nothing is known that helps, or it is rare; it is told to tasks that name it"
        ]


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
    assert (ids(refund.told["patterns"]), ids(refund.told["anti_patterns"])) == (["ask-first"], [])
    assert (ids(repair.told["patterns"]), ids(repair.told["anti_patterns"])) == (
        ["small-steps"],
        ["anti-big-bang"],
    )


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
    """Return an expectation at one kind of task, surely above or below the usual rate."""
    effect = 0.3 if worth else -0.3
    a, b = rate * (runs + 3), (1 - rate) * (runs + 3)
    return ExpectedInKind(
        runs, round(runs * rate), a, b, rate, worth, effect, effect - 0.1, effect + 0.1, worth
    )


OPPOSITE = {
    "act-now": {0: in_kind(0.8), 1: in_kind(0.3, worth=False)},
    "look-first": {0: in_kind(0.3, worth=False), 1: in_kind(0.8)},
}


@pytest.mark.parametrize(
    ("task", "best"), [("refund an order", "act-now"), ("repair the build", "look-first")]
)
def test_what_is_best_at_such_tasks_is_recommended_at_them(task, best):
    """Although over all tasks both patterns are equally good."""
    level = expected(10, 10, effect=0.0, effect_low=-0.1, is_worth_recommending=False)
    counted = advice(
        TASKS,
        task_kinds=KINDS,
        kinds=(kind("refund"), kind("repair")),
        patterns=tuple(
            PatternEntry(slug=slug, expected=level, by_kind=parts)
            for slug, parts in OPPOSITE.items()
        ),
    )
    both = (pattern("act-now", "established", 0.6), pattern("look-first", "established", 0.6))
    answer = asked(counted, task, patterns=both)
    assert ids(answer.told["patterns"]) == [best]


def test_failing_procedures_of_such_tasks():
    """Those whose tools such tasks use, unless such tasks fail so often anyway."""
    failing = (present_failing("issue_refund", 22), present_failing("read_log", 3))
    counted = advice(
        TASKS, expected=expected(6, 4), estimates={"read_log": expected(0, 3, usual=0.4)}
    )
    assert ids(asked(counted, "refund an order", failing=failing).failing) == ["issue_refund"]
    assert ids(asked(counted, "repair the build", failing=failing).failing) == []


def test_the_words_of_the_task_come_first():
    """A lesson that they name is told, whatever such tasks use, and before all others."""
    named = lesson(
        "named", "shell:npm install", score=0.2, usual=0.05, names=("eresolve",),
        words=("could", "dependency", "eresolve", "resolve"),
        said="`shell:npm install` failed in 9 of 20 calls, in 5 tasks: ERESOLVE could not resolve "
        "dependency; `shell:npm install --legacy-peer-deps`, which took its place in 8 runs, "
        "worked in 8 of 8 calls",
    )  # fmt: skip
    usual = lesson(
        "usual", "shell:npx vitest", score=0.9, usual=0.9, words=("found", "vitest"),
        said="`shell:npx vitest` failed in 30 of 40 calls, in 20 tasks: vitest not found; "
        "`shell:npm test`, which took its place in 18 runs, worked in 22 of 23 calls",
    )  # fmt: skip
    counted = advice({}, lessons=(usual, named))
    for task in ("npm install fails with ERESOLVE", "npm install is slow", "what is ERESOLVE?"):
        answer = asked(counted, task)
        assert ids(answer.lessons) == ["named"], task
        assert answer.why[0].reason.startswith("the task's own words name what it is about")
    assert ids(asked(counted, "install a lamp").lessons) == ["usual"]
    similar = advice({"run it": [(("shell:npx vitest",), 9, 0)]}, lessons=(usual, named))
    assert ids(asked(similar, "run it after npm install").lessons) == ["named", "usual"]


def test_a_word_of_an_error_is_not_its_name():
    """More than half of its words are, and a tool of one word only together with one of them."""
    skill = lesson("skill", "Skill", words=("commit", "skill"), names=())
    seats = lesson("seats", "update", words=("enough", "flight", "seats"))
    absent = lesson(
        "absent", "edit", words=("file", "found", "replace", "string"), is_occasional=True
    )
    counted = advice({}, lessons=(skill, seats, absent))
    for task, named in (
        ("edit the file", []),
        ("edit: the string to replace is not found in the file", ["absent"]),
        # In a long text most words stand somewhere.
        ("Replace the form.\nParse a string; what is found goes into a file.\nEdit it.", []),
        ("Show a flight.\nUpdate the page.", []),
        ("commit this", ["skill"]),
        ("improve the skill", []),
        ("book a flight", []),
        ("are there enough seats", ["seats"]),
        ("update the flight", ["seats"]),
        ("update the text", []),
    ):
        assert ids(asked(counted, task).lessons) == named, task


def test_a_tool_is_named_by_the_words_that_other_tasks_lack():
    """Where all tasks are about reservations, "book" tells which tool is meant."""
    texts = {f"{verb} my reservation": [(("look",), 9, 0)] for verb in ["cancel", "move", "show"]}
    paid = lesson("paid", "book_reservation", words=("add", "amount", "payment"), usual=0.1)
    counted = advice(texts, lessons=(paid,))
    assert ids(asked(counted, "book a flight and a hotel").lessons) == ["paid"]
    assert ids(asked(counted, "give me my reservation").lessons) == []
    assert ids(asked(counted, "cancel my reservation").lessons) == []


def test_where_nothing_tells_what_is_related_the_few_strongest_stand_in():
    """Of the lessons about tools that most of the project's runs use."""
    many = tuple(
        lesson(f"l{n:02}", f"tool{n}", score=1 - n / 100, usual=(0.4, 0.6)[n % 2])
        for n in range(40)
    )
    answer = asked(advice({}, lessons=many), "something new")
    assert ids(answer.lessons) == ["l01", "l03", "l05"]


def test_no_section_takes_more_than_its_share_while_others_need_it():
    """A hundred lessons leave room for the memories; without memories, they take it."""
    many = tuple(lesson(f"l{n:02}", f"tool{n}", score=0.99) for n in range(50))
    memories = tuple(memory(f"m{n}", f"Sessions of module {n} expire", 0.3) for n in range(50))
    both = asked(advice({}, lessons=many), memories=memories)
    alone = asked(advice({}, lessons=many))
    assert len(alone.lessons) > len(both.lessons) > 1
    assert len(both.told["memories"]) > 1
    assert max(both.tokens, alone.tokens) <= 400


def test_what_is_learnt_leaves_room_for_the_agents_own():
    """In context(), all of it together takes at most `learnt_tokens`."""
    many = tuple(lesson(f"l{n:02}", f"tool{n}", score=0.99) for n in range(50))
    answer = context_from(
        EMPTY, (), ContextRules(learnt_tokens=100), budget=4000, advice=advice({}, lessons=many)
    )
    assert 50 < answer.tokens <= 100
    assert {each.reason for each in answer.left_out} == {"share"}


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
    assert any("no room in the budget of 10 tokens" in why.reason for why in tight.why)
    assert len(tight.why) <= 10


def test_steps_are_told_in_the_names_that_the_agent_has_for_its_tools():
    """Whichever agents' runs they were counted from; what an error says stays as it is."""
    build = ("read", "edit", "shell:make")
    tasks = {f"fix the build {n}": [(build, 9, 0), (("read",), 0, 7)] for n in ("soon", "today")}
    said = '`edit` failed in 9 of 9 calls, in 5 tasks: "edit: read the file"'
    counted = advice(
        tasks, lessons=(lesson("a", "edit", said=said),),
        tool_names={"claude-code": {"edit": "Edit", "read": "Read"}},
    )  # fmt: skip
    for source, read, edit in (("claude-code", "Read", "Edit"), ("x", "read", "edit")):
        for language in ("en", "zh"):
            prompt = asked(counted, "fix the build", language=language, source=source).prompt
            assert f"{read} → {edit} → shell:make" in prompt
            assert f"- `{edit}` failed" in prompt
            assert '"edit: read the file"' in prompt


def test_how_another_clients_tool_fails_is_not_told_of_ones_own():
    """Unless several agents met it; agents whose tools are not known are told."""
    names = {"claude-code": {"edit": "Edit"}, "codex": {"edit": "apply_patch"}}

    def told(source: str | None, only_source: str, tool: str) -> bool:
        counted = advice(
            {}, lessons=(lesson("a", tool, only_source=only_source),), tool_names=names
        )
        answer = asked(counted, source=source)
        return bool(answer.lessons) and "failed in 9 of 9" in answer.prompt

    assert not told("codex", "claude-code", "edit")
    assert told("claude-code", "claude-code", "edit")
    assert told("codex", "", "edit")
    assert told("codex", "claude-code", "shell:pytest")
    assert told("another", "claude-code", "edit")
    assert told(None, "claude-code", "edit")


def test_nothing_is_recommended_that_the_agent_has_no_tool_for():
    """An agent that nothing is known of has got only what all kinds of agents have got."""
    patch, look = ("look", "apply_patch"), ("look",)
    tasks = {f"fix the build {n}": [(patch, 9, 0), (look, 0, 7)] for n in ("soon", "today")}
    agents = {"codex": ("apply_patch", "look"), "claude-code": ("Edit", "look")}
    counted = advice(tasks, agents=agents, lessons=(lesson("a", "apply_patch"),))
    for source, is_told in (("codex", True), ("claude-code", False), (None, False), ("x", False)):
        answer = asked(counted, "fix the build", source=source)
        assert ("apply_patch" in answer.prompt) is is_told
        assert bool(answer.procedures) is bool(answer.lessons) is is_told
