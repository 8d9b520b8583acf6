"""The README from its first line to its last: all that it shows is run, as a new user runs it."""

import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal
from tests.docs.documentation import Block, blocks, prose_of, text_of
from tests.examples.made_up_sessions import BROKEN, NOT_FOUND, write_sessions
from tests.examples.tried import PATIENCE_S
from tests.support.processes import until

_SHOWN = [block for block in blocks("sh", "python", "text") if block.page == "README.md"]
# The sessions are of the last weeks, whenever they are written.
_DAY = re.compile(r"\d{1,2} (?:January|February|March|April|May|June|July|August|September"
                  r"|October|November|December)(?: \d{4})?")  # fmt: skip
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Reader:
    """Someone who reads the README and types what it shows.

    Args:
        person: the person's home.
    """

    def __init__(self, person: Path) -> None:
        self.person = person
        self.repository = person / "src" / "shop"
        self.files_before: dict[Path, bytes] = {}
        self._waiting = list(_SHOWN)
        self._sessions = itertools.count(1)

    def next(self, language: str) -> str:
        """Return the next block, which has to be in this language."""
        block: Block = self._waiting.pop(0)
        assert block.language == language, block
        return block.text

    def commands(self) -> list[str]:
        """Return the commands of the next block."""
        return self.next("sh").splitlines()

    def type(self, command: str) -> str:
        """Run a command on a terminal of 100 columns; return what it shows."""
        program = (sys.executable, "-m", "trackrecord_cli")
        name, *arguments = shlex.split(command)
        assert name == "trackrecord"
        with Terminal(*arguments, program=program) as terminal:
            assert terminal.wait() == 0, terminal.shown
            return _COLOUR.sub("", terminal.shown).replace("\r\n", "\n")

    def hook(self, event: str, **more: object) -> str:
        """Return what a new session of Claude Code is told by its hook, as installed.

        On a busy machine an answer comes too late for the hook, which then says nothing.
        """
        settings = json.loads((self.person / ".claude" / "settings.json").read_text())
        ((hook,),) = (each["hooks"] for each in settings["hooks"][event])
        session = f"new-{next(self._sessions)}"
        given = {"hook_event_name": event, "session_id": session, "cwd": str(self.repository)}
        ran = subprocess.run(
            ["/bin/sh", "-c", hook["command"]],
            input=json.dumps(given | more), capture_output=True, text=True, check=True, timeout=200,
        )  # fmt: skip
        said = json.loads(ran.stdout or '{"hookSpecificOutput": {}}')
        return said["hookSpecificOutput"].get("additionalContext", "")

    def is_done(self) -> bool:
        """Return whether nothing was left out."""
        return not self._waiting


@pytest.fixture
def reader() -> Iterator[Reader]:
    """A person with sessions of Claude Code on disk, and nothing of trackrecord."""
    kept = ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    with (
        tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as environment,
    ):
        person = Path(folder)
        for name in kept:
            environment.delenv(name, raising=False)
        environment.setenv("HOME", folder)
        for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):  # nothing is opened
            environment.setenv(name, "")
        environment.setenv("TRACKRECORD_HOME", str(person / "home"))
        someone = Reader(person)
        someone.repository.mkdir(parents=True)
        write_sessions(person / ".claude" / "projects", someone.repository)
        someone.files_before = _files(person)
        yield someone
        with Terminal("down", program=(sys.executable, "-m", "trackrecord_cli")) as terminal:
            terminal.wait()


def _days_left_open(text: str) -> str:
    return _DAY.sub("DAY", " ".join(text.split()))


def test_the_readme_is_true(reader: Reader):
    """Its commands are typed in order, and show what it shows."""
    install, imports = reader.commands()
    # tests/deployment/test_installed.py runs this line, in an environment of its own.
    assert install == "pip install '.[worker,embedded]'"
    _, begins, rest = reader.type(imports).partition("16 runs read")  # after the progress
    page = _days_left_open(begins + rest)
    shown = _days_left_open(reader.next("text"))
    assert page[: len(shown)] == shown
    _check_what_is_quoted(page)

    _check_what_agents_are_told(reader)
    _check_an_agent_of_ones_own(reader)

    for command in reader.commands():
        assert reader.type(command).strip(), command
    assert reader.is_done()
    in_prose = re.findall(r"`(trackrecord [^`]+)`", " ".join(prose_of("README.md").split()))
    settings = reader.person / ".claude" / "settings.json"
    assert settings.exists()
    assert {"trackrecord uninstall", "trackrecord down"} <= set(in_prose)
    for command in dict.fromkeys(each for each in in_prose if each != "trackrecord down"):
        assert reader.type(command).strip(), command
    reader.type("trackrecord uninstall")
    assert not settings.exists()
    _check_that_nothing_stays(reader)


def _check_that_nothing_stays(reader: Reader) -> None:
    """docs/cost-and-removal.md: after `uninstall`, all that is left is in one folder."""
    assert "stopped in" in reader.type("trackrecord down")
    shutil.rmtree(reader.person / "home")
    assert _files(reader.person) == reader.files_before


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _check_what_is_quoted(page: str) -> None:
    """docs/what-it-tells-you.md explains lines of the same page, and one of other agents."""
    quotes = re.findall(r"(?:^> .+\n)+", text_of("docs/what-it-tells-you.md"), re.MULTILINE)
    lines = [_days_left_open(quote.replace("\n> ", " ").removeprefix("> ")) for quote in quotes]
    assert len(lines) == 3
    assert [line for line in lines if line not in page and "PROVEN" not in line] == []


def _check_what_agents_are_told(reader: Reader) -> None:
    for command in reader.commands():
        assert reader.type(command).strip(), command
    # Until the lessons are cached, the session is told of the commands alone.
    shown = _days_left_open(reader.next("text"))
    until(lambda: _days_left_open(reader.hook("SessionStart")) == shown)
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": BROKEN}}
    failure = {"error": f"Exit code 1\n{NOT_FOUND}", **call}
    told = until(lambda: reader.hook("PostToolUseFailure", **failure))
    assert f"{told}\n" == reader.next("text")


def _check_an_agent_of_ones_own(reader: Reader) -> None:
    program = reader.next("python")
    assert len(list(filter(str.strip, program.splitlines()))) <= 10
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert ran.stderr == ""
    shown = reader.next("text")
    asked = "trackrecord rankings --task 'Refund the order of a broken lamp' --format prompt"
    until(lambda: reader.type(asked) == shown)
