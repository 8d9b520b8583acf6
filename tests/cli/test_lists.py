"""Whatever lists something can be limited and sorted, with the same options everywhere."""

import io
import re
import unicodedata
from contextlib import redirect_stdout

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cli.command_tree import leaves
from trackrecord.resources.experience.commands import COMMANDS
from trackrecord.resources.experience.competences import COMPETENCES
from trackrecord.resources.experience.criteria import CRITERIA, CRITERION_FEEDBACK
from trackrecord.resources.experience.lessons import LESSONS
from trackrecord.resources.experience.memories import MEMORIES
from trackrecord.resources.experience.patterns import PATTERNS
from trackrecord.resources.figures.benchmark import BENCHMARK
from trackrecord.resources.figures.effect import EFFECT_ENTRIES, EFFECT_KINDS
from trackrecord.resources.operation.consolidation_runs import CONSOLIDATION_RUNS
from trackrecord.resources.operation.dead_letters import DEAD_LETTERS
from trackrecord.resources.operation.news import NEWS
from trackrecord.resources.operation.projects import PROJECTS
from trackrecord.resources.operation.tokens import TOKENS
from trackrecord.resources.reports.artifacts import ARTIFACTS
from trackrecord.resources.reports.errors_in_flight import TASK_ERRORS
from trackrecord.resources.reports.feedback import FEEDBACK
from trackrecord.resources.reports.kinds import KINDS
from trackrecord.resources.reports.runs import RUNS
from trackrecord_cli.output.screen import print_table

# Each command that lists something, with what its entries can be sorted by.
LISTS = {
    ("patterns", "list"): PATTERNS.sorting("list"),
    ("lessons", "list"): LESSONS.sorting("list"),
    ("commands", "list"): COMMANDS.sorting("list"),
    ("criteria", "list"): CRITERIA.sorting("list"),
    ("criteria", "feedback", "task-1"): CRITERION_FEEDBACK,
    ("competences", "list"): COMPETENCES.sorting("list"),
    ("competences", "history", "RECORD"): COMPETENCES.sorting("history"),
    ("memories", "list"): MEMORIES.sorting("list"),
    ("memories", "recall", "login"): MEMORIES.sorting("recall"),
    ("memories", "similar", "login"): MEMORIES.sorting("similar"),
    ("runs", "list"): RUNS.sorting("list"),
    ("projects",): PROJECTS.sorting("projects"),
    ("kinds",): KINDS.sorting("kinds"),
    ("errors", "list"): TASK_ERRORS,
    ("feedback", "list"): FEEDBACK.sorting("list"),
    ("news",): NEWS,
    ("dead", "list"): DEAD_LETTERS.sorting("list"),
    ("artifacts", "list"): ARTIFACTS.sorting("list"),
    ("effect", "--by", "entry"): EFFECT_ENTRIES,
    ("effect", "--by", "kind"): EFFECT_KINDS,
    ("benchmark", "report"): BENCHMARK.sorting("report"),
    ("token", "list"): TOKENS.sorting("list"),
    ("consolidate", "--history"): CONSOLIDATION_RUNS,
}
# What an agent gets, or a command, in the order in which it gets it; a page of feedback.
UNSORTED = {
    ("rankings",), ("competences", "select"), ("criteria", "show"), ("notify", "waiting"),
}  # fmt: skip


def test_every_list_has_limit_and_sort():
    """A command whose help says that it lists, or that has one of the options, has both."""
    for path, command in leaves():
        names = {name for option in command.params for name in option.opts}
        says_so = path[-1] == "list" or (command.help or "").startswith("List ")
        if says_so or "--limit" in names or "--sort" in names:
            assert path in UNSORTED or {"--limit", "--sort"} <= names, path


def test_every_list_is_tried_below():
    """A new list is to be added above."""
    sorted_ones = {
        path for path, command in leaves() if any("--sort" in each.opts for each in command.params)
    }
    tried = {
        tuple(path) for path, _ in leaves() if any(path == each[: len(path)] for each in LISTS)
    }
    assert sorted_ones == tried


@pytest.fixture
def full(learnt, trackrecord, project, tmp_path):
    """A project with several entries in most lists."""
    mine = ("--project", project, "--json")
    learnt(
        *(
            {
                "outcome_id": f"outcome-{number}", "task_id": f"task-{number % 3}",
                "instruction": f"mend the login of page {number}", "success": number % 3 != 1,
                "strategy": ["Split by component", "Tests first", "Ask the user"][number % 3],
                "criteria": {"readable": "helpful", f"fast-{number % 3}": "harmful"},
                "tool_graph": [
                    {"tool": "find"},
                    {"tool": "book", "ok": False, "error": "none"},
                    *(
                        {"tool": "shell", "args": {"command": f"{program} test"}, "ok": True}
                        for program in ("npm", "make")
                    ),
                ],
                "timestamp": 1784000000 + number,
            }
            for number in range(9)
        )
    )  # fmt: skip
    for _ in range(2):
        trackrecord("benchmark", "run", *mine)
        trackrecord("consolidate", *mine)
    for number in range(3):
        trackrecord("token", "create", *mine)
        trackrecord("memories", "add", f"The login number {number} needs port {number}", *mine)
        trackrecord("errors", "record", f"task-{number}", "it broke", *mine)
        trackrecord("feedback", "give", "helpful", "--criterion", f"fast-{number}", *mine)
        (tmp_path / "output").write_text(f"text {number}")
        trackrecord("artifacts", "put", tmp_path / "output", *mine)
    return trackrecord("competences", "list", *mine).json[0]["id"]


def _entries(document, command):
    if isinstance(document, list):
        return document
    return document["entries" if "entry" in command else "kinds" if "kind" in command else "runs"]


def test_every_list_in_every_order(full, trackrecord, project):
    """The same entries each time, and --limit leaves the first of them and counts the others."""
    several = set()
    for command, keys in LISTS.items():
        given = [full if each == "RECORD" else each for each in command]
        named = [] if command[0] in ("dead", "projects") else ["--project", project]
        every = _entries(trackrecord(*given, *named, "--json", "--limit", 900).json, command)
        for key in keys.keys:
            ran = trackrecord(*given, *named, "--json", "--limit", 900, "--sort", f"-{key}")
            assert ran.status == 0, (command, key, ran)
            assert len(_entries(ran.json, command)) == len(every), (command, key)
        first = trackrecord(*given, *named, "--limit", 1, "--sort", key)
        assert first.status == 0, (command, first)
        if len(every) > 1 and command[:2] not in (("memories", "recall"), ("memories", "similar")):
            several.add(command)
            assert len(first.out.splitlines()) == 2, (command, first)
            assert f"{len(every) - 1} more {keys.things}; --limit shows them" in first.err
    assert len(several) >= 10, set(LISTS) - several


def _id(document):
    names = ("id", "outcome_id", "feedback_id", "criterion", "name")
    return next(document[name] for name in names if name in document)


def test_lists_of_all_projects(full, learnt, trackrecord, project, outcomes_file):
    """Each entry has its project; the order and the limit are those of the list of one."""
    shared = {"outcome_id": "outcome-0", "task_id": f"task-of-{project}", "success": True,
              "timestamp": 1784000004.5}  # fmt: skip
    other = f"{project}-other"
    assert trackrecord("publish", outcomes_file(shared), "--project", other, "--wait").status == 0
    trackrecord("memories", "add", "Of the other one", "--project", other)
    of_all = {
        path for path, command in leaves() if any(each.name == "of_all" for each in command.params)
    }
    lists = [list(each) for each in LISTS if each in of_all]
    assert len(lists) == len(of_all) > 8
    wrong = []
    for command in lists:
        keys = LISTS[tuple(command)]
        mine = trackrecord(*command, "--json", "--project", project).json
        every = trackrecord(*command, "--all", "--json", "--limit", 9000).json
        if [*map(_id, mine)] != [_id(each) for each in every if each["project"] == project]:
            wrong.append((command, mine, every))
        header, *rows = trackrecord(*command, "--all", "--limit", 2).out.splitlines()
        assert "project" in header.split("\t"), command
        place = header.split("\t").index("project")
        assert len(rows) == 2, command
        # Of equal ones the first may be another one a moment later: what ranks them decays.
        assert {row.split("\t")[place] for row in rows} <= {each["project"] for each in every}
        for key in keys.keys:
            ran = trackrecord(*command, "--all", "--json", "--limit", 9000, "--sort", f"-{key}")
            assert len(ran.json) == len(every), (command, key)
    assert wrong == []
    runs = trackrecord("runs", "list", "--all", "--json", "--limit", 9000).json
    _, first, *_ = trackrecord("runs", "list", "--all").out.splitlines()
    assert first.split("\t")[:2] == [runs[0]["project"], runs[0]["outcome_id"]]
    ended = [each["ended_at"] for each in runs]
    assert ended == sorted(ended, reverse=True)
    assert {"outcome-0"} == {each["outcome_id"] for each in runs if each["project"] == other}
    # A task of which only one project knows.
    found = trackrecord("runs", "list", "--all", "--task", f"task-of-{project}", "--json").json
    assert [each["project"] for each in found] == [other]
    none = trackrecord("runs", "list", "--all", "--task", "task-of-nobody")
    assert (none.status, none.err.count("\n")) == (1, 1)
    assert "nor has any other project" in none.err
    both = trackrecord("runs", "list", "--all", "--project", project)
    assert (both.status, both.out) == (2, "")


def test_the_order_is_the_one_of_the_key(full, trackrecord, project):
    """Whether it is sorted by the database or afterwards."""
    for command, key, field in (
        (("feedback", "list"), "name", "name"),
        (("runs", "list"), "ended", "ended_at"),
        (("memories", "list"), "name", "text"),
        (("criteria", "list"), "harmful", "harmful_count"),
    ):
        upwards = trackrecord(*command, "--project", project, "--json", "--sort", key).json
        values = [each[field] for each in upwards]
        assert values == sorted(values)
        assert len(set(values)) > 1
        down = trackrecord(*command, "--project", project, "--json", "--sort", f"-{key}").json
        assert [each[field] for each in down] == values[::-1]


def test_an_unknown_key_is_wrong_use(nothing_up, trackrecord):
    """With the nearest one; no server is asked."""
    ran = trackrecord("patterns", "list", "--sort", "-scor")
    assert (ran.status, ran.out) == (2, "")
    assert "did you mean 'score'?" in ran.err
    ran = trackrecord("effect", "--by", "entry", "--sort", "tasks")
    assert (ran.status, ran.out) == (2, "")
    assert "entries cannot be sorted by 'tasks'" in ran.err


@given(st.text(max_size=20) | st.from_regex(r"[=+@\t\r-].{0,9}", fullmatch=True))
@example("=1+1")
@example("\t@SUM(A1)")
@example("-2+3+cmd|' /C calc'!A0")
@example("\u200b=1")
def test_no_cell_in_a_pipe_is_a_formula(text):
    """What agents wrote is a text in a spreadsheet; rows and columns stay what they are."""
    with redirect_stdout(io.StringIO()) as out:
        print_table(("a", "b"), [(text, "end")])
    head, row, rest = out.getvalue().split("\n")
    cell, end = row.split("\t")
    assert (head, end, rest) == ("a\tb", "end", "")
    is_number = cell == "-" or re.fullmatch(r"[-+][\d., e%()to+-]+", cell)
    assert not cell.startswith(tuple("=+-@")) or is_number
    assert not any(unicodedata.category(each) == "Cc" for each in cell)


def test_numbers_in_a_pipe_stay_numbers():
    """Negative ones, and those with an interval, too."""
    row = (-1.5, -3, "-0.25", "+12", "-1e-5", "+12 (-3 to +20)", "-4 %", None)
    with redirect_stdout(io.StringIO()) as out:
        print_table(("a",), [row])
    cells = out.getvalue().splitlines()[1].split("\t")
    assert cells == ["-1.50", "-3", "-0.25", "+12", "-1e-5", "+12 (-3 to +20)", "-4 %", "-"]
