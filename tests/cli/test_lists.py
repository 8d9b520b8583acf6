"""Whatever lists something can be limited and sorted, with the same options everywhere."""

import io
import itertools
import json
import re
import sys
import unicodedata
from contextlib import redirect_stdout

import pytest
import redis
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cli.command_tree import leaves
from tests.cli.terminal import Terminal
from trackrecord.resources.figures.effect import EFFECT_KINDS
from trackrecord.resources.operation.tokens import TOKENS
from trackrecord_cli.commands.maintain.consolidate_ import CONSOLIDATION_RUNS
from trackrecord_cli.output.screen import print_table
from trackrecord_door.api.endpoint_table import RESOURCES

# What commands need that list something of one thing.
_NEEDED = {("competences", "history"): ("RECORD",), ("memories", "recall"): ("login",)}
# Each command that lists something, with what its entries can be sorted by.
LISTS = {
    (*path, *_NEEDED.get(path, ())): operation.sorting
    for resource in (*RESOURCES, TOKENS)
    for operation in resource.operations
    for path in [tuple(dict.fromkeys((resource.name, operation.command or "")))]
    if operation.command and operation.sorting
} | {("effect", "--by", "kind"): EFFECT_KINDS, ("consolidate", "--history"): CONSOLIDATION_RUNS}
# What the entries are about, of lists that no resource declares.
ABOUT = {
    ("effect", "--by", "kind"): "kind of task",
    ("benchmark", "report"): "at",
    ("consolidate", "--history"): "skipped",
    ("rankings",): "content",
    ("rankings", "--why"): "content",
}
# What an agent gets, or a command, in the order in which it gets it; a page of feedback.
UNSORTED = {
    ("rankings",), ("competences", "select"), ("criteria", "show"),
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


MEMORY = (
    "The tests of the login need a running database on port 5433: start it with the compose file "
    "of the folder deploy, and wait until it answers, before the first test"
)
INSTRUCTION = (
    "Mend the login of the settings page: after a change of the password the session is not "
    "renewed, and whoever changed it is signed out at once, which several customers reported"
)
CRITERION = "covers every branch of what changed with a test"
SESSION = "claude-code:540a8f92-9d04-4794-9d44-a53d78eedef2"


def _outcome_id(number):
    return f"{SESSION}:{7210 + number}cab4-46eb-4a64-bc76-fd6182174490"


def _realistic_run(number):
    """A run as a captured one is: a long id, a long task, calls that fail and that run."""
    checks = [{"kind": "test", "line": "bun run test", "is_whole": True}]
    failed = {"ok": False, "error": "unrecognized subcommand 'bun' in the wrapper of the shell"}
    return {
        "outcome_id": _outcome_id(number),
        "task_id": f"task:c8f906d8e141ca1{number % 3}",
        "source": "claude-code",
        "instruction": f"{INSTRUCTION}, {number} times",
        "success": number % 4 != 1,
        "strategy": "Run the failing test first and read its whole trace before changing any code",
        "criteria": {CRITERION: "helpful", f"fast-{number % 3}": "harmful"},
        "captured_from": "transcript",
        "metadata": {"session": f"s{number}"},
        "tool_graph": [
            {"tool": "search in the repository"},
            {"tool": "shell:bun test", "args": {"command": "rtk bun run test"}, **failed,
             "checks": [{**checks[0], "line": "rtk bun run test", "state": "not started"}]},
            {"tool": "shell:bun test", "args": {"command": "bun run test"}, "ok": True,
             "checks": [{**checks[0], "state": "passed"}]},
            {"tool": "edit of several files at once", "ok": True},
        ],
        "timestamp": 1784000000 + number,
    }  # fmt: skip


# By the home, the record of the project that tests of this file share: they read alone.
_FILLED = {}


@pytest.fixture
def project():
    """The project of all tests of this file."""
    return "lists"


@pytest.fixture
def full(handed, learnt, trackrecord, project, tmp_path, up):
    """A project with several entries in most lists, and texts as long as real ones."""
    if up not in _FILLED:
        _FILLED[up] = _fill(handed, learnt, trackrecord, ("--project", project), tmp_path)
    with redis.Redis(unix_socket_path=str(up / "redis.sock")) as client:
        reason = "Object contains unknown field `sucess`, at the top; expected one of `success`"
        body = json.dumps({"project": project, "task_id": "t", "sucess": True})
        letter = client.xadd("trackrecord:dead", {"v": 1, "body": body, "reason": reason})
        yield _FILLED[up]
        client.xdel("trackrecord:dead", letter)


def _fill(handed, learnt, trackrecord, mine, folder):
    """Put something into each list; return the id of a competence record."""
    handed(20)
    learnt(*(_realistic_run(number) for number in range(12)))
    for _ in range(2):
        trackrecord("benchmark", "run", *mine)
        trackrecord("consolidate", *mine)
    trackrecord("feedback", "give", "helpful", "--criterion", CRITERION, *mine)
    message = "TypeError: cannot read properties of undefined, reading 'token' in session.ts"
    for number in range(3):
        task = f"task:mend-the-login-of-the-settings-page-{number}"
        trackrecord("token", "create", "--name", "the build server of the second floor", *mine)
        trackrecord("memories", "add", f"{MEMORY} number {number}", "--force", *mine)
        trackrecord("errors", "record", task, message, *mine)
        (folder / "output").write_text(f"text {number}")
        trackrecord("artifacts", "put", folder / "output", "--task", task, *mine)
    return trackrecord("competences", "list", *mine, "--json").json[0]["id"]


def _about(command):
    """Return the column that says what the entries of a list are about."""
    words = {(each,) for each in command[:1]} | {command[:2]}
    for resource in (*RESOURCES, TOKENS):
        for operation in resource.operations:
            path = (resource.name, operation.command)
            has_table = operation.is_list and operation.columns
            if has_table and ({path, (operation.command,)} & words):
                assert operation.about in (operation.terminal_columns or operation.columns), path
                return operation.about
    return next(ABOUT[command[:most]] for most in (3, 2, 1) if command[:most] in ABOUT)


def _plain(shown):
    """Return the lines on a terminal without their colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", shown).split("\n")


def _column(shown, name):
    """Return the width of a column of a table on a terminal, and its text without blanks."""
    lines = _plain(shown)
    rule = next(place for place, line in enumerate(lines) if "──" in line)
    head = lines[rule - 1]
    # A heading of several words may be folded; the last one is at the bottom then.
    ways = (
        re.search(rf"(?<!\S){re.escape(each)}(?!\S)", head) for each in (name, name.split()[-1])
    )
    begin = next(filter(None, ways), None)
    assert begin, (name, lines)
    after = re.search(r"  +(?=\S)", head[begin.end() :])
    end = begin.end() + after.end() if after else len(lines[rule])
    rows = itertools.takewhile(str.strip, lines[rule + 1 :])
    text = "".join(row[begin.start() : end] for row in rows)
    return end - begin.start(), "".join(text.split())


def test_every_list_shows_what_it_is_about_however_narrow_the_terminal(full, trackrecord, project):
    """On 60, 80 and 130 columns: the beginning of the text is there, and no line is too long."""
    lists = [*LISTS, ("rankings", "--task", "login tests"), ("rankings", "--why")]
    asked = []
    for command in lists:
        given = [{"RECORD": full, "task-1": "task:c8f906d8e141ca11"}.get(each, each)
                 for each in command]  # fmt: skip
        given += [] if command == ("projects",) else ["--project", project]
        about = _about(command)
        if command[0] == "news":
            given += ["--since", "2020-01-01"]
        head, *rows = [line.split("\t") for line in trackrecord(*given).out.splitlines()]
        texts = ["".join(row[head.index(about)].split()) for row in rows if len(row) == len(head)]
        if command == ("projects",):  # other tests have theirs
            texts = [project]
        longest = max(texts, key=len, default="-")
        assert longest != "-", (command, rows)
        # A terminal is shown short ids, and times to the minute.
        beginning = longest[: 8 if about in ("id", "at") else 50]
        asked.append((given, about, beginning))
    shown = _on_terminals([given for given, _, _ in asked])
    for (given, about, beginning), of_widths in zip(asked, shown, strict=True):
        for columns, (text, status) in of_widths.items():
            assert status == "0", (given, text)
            width, column = _column(text, about)
            assert beginning in column, (given, text)
            assert width >= min(20, len(beginning)), (given, text)
            assert [line for line in _plain(text) if cell_len(line) > columns] == [], given


# Runs commands one after the other on its terminal, each on every width of it.
_COMMANDS = """
import fcntl, json, struct, sys, termios
from trackrecord_cli.main import cli
for arguments in json.loads(sys.argv[1]):
    for columns in json.loads(sys.argv[2]):
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 500, columns, 0, 0))
        try:
            cli.main(arguments, "trackrecord")
        except SystemExit as ended:
            print(end=f"\x1f{ended.code or 0}\x1e", flush=True)
"""
_WIDTHS = (60, 80, 130)


def _on_terminals(commands):
    """Return what each command shows on each width of a terminal, with its status."""
    asked = json.dumps([[*map(str, given)] for given in commands])
    program = (sys.executable, "-c", _COMMANDS)
    with Terminal(asked, json.dumps(_WIDTHS), program=program, NO_COLOR="1") as terminal:
        assert terminal.wait() == 0, terminal.shown
        answers = iter([tuple(each.split("\x1f")) for each in terminal.shown.split("\x1e")[:-1]])
    return [{columns: next(answers) for columns in _WIDTHS} for _ in commands]


def _entries(document, command):
    if isinstance(document, list):
        return document
    return document["kinds" if "kind" in command else "runs"]


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
        if len(every) > 1 and command[:2] != ("memories", "recall"):
            several.add(command)
            assert len(first.out.splitlines()) == 2, (command, first)
            beyond = len(every) - 1
            more = f"{beyond} more {keys.things}; --limit shows them"
            assert ("1 more; --limit shows it" if beyond == 1 else more) in first.err
    assert len(several) >= 10, set(LISTS) - several


def _id(document):
    names = ("id", "outcome_id", "feedback_id", "criterion", "name")
    return next(document[name] for name in names if name in document)


def test_lists_of_all_projects(full, learnt, trackrecord, project, outcomes_file):
    """Each entry has its project; the order and the limit are those of the list of one."""
    shared = {"outcome_id": _outcome_id(0), "task_id": f"task-of-{project}", "success": True,
              "timestamp": 1784000004.5}  # fmt: skip
    other = f"{project}-other"
    assert trackrecord("publish", outcomes_file(shared), "--project", other, "--wait").status == 0
    trackrecord("memories", "add", "Of the other one", "--project", other)
    of_all = {
        path for path, command in leaves() if any(each.name == "of_all" for each in command.params)
    }
    lists = [list(each) for each in LISTS if each in of_all]
    assert len(lists) == len(of_all) > 6
    wrong = []
    for command in lists:
        keys = LISTS[tuple(command)]
        mine = trackrecord(*command, "--json", "--limit", 9000, "--project", project).json
        every = trackrecord(*command, "--all", "--json", "--limit", 9000).json
        if [*map(_id, mine)] != [_id(each) for each in every if each["project"] == project]:
            wrong.append((command, mine, every))
        header, *rows = trackrecord(*command, "--all", "--limit", 2).out.splitlines()
        assert "project" in header.split("\t"), command
        place = header.split("\t").index("project")
        assert len(rows) == min(2, len(every)) > 0, command
        # Of equal ones the first may be another one a moment later: what ranks them decays.
        assert {row.split("\t")[place] for row in rows} <= {each["project"] for each in every}
        *_, key = keys.keys
        ran = trackrecord(*command, "--all", "--json", "--limit", 9000, "--sort", f"-{key}")
        assert len(ran.json) == len(every), (command, key)
    assert wrong == []
    runs = trackrecord("runs", "list", "--all", "--json", "--limit", 9000).json
    _, first, *_ = trackrecord("runs", "list", "--all").out.splitlines()
    assert first.split("\t")[:2] == [runs[0]["project"], runs[0]["outcome_id"]]
    ended = [each["ended_at"] for each in runs]
    assert ended == sorted(ended, reverse=True)
    assert {_outcome_id(0)} == {each["outcome_id"] for each in runs if each["project"] == other}
    # A task of which only one project knows.
    found = trackrecord("runs", "list", "--all", "--task", f"task-of-{project}", "--json").json
    assert [each["project"] for each in found] == [other]
    none = trackrecord("runs", "list", "--all", "--task", "task-of-nobody")
    assert (none.status, none.err.count("\n")) == (1, 1)
    assert "nor has any other project" in none.err
    both = trackrecord("runs", "list", "--all", "--project", project)
    assert (both.status, both.out) == (2, "")


def test_an_unknown_key_is_wrong_use(nothing_up, trackrecord):
    """With the nearest one; no server is asked."""
    ran = trackrecord("patterns", "list", "--sort", "-scor")
    assert (ran.status, ran.out) == (2, "")
    assert "did you mean 'score'?" in ran.err
    ran = trackrecord("effect", "--by", "kind", "--sort", "followed")
    assert (ran.status, ran.out) == (2, "")
    assert "kinds of task cannot be sorted by 'followed'" in ran.err


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
