"""What a person meets every day: short ids, lists, projects, one line for each mistake."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest

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
        (("import",), "Missing argument 'FORMAT'. It is one of aider, all, amp, claude-code,"),
        (("errors", "record", "", "m"), "characters long"), (("errors", "record", "t"), "MESSAGE"),
        (("errors", "record", "x" * 257, "m"), "1 to 256 characters"),
        (("errors", "stats", ""), "characters long"),
        (("errors", "list", "--task", ""), "characters long"),
        (("errors", "list", "--category", "nonsense"), "'nonsense'"),
        (("errors", "list", "--limit", "0"), "0 is not in the range"),
        (("errors", "record", "t", "m", "--type", "nonsense"), "'nonsense'"),
        (("errors", "context", "t", "--lang", "fr"), "'fr'"),
        (("benchmark", "run", "--since", "yesterday"), "'yesterday'"),
        (("benchmark", "report", "--last", "0"), "0 is not in the range"),
        (("benchmark", "gate", "--check", "beauty"), "'beauty'"),
        (("benchmark", "nonsense"), "'nonsense'"),
        (("explain",), "give either an ID, --procedure TOOLS or --run OUTCOME"),
        (("explain", "a", "--procedure", "b"), "give either an ID, --procedure TOOLS or --run OUT"),
        (("explain", "plan", "--task", "a"), "--task needs --procedure"),
        *(
            (("explain", "--procedure", none), "names no tool: join the names of its tools with +")
            for none in ("", " + ")
        ),
    ],
)  # fmt: skip
def test_a_usage_error_is_one_line(nothing_up, trackrecord, arguments, said):
    """What is wrong, and where to read what would be right."""
    ran = trackrecord(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert said in ran.err


def test_the_package_is_the_command_line():
    """Where no script is on the PATH."""
    command = [sys.executable, "-m", "trackrecord", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=200, check=True)
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
    ran = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr == "trackrecord: interrupted\n"


def test_standard_input_that_is_not_utf8_is_one_line(nothing_up):
    """A memory is a text."""
    ran = subprocess.run(
        [sys.executable, "-m", "trackrecord_cli", "memories", "add", "-"],
        input=b"caf\xe9",
        env={**os.environ, "TRACKRECORD_HOME": str(nothing_up)},
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr == b"trackrecord: standard input is not UTF-8; write the memory in UTF-8\n"


def test_status_is_a_no_when_nothing_can_be_learnt(redis_server, trackrecord, home, monkeypatch):
    """Redis answers, and no worker is running."""
    monkeypatch.setenv("TRACKRECORD_HOME", str(home))
    ran = trackrecord("status")
    assert ran.status == 1
    assert ran.out.splitlines()[-1].startswith("Nothing can be learnt: no worker is running.")
    assert trackrecord("status", "--json").json["is_learning"] is False


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
