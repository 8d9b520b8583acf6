"""Coding agents are declared in one package each, and nothing else names them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources import register
from trackrecord_capture.sources.declaration import Action
from trackrecord_capture.sources.register import agent_of, known_agents, known_sources
from trackrecord_capture.sources.source import ReadRun, Unreadable

AGENTS = pytest.mark.parametrize("agent", known_agents(), ids=lambda agent: agent.name)

MADE_UP = '''
"""An agent that no other module names."""

from trackrecord_capture.agents.settings_hooks import SettingsHooks
from trackrecord_capture.sources.declaration import CodingAgent
from trackrecord_capture.sources.log_files import LogFiles, home_of
from trackrecord_capture.sources.message_logs import MessageReader, reading_with

TOOLS = {"sh": "shell"}


class Session(MessageReader):
    def describe(self, record):
        self.chat.session = "s1"
        self.chat.folder = "/src/made_up_shop"

    def take(self, record, start):
        if "ask" in record:
            self.chat.ask(record["ask"], 1795319900.0, start=start)
        else:
            self.chat.use("c1", "sh", {"command": record["sh"]}, 1795319901.0)
            self.chat.result("c1", "3 passed", ok=True, at=1795319902.0, exit_code=0)
            self.chat.end(1795319903.0)


AGENT = CodingAgent(
    label="Made Up",
    source=LogFiles(
        name="made-up",
        pattern="talk-*.jsonl",
        homes=lambda: [home_of("MADE_UP_HOME", ".made-up") / "talks"],
        read_log=reading_with(Session, "made-up", TOOLS),
    ),
    tools=TOOLS,
    hooks=SettingsHooks(
        name="made-up",
        label="Made Up",
        program="made-up",
        folder_of=lambda: home_of("MADE_UP_HOME", ".made-up"),
        events={"Stop": "TurnOver"},
    ),
    home_variable="MADE_UP_HOME",
    events={"Stop": "TurnOver"},
)
'''

# The package of sources gets one more folder, before anything looks into it.
RUN = """
import sys
import trackrecord_capture.sources
trackrecord_capture.sources.__path__.append(sys.argv.pop(1))
from trackrecord_cli.main import main
sys.exit(main())
"""


@pytest.fixture
def made_up(tmp_path):
    """A user with an unknown agent; runs commands as that user."""
    package = tmp_path / "more" / "made_up"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(MADE_UP)
    talks = tmp_path / ".made-up" / "talks"
    talks.mkdir(parents=True)
    lines = [{"ask": "Fix the failing tests of the till"}, {"sh": "pytest -q"}]
    (talks / "talk-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    kept = ("PATH", "TMPDIR", "LANG", "COVERAGE_PROCESS_START")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    env |= {"HOME": str(tmp_path), "TRACKRECORD_HOME": str(tmp_path / "home")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", RUN, str(package.parent), *arguments]
        return subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )

    return tmp_path, run


def test_a_new_agent_needs_nothing_but_its_package(made_up):
    """It is imported with all others, listed, installed, asked by its hook, and looked after."""
    home, run = made_up
    imported = run("import", "all", "--json")
    assert imported.returncode == 0, imported.stderr
    assert json.loads(imported.stdout)["runs"] == 1
    assert "made_up_shop" in imported.stdout
    named = run("import", "made-up")
    assert "nothing new in 1 log" in named.stdout

    listed = run("install")
    assert "Made Up: history (`trackrecord import made-up`), live reports, hints" in listed.stdout
    assert run("install", "made-up", "--no-measure").returncode == 0
    settings = json.loads((home / ".made-up" / "settings.json").read_text())
    assert set(settings["hooks"]) == {
        "SessionStart", "UserPromptSubmit", "TurnOver", "SubagentStop", "SessionEnd",
    }  # fmt: skip

    hook = settings["hooks"]["TurnOver"][0]["hooks"][0]["command"]
    event = {"hook_event_name": "TurnOver", "session_id": "s1", "cwd": "/src"}
    moved = {"PATH": os.environ["PATH"], "MADE_UP_HOME": "/elsewhere"}
    subprocess.run(
        ["/bin/sh", "-c", hook], input=json.dumps(event), text=True, env=moved, check=True
    )
    (note,) = (home / "home" / "hooks").glob("*.json")
    noted = json.loads(note.read_text())
    assert (noted["agent"], noted["event"]) == ("made-up", "Stop")
    assert noted["home"] == "/elsewhere"

    doctor = json.loads(run("doctor", "--json").stdout)
    (found,) = [each for each in doctor["agents"] if each["agent"] == "made-up"]
    assert found["installed"] is True
    assert run("uninstall", "made-up").returncode == 0
    assert not (home / ".made-up" / "settings.json").exists()


@AGENTS
def test_a_declaration_is_complete(agent):
    """Its name is that of its package, its tools do something, and its logs can be told apart."""
    assert agent.name == agent.source.name
    assert (Path(register.__file__).parent / agent.name.replace("-", "_")).is_dir()
    assert set(agent.tools.values()) <= set(get_args(Action))
    assert {"shell", "edit"} <= set(agent.tools.values())
    assert agent.source.pattern
    if agent.hooks is not None:
        assert agent.hooks.name == agent.name
        assert agent.hooks.label == agent.label


@AGENTS
def test_an_agent_that_is_not_there_has_no_logs(agent, tmp_path, monkeypatch):
    """Its homes need not exist, and nothing is made by looking for them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_DATA_HOME", agent.home_variable):
        monkeypatch.delenv(name, raising=False) if name else None
    assert list(agent.source.logs(agent.source.homes())) == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_belongs_to_the_agent_with_the_most_particular_name_for_it():
    """Claude Code's transcripts can have any name."""
    assert list(known_sources())[-1] == "claude-code"


STRANGE: tuple[Any, ...] = (None, -1, 1e308, "x" * 40_000, [[]], {"text": 7})


def _changed(value: Any, strange: Any) -> list[Any]:
    """Return a value with one part of it after the other replaced."""
    if isinstance(value, dict):
        return [
            {**value, name: new}
            for name, part in value.items()
            for new in (strange, *_changed(part, strange))
        ]
    if isinstance(value, list):
        return [
            [*value[:at], new, *value[at + 1 :]]
            for at, part in enumerate(value)
            for new in (strange, *_changed(part, strange))
        ]
    return []


LOGS = {
    "qwen-code": "QwenTeller", "gemini-cli": "GeminiTeller", "pi": "PiTeller",
    "copilot": "CopilotTeller", "kimi": "KimiTeller", "amp": "AmpTeller", "cline": "ClineTeller",
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("strange", STRANGE, ids=lambda strange: repr(strange)[:12])
def test_whatever_a_log_holds(name, strange, tmp_path, monkeypatch):
    """Any part of a record may be of another type, or huge: the rest is read, and stays bounded."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "conformance"))
    import message_tellers

    from tests.capture.conformance.conformance_stories import Edit, Refused, Say, Shell, Story, Turn

    teller = getattr(message_tellers, LOGS[name])()
    refused = () if "refused and led" in teller.traits.untold else (Refused("/src/a"),)
    steps = (Shell("pytest -q", 1, "1 failed"), *refused, Edit("/src/b"), Say("Done"))
    story = Story("", (Turn("Fix the failing tests", steps),), ())
    teller.tell(story, tmp_path)
    source = agent_of(name).source
    (log,) = source.logs([tmp_path])
    text = log.path.read_text()
    if log.path.suffix == ".jsonl":
        lines = [json.loads(line) for line in text.splitlines()]
        variants = [
            "".join(json.dumps(line) + "\n" for line in (*lines[:at], new, *lines[at + 1 :]))
            for at in range(len(lines))
            for new in _changed(lines[at], strange)
        ]
    else:
        variants = list(map(json.dumps, _changed(json.loads(text), strange)))
    assert len(variants) > 30
    for variant in variants:
        log.path.write_text(variant)
        for found in source.read(log):
            if isinstance(found, Unreadable):
                continue
            body = encode_body(outcome_of(found.run))
            decode_outcome(body)
            assert len(body) < 64 * 1024


def _runs(name: str, *places: Path) -> list[Any]:
    source = agent_of(name).source
    found = [each for log in source.logs(places) for each in source.read(log)]
    return [each.run for each in found if isinstance(each, ReadRun)]


def test_cursor_says_what_was_asked_and_called(tmp_path):
    """Its transcripts hold neither times nor results: so there is no verdict."""
    folder = tmp_path / "src" / "my-shop"
    folder.mkdir(parents=True)
    project = str(folder).strip("/").replace("/", "-")
    path = tmp_path / ".cursor" / "projects" / project / "agent-transcripts" / "s1" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    call = {"type": "tool_use", "name": "Shell", "input": {"command": "pytest -q"}}
    edit = {"type": "tool_use", "name": "Write", "input": {"path": "a.py", "contents": "x = 1"}}
    asked = "<user_query>\nFix the failing tests\n</user_query>"
    lines = [
        {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
        {"role": "assistant", "message": {"content": [edit, call]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (run,) = _runs("cursor", tmp_path)
    assert (run.session, run.folder, run.is_over) == ("s1", str(folder), True)
    assert run.instruction == "Fix the failing tests"
    assert run.started_at == path.stat().st_mtime
    assert [(each.tool, each.ok, each.command) for each in run.calls] == [
        ("Write", None, ""), ("Shell", None, "pytest -q"),
    ]  # fmt: skip
    assert run.calls[0].edits == ("a.py",)
    fields = outcome_of(run)
    assert fields["success"] is None
    assert b"x = 1" not in encode_body(fields)


AIDER = """
# aider chat started at 2026-11-23 16:30:58

> Model: openai/m with whole edit format
> Repo-map: using 1024 tokens, auto refresh

#### /add a.py
> Added a.py to the chat
#### Fix the failing tests
#### of the cart

I will fix it.

> Tokens: 1.2k sent, 16 received. Cost: $0.02 message, $0.05 session.
> Applied edit to a.py
> Commit f602fbf fix: the cart
> Attempt to fix test errors? (Y)es/(N)o [Yes]: y

> Tokens: 836 sent, 20 received. Cost: $0.01 message, $0.06 session.
> Applied edit to b.py
#### /undo
> Removed: f602fbf fix: the cart
#### /ask what is a cart?

A cart holds things.

> Tokens: 100 sent, 9 received.

# aider chat started at 2026-11-24 09:00:00

#### Rename the cart to basket

Done.

> Applied edit to cart.py
> Attempt to fix test errors? (Y)es/(N)o [Yes]: n
"""


def test_aider_says_what_was_asked_and_what_became_of_it(tmp_path):
    """A prompt may have several lines; commands are none; `/undo` takes back what went before."""
    path = tmp_path / "shop" / ".aider.chat.history.md"
    path.parent.mkdir()
    path.write_text(AIDER)
    first, second, third = _runs("aider", tmp_path)
    assert first.instruction == "Fix the failing tests\nof the cart"
    assert (first.model, first.tokens_in, first.tokens_out) == ("openai/m", 2036, 36)
    assert first.usd == pytest.approx(0.03)
    assert first.commits == ("f602fbf",)
    assert first.folder == str(path.parent)
    assert [(each.tool, each.ok, each.edits) for each in first.calls] == [
        ("edit", True, ("a.py",)), ("test", False, ()), ("edit", True, ("b.py",)),
    ]  # fmt: skip
    assert outcome_of(first)["success"] is False
    assert outcome_of(first)["grounds"][0]["kind"] == "undone"
    assert second.instruction == "what is a cart?"
    assert outcome_of(second)["success"] is None
    assert third.instruction == "Rename the cart to basket"
    assert outcome_of(third)["success"] is False
    assert third.session != first.session


def test_a_history_of_aider_is_read_on_from_the_chat_that_grew(tmp_path):
    """Runs keep their ids, however much of the file is read again."""
    path = tmp_path / "shop" / ".aider.chat.history.md"
    path.parent.mkdir()
    source = agent_of("aider").source
    path.write_text(AIDER)
    (log,) = source.logs([tmp_path])
    found = [each for each in source.read(log) if isinstance(each, ReadRun)]
    again = [each for each in source.read(log, found[-1].resume_at) if isinstance(each, ReadRun)]
    assert [each.run for each in again] == [found[-1].run]
