"""What a person meets every day: short ids, lists, projects, one line for each mistake."""

import os
import pty
import subprocess
import sys
from contextlib import suppress

import pytest

from trackrecord_cli.main import run

NOT_UTF8 = "\udcff"


@pytest.mark.parametrize(
    "arguments",
    [
        ("patterns", "list", "--project", NOT_UTF8), ("rankings", "--project", NOT_UTF8),
        ("explain", NOT_UTF8), ("memories", "add", NOT_UTF8), ("publish", NOT_UTF8),
        ("errors", "record", NOT_UTF8, "m"), (NOT_UTF8,), ("dead", "replay", NOT_UTF8),
        ("artifacts", "get", NOT_UTF8), ("context", "rank", "--task", NOT_UTF8),
    ],
)  # fmt: skip
def test_an_argument_that_is_not_utf8_is_one_line(nothing_up, trackrecord, arguments):
    """Exit status 2, with the place of the argument, before any server is asked."""
    ran = trackrecord(*arguments)
    assert (ran.status, ran.out) == (2, "")
    place = arguments.index(NOT_UTF8) + 1
    assert ran.err == f"trackrecord: argument {place} is not UTF-8: '\\udcff'; write it in UTF-8\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("patterns", "lst"), "No such command 'lst'. Did you mean 'list'? (see "),
        (("rankings", "--budget", "many"), "'many' is not a valid integer range (see "),
        (("rankings", "--bugdet", "3"), "--budget"),
        (("patterns", "show"), "Missing argument 'ID' (see `trackrecord patterns show --help`)"),
        (("memories", "list", "--limit", "0"), "0 is not in the range"),
        (("import", "jsonnl", "x"), "did you mean 'jsonl'"),
        (("import",), "Missing argument 'FORMAT'. It is one of aider, all, amp, claude-code,"),
    ],
)
def test_a_usage_error_is_one_line(nothing_up, trackrecord, arguments, said):
    """What is wrong, and where to read what would be right."""
    ran = trackrecord(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert said in ran.err


def test_the_package_is_the_command_line():
    """Where no script is on the PATH."""
    command = [sys.executable, "-m", "trackrecord", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.startswith("trackrecord, version ")


_STOPPED_EARLY = """
import sys
class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "trackrecord_cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from trackrecord_cli.entry import main
main()
"""


def test_ctrl_c_while_it_is_being_imported_is_one_line():
    """As later on."""
    command = [sys.executable, "-c", _STOPPED_EARLY]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr == "trackrecord: interrupted\n"


def test_standard_input_that_is_not_utf8_is_one_line(nothing_up):
    """A memory is a text."""
    ran = subprocess.run(
        [sys.executable, "-m", "trackrecord_cli", "memories", "add", "-"],
        input=b"caf\xe9",
        env={**os.environ, "TRACKRECORD_HOME": str(nothing_up)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr == b"trackrecord: standard input is not UTF-8; write the memory in UTF-8\n"


def test_projects_are_listed(learnt, trackrecord, project):
    """With what each has learnt; a limit bounds the list."""
    learnt({"task_id": "a", "success": True, "patterns": ["x"]}, {"task_id": "b", "success": False})
    (mine,) = [p for p in trackrecord("projects", "--json").json if p["name"] == project]
    assert (mine["outcomes"], mine["successes"], mine["patterns"]) == (2, 1, 1)
    assert mine["last_outcome"] is not None
    assert len(trackrecord("projects", "--limit", 1, "--json").json) == 1
    assert project in trackrecord("projects").out


def test_every_list_has_the_same_options(nothing_up, trackrecord):
    """A list of all projects can be that of one of them, too."""
    for ask in ("patterns", "criteria", "competences", "memories", "artifacts", "dead"):
        said = trackrecord(ask, "list", "--help").out
        assert {"--limit", "--json", "--project"} <= set(said.split()), ask


def test_a_limit_bounds_what_is_listed(learnt, trackrecord, project):
    """The best ones stay, and how many more there are is said."""
    learnt(*({"task_id": f"t{n}", "success": True, "patterns": ["one", "two"]} for n in range(3)))
    mine = ("--project", project, "--limit", "1")
    assert len(trackrecord("patterns", "list", *mine, "--json").json) == 1
    assert "1 more; --limit" in trackrecord("patterns", "list", *mine).err


@pytest.fixture
def record(learnt, trackrecord, project):
    """The id of a competence record, with failures and a rival that does better."""
    runs = [
        ([("go_build", {"dir": "x"}), ("go_test", {})], True), ([("bazel", {})], True),
        ([("go_build", {"dir": "x"}), ("go_test", {})], True), ([("bazel", {})], True),
        ([("go_build", {"dir": "x"}), ("go_test", {})], False),
    ]  # fmt: skip
    learnt(
        *(
            {
                "task_id": f"t{n}", "success": success, "trigger": {"signal": "build is red"},
                "tool_graph": [{"tool": tool, "args": args} for tool, args in tools],
            }
            for n, (tools, success) in enumerate(runs)
        )
    )  # fmt: skip
    trackrecord("consolidate", "--project", project)
    listed = trackrecord("competences", "list", "--project", project, "--json").json
    return next(each["id"] for each in listed if len(each["recipe"]) == 2)


def test_the_beginning_of_an_id_will_do(record, trackrecord, project):
    """For every command that takes one, with and without what all ids of records begin with."""
    mine = ("--project", project, "--json")
    for short in (record[:12], record.removeprefix("skill-")[:6]):
        assert trackrecord("competences", "show", short, *mine).json["id"] == record
        assert trackrecord("explain", short, *mine).json["id"] == record
    assert trackrecord("competences", "history", record[:12], *mine).status == 0
    raised = trackrecord("competences", "reinforce", record[:12], *mine).json
    assert [each["id"] for each in raised["records"]] == [record]
    ambiguous = trackrecord("competences", "show", "skill-", *mine)
    assert ambiguous.status == 2
    assert "is ambiguous: skill-" in ambiguous.err
    memory = trackrecord("memories", "add", "The build cache is shared", *mine).json["id"]
    assert trackrecord("memories", "confirm", memory[:13], *mine).json["id"] == memory
    assert trackrecord("memories", "forget", memory[:13], *mine).json["id"] == memory
    error = trackrecord("errors", "record", "t", "m", *mine).json["id"]
    assert trackrecord("errors", "resolve", error[:16], *mine).json["id"] == error


def test_a_record_is_shown_for_people(record, trackrecord, project):
    """No representation of a Python object, and nothing is cut in a pipe."""
    out = trackrecord("competences", "show", record, "--project", project).out
    assert not any(sign in out for sign in ("{", "[", "…"))
    assert "performance.success_count\t2" in out
    assert "dir: string" in out


def test_selection_names_the_fallbacks_that_show_names(record, trackrecord, project):
    """Also as of a moment."""
    mine = ("--project", project, "--json")
    shown = trackrecord("competences", "show", record, *mine).json["fallbacks"]
    assert shown
    for more in ((), ("--at", "2100-01-01"), ("--by", "seed")):
        selected = trackrecord("competences", "select", "build is red", *mine, *more).json
        (found,) = [each for each in selected["candidates"] if each["id"] == record]
        assert found["record"]["fallbacks"] == shown
    one = trackrecord("competences", "select", "--project", project, "--limit", "1").out
    assert "2 candidates from " in one


def test_nothing_is_cut_in_a_pipe(learnt, trackrecord, project):
    """However long it is."""
    name = "a long pattern " * 39 + "ends"
    learnt({"task_id": "t", "success": True, "patterns": [name]})
    (pattern,) = trackrecord("patterns", "list", "--project", project, "--json").json
    assert pattern["content"] in trackrecord("patterns", "list", "--project", project).out


def test_ids_are_short_and_whole_on_a_terminal(record, up, project):
    """A narrow terminal cuts no id; what it shows is found again."""
    main, other = pty.openpty()
    shown = b""
    process = subprocess.Popen(
        [sys.executable, "-m", "trackrecord_cli", "competences", "list", "--project", project],
        env={**os.environ, "COLUMNS": "60", "NO_COLOR": "1", "TERM": "dumb"},
        stdout=other,
        stderr=subprocess.DEVNULL,
    )
    os.close(other)
    try:
        while piece := os.read(main, 4096):
            shown += piece
    except OSError:  # how Linux ends the reading side
        pass
    finally:
        os.close(main)
        assert process.wait(60) == 0
    assert record[:14] in shown.decode()
    assert record not in shown.decode()


def test_status_ends_with_a_verdict(learnt, trackrecord, project, up):
    """What is running, where, and whether an outcome would be learnt."""
    learnt({"task_id": "t", "success": True})
    ran = trackrecord("status", "--project", project)
    assert ran.status == 0
    assert ran.out.splitlines()[-1].startswith("Outcomes are being learnt by ")
    document = trackrecord("status", "--json").json
    assert (document["home"], document["is_learning"]) == (str(up), True)
    assert document["redis"].startswith("unix://")
    assert document["database"].startswith("sqlite:")


def test_status_is_a_no_when_nothing_can_be_learnt(redis_server, trackrecord, home, monkeypatch):
    """Redis answers, and no worker is running."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    ran = trackrecord("status")
    assert ran.status == 1
    assert ran.out.splitlines()[-1].startswith("Nothing can be learnt: no worker is running.")
    assert trackrecord("status", "--json").json["is_learning"] is False


def test_the_whole_command_line_is_reachable_from_main(nothing_up, capfd):
    """A group without a command shows its help."""
    assert run(["patterns"]) == 2
    assert "Commands:" in "".join(capfd.readouterr())


def test_standard_input_without_end_is_one_line(nothing_up):
    """No more of it is read than any memory could have."""
    process = subprocess.Popen(
        [sys.executable, "-m", "trackrecord_cli", "memories", "add", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TRACKRECORD_HOME": str(nothing_up)},
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        while process.poll() is None:
            process.stdin.write(b"x" * 1_000_000)
    _, said = process.communicate()
    assert process.returncode == 2
    assert said.startswith(b"trackrecord: standard input has more than ")
    assert said.count(b"\n") == 1
