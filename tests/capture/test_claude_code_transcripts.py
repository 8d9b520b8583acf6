"""The traps of Claude Code's transcripts."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trackrecord_capture.agent_run import AgentRun, SignalKind
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.claude_code import AGENT
from trackrecord_capture.sources.json_lines import LONGEST_LINE
from trackrecord_capture.sources.source import Log, ReadRun, Unreadable

SESSION = "0b0c0d0e-1111-4222-8333-444455556666"


class Told:
    """A transcript that is written record by record."""

    def __init__(self, folder: Path, name: str = SESSION) -> None:
        self.path = folder / "projects" / "-src-p" / f"{name}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.last: str | None = None
        self.count = 0
        self.cwd = "/src/p"

    def record(self, type_: str, **fields: Any) -> str:
        """Append a record behind the last one, or behind the one that is named."""
        self.count += 1
        uuid = fields.pop("uuid", f"u{self.count}")
        common = {
            "parentUuid": self.last, "isSidechain": False, "cwd": self.cwd, "sessionId": SESSION,
            "entrypoint": "cli", "gitBranch": "main", "uuid": uuid, "type": type_,
            "timestamp": f"2026-11-20T10:00:{self.count:02}.000Z",
        }  # fmt: skip
        self.last = uuid
        with self.path.open("a") as file:
            # With blanks, as other programs write JSON.
            file.write(json.dumps({**common, **fields}) + "\n")
        return uuid

    def prompt(self, text: Any, prompt: str | None = None, **fields: Any) -> str:
        """Append what a person asks."""
        given = {"promptId": prompt} if prompt else {}
        return self.record("user", message={"role": "user", "content": text}, **given, **fields)

    def answer(self, *blocks: Any, id_: str = "", stop: str = "end_turn", **fields: Any) -> str:
        """Append what the model says."""
        message = {
            "id": id_ or f"m{self.count}", "role": "assistant", "model": "claude-x",
            "content": list(blocks), "stop_reason": stop,
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5},
        }  # fmt: skip
        return self.record("assistant", message=message, **fields)

    def call(self, tool: str, given: Any, result: Any, kept: Any = None, **block: Any) -> None:
        """Append a call and its result."""
        id_ = f"t{self.count}"
        self.answer({"type": "tool_use", "id": id_, "name": tool, "input": given}, stop="tool_use")
        content = [{"type": "tool_result", "tool_use_id": id_, "content": result, **block}]
        self.record(
            "user", message={"role": "user", "content": content},
            **({} if kept is None else {"toolUseResult": kept}),
        )  # fmt: skip

    def read(self) -> list[AgentRun]:
        """Return the runs."""
        found = list(AGENT.source.read(self.log))
        assert not [each for each in found if isinstance(each, Unreadable)]
        return [each.run for each in found if isinstance(each, ReadRun)]

    @property
    def log(self) -> Log:
        size = self.path.stat().st_size
        return Log(path=self.path, size=size, version=size)


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """An empty transcript."""
    return Told(tmp_path)


SAID = {"type": "text", "text": "Done."}


def test_usage_is_counted_once_for_an_answer(told: Told):
    """Each part of an answer repeats the usage of the whole."""
    told.prompt("Fix the tests", "p1")
    for _ in range(3):
        told.answer(SAID, id_="same")
    told.answer(SAID, id_="other")
    (run,) = told.read()
    assert (run.tokens_in, run.tokens_out, run.model) == (14, 10, "claude-x")


def test_a_prompt_without_an_id_is_known_by_its_record(told: Told):
    """As older versions write it."""
    told.prompt("Fix the tests", uuid="x1")
    told.answer(SAID)
    assert [run.prompt for run in told.read()] == ["x1"]


def test_what_is_no_prompt(told: Told):
    """What Claude Code writes in the person's name is part of the run that goes on."""
    told.prompt("Fix the tests", "p1")
    told.prompt("Caveat: ...", isMeta=True)
    told.prompt("This session is being continued", "p1", isCompactSummary=True)
    told.prompt("<task-notification>x</task-notification>", "p9",
                origin={"kind": "task-notification"})  # fmt: skip
    told.prompt("<local-command-stdout>x</local-command-stdout>", "p8")
    told.prompt("<bash-input>ls</bash-input>", "p7")
    told.prompt("<system-reminder>be kind</system-reminder>", "p6")
    told.call("Bash", {"command": "ls"}, "a.py", {"stdout": "a.py"})
    told.answer(SAID)
    (run,) = told.read()
    assert run.prompt == "p1"
    assert [(call.command, call.actor) for call in run.calls] == [("ls", "user"), ("ls", "agent")]
    assert run.signs == ()


def test_reminders_are_no_words_of_a_person(told: Told):
    """They are taken out of a prompt."""
    told.prompt([{"type": "text", "text": "Fix it<system-reminder>x</system-reminder>"}], "p1")
    told.answer(SAID)
    assert told.read()[0].instruction == "Fix it"


def test_a_command_that_nobody_works_on_is_no_run(told: Told):
    """Nor is it what a person said of the run before it."""
    told.prompt("Fix the tests", "p1")
    told.answer(SAID)
    told.prompt("<command-name>/clear</command-name><command-args></command-args>", "p2")
    told.prompt("That's wrong", "p3")
    told.answer(SAID)
    first, second = told.read()
    assert (first.prompt, second.prompt) == ("p1", "p3")


def test_a_slash_command_that_is_worked_on(told: Told):
    """Its name and its arguments are what was asked."""
    text = "<command-message>review</command-message><command-name>/review</command-name>"
    told.prompt(f"{text}<command-args>the cart</command-args>", "p1")
    told.prompt("Review the cart thoroughly ...", "p1", isMeta=True)
    told.answer(SAID)
    (run,) = told.read()
    assert run.instruction == "/review the cart"


def test_rewinding_takes_a_run_back(told: Told):
    """The person undid it."""
    told.prompt("Fix the tests", "p1")
    told.answer(SAID)
    told.prompt("<command-name>/rewind</command-name>", "p2")
    assert [sign.kind for sign in told.read()[0].signs] == [SignalKind.UNDONE]


def _worked(told: Told, prompt: str, key: str) -> str:
    """A prompt that was worked on; return the last record of its run."""
    told.prompt(prompt, key)
    told.call("Write", {"file_path": f"/src/p/{key}.py"}, "done")
    told.call("Bash", {"command": "pytest -q"}, "3 passed in 0.1s", {"stdout": "3 passed in 0.1s"})
    return told.answer(SAID)


def _undone(told: Told) -> dict[str, bool]:
    runs = {run.prompt: run for run in told.read()}
    return {
        key: any(sign.kind is SignalKind.UNDONE for sign in run.signs) for key, run in runs.items()
    }


def test_going_back_in_the_tree_takes_back_what_was_behind(told: Told):
    """The person rewound, of which no record tells but the tree: green tests do not help then."""
    first = _worked(told, "Write the cart of the shop", "p1")
    _worked(told, "Give it a discount", "p2")
    assert _undone(told) == {"p1": False, "p2": False}
    told.last = first
    _worked(told, "Give it a voucher", "p3")
    assert _undone(told) == {"p1": False, "p2": True, "p3": False}
    second = next(run for run in told.read() if run.prompt == "p2")
    assert (outcome_of(second)["success"], outcome_of(second)["failure_mode"]) == (False, "undone")


def test_going_back_further_than_the_last_prompt(told: Told):
    """All that was asked behind it is taken back, whenever it is read."""
    first = _worked(told, "Write the cart of the shop", "p1")
    _worked(told, "Give it a discount", "p2")
    before = len(told.path.read_bytes())
    _worked(told, "Give it a second discount", "p3")
    told.last = first
    _worked(told, "Give it a voucher", "p4")
    wanted = {"p1": False, "p2": True, "p3": True, "p4": False}
    assert _undone(told) == wanted
    found = [each.run for each in AGENT.source.read(told.log, before) if isinstance(each, ReadRun)]
    late = {run.prompt: run for run in found}
    assert {key: bool(run.signs and run.signs[-1].kind is SignalKind.UNDONE)
            for key, run in late.items()} == wanted  # fmt: skip


def test_going_back_to_the_very_beginning(told: Told):
    """There is nothing before the first prompt."""
    _worked(told, "Write the cart of the shop", "p1")
    told.last = None
    _worked(told, "Write the basket of the shop", "p2")
    assert _undone(told) == {"p1": True, "p2": False}


def test_going_back_without_a_further_prompt(told: Told):
    """The leaf of the session is named when it ends."""
    first = _worked(told, "Write the cart of the shop", "p1")
    last = _worked(told, "Give it a discount", "p2")
    told.record("last-prompt", leafUuid=last, uuid=None)
    assert _undone(told) == {"p1": False, "p2": False}
    told.record("last-prompt", leafUuid=first, uuid=None)
    assert _undone(told) == {"p1": False, "p2": True}


def test_a_second_terminal_takes_nothing_back(told: Told):
    """Both branches go on."""
    first = _worked(told, "Write the cart of the shop", "p1")
    left = _worked(told, "Give it a discount", "p2")
    told.last = first
    _worked(told, "Write the docs", "p3")
    told.last = left
    told.answer(SAID)
    assert _undone(told) == {"p1": False, "p2": False, "p3": False}


@pytest.mark.parametrize(
    "last",
    [
        # Closing the terminal ends the command first.
        "Exit code 137",
        # Written when the session is resumed.
        "[Tool call interrupted: the session ended before this call's result was recorded]",
    ],
)
def test_ended_in_a_call_and_resumed_with_another_task(told: Told, last: str):
    """It is not the model's API that was away: nothing was asked of it any more."""
    told.prompt("Fix the tests", "p1")
    told.call("Edit", {"file_path": "/src/p/a.py"}, "done")
    told.call("Bash", {"command": "sleep 9"}, last, is_error=True)
    synthetic = {"model": "<synthetic>", "content": [{"type": "text", "text": "Nothing."}]}
    told.record("assistant", message={**synthetic, "stop_reason": "stop_sequence"})
    told.prompt("List the files", "p2")
    told.answer(SAID)
    run, _ = told.read()
    assert [call.ok for call in run.calls] == [True, None]
    kinds = [sign.kind for sign in run.signs]
    assert kinds == [SignalKind.CUT_OFF, SignalKind.FOLLOWED_BY]


@pytest.mark.parametrize("is_told", [True, False])
def test_an_api_that_is_away_blames_nobody(told: Told, is_told: bool):
    """Neither while the client tries again, nor after an hour without a word."""
    told.prompt("Fix the tests", "p1")
    told.call("Bash", {"command": "pytest -q"}, "Exit code 1\n1 failed", is_error=True)
    if is_told:
        told.record("system", subtype="api_error", error={"message": "Connection error."})
    (run,) = told.read()
    fields = outcome_of(msgspec.structs.replace(run, is_over=True))
    assert fields["success"] is None
    assert "api failed" in [ground["kind"] for ground in fields["grounds"]]


def test_a_prompt_that_only_goes_on_joins_its_run(told: Told):
    """What was asked for stays the same, and so does the outcome; another prompt is another run."""
    _worked(told, "Write the cart of the shop", "p1")
    told.prompt("ok, continue", "p2")
    told.call("Edit", {"file_path": "/src/p/a.py"}, "done")
    told.answer(SAID)
    (run,) = told.read()
    assert (run.prompt, run.instruction) == ("p1", "Write the cart of the shop")
    assert len(run.calls) == 3
    # The checks had run before the work went on.
    assert outcome_of(run)["success"] is None
    told.prompt("continue with the docs", "p3")
    told.answer(SAID)
    assert [run.prompt for run in told.read()] == ["p1", "p3"]


def test_two_terminals_in_one_transcript(told: Told):
    """Their records alternate, and the tree tells which run they belong to."""
    told.prompt("Hello", "p0")
    resumed = told.answer(SAID)
    left = told.prompt("Fix the tests", "p1")
    told.last = resumed
    right = told.prompt("Write the docs", "p2")
    for number in range(3):
        for side, name in ((left, "left"), (right, "right")):
            told.last = side
            told.call("Bash", {"command": f"{name} {number}"}, "ok", {"stdout": "ok"})
            left, right = (told.last, right) if name == "left" else (left, told.last)
    runs = {run.prompt: run for run in told.read()}
    assert [call.command for call in runs["p1"].calls] == ["left 0", "left 1", "left 2"]
    assert [call.command for call in runs["p2"].calls] == ["right 0", "right 1", "right 2"]


def test_bash_without_a_result_that_says_how_it_ended(told: Told):
    """In the background, interrupted, or stopped by its limit: each is known for what it is."""
    told.prompt("Fix the tests", "p1")
    told.call("Bash", {"command": "pytest"}, "started", {"backgroundTaskId": "b1"})
    told.call("Bash", {"command": "pytest"}, "x", {"stdout": "x", "interrupted": True})
    told.call("Bash", {"command": "pytest"}, "Command timed out after 2m 0s", is_error=True)
    told.call("Bash", {"command": "pytest"}, "Exit code 5\nno tests ran", is_error=True)
    told.call("Bash", {"command": "pytest"}, "3 passed")
    calls = told.read()[0].calls
    assert [(call.ok, call.exit_code) for call in calls] == [
        (None, None), (None, None), (False, 124), (False, 5), (True, 0),
    ]  # fmt: skip


def test_a_call_that_was_not_even_made(told: Told):
    """A tool's own refusal changed no file."""
    told.prompt("Fix the tests", "p1")
    told.call("Edit", {"file_path": "/src/p/a"},
              "<tool_use_error>File has not been read yet.</tool_use_error>",
              "Error: x", is_error=True)  # fmt: skip
    told.call("mcp__docs__write_file", {"path": "/src/p/b"}, [{"type": "text", "text": "ok"}])
    first, second = told.read()[0].calls
    assert (first.ok, first.error, first.edits) == (False, "File has not been read yet.", ())
    assert (second.tool, second.ok, second.edits) == ("docs:write_file", True, ("/src/p/b",))


@pytest.mark.parametrize(
    "result",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error>Cancelled: parallel tool call Bash(npm test) errored</tool_use_error>",
        "Cancelled: parallel tool call Bash errored",
        "[Request interrupted by user for tool use]",
    ],
)
def test_a_call_that_was_cancelled_is_no_failure(told: Told, result: str):
    """When one call of an answer fails, Claude Code does not carry out the others."""
    told.prompt("Fix it")
    told.call("Bash", {"command": "pytest -q"}, result, is_error=True)
    told.call("Edit", {"file_path": "/src/p/a.py"}, result, is_error=True)
    (run,) = told.read()
    assert [(call.ok, call.edits) for call in run.calls] == [(None, ()), (None, ())]
    fields = outcome_of(run)
    assert (fields["success"], fields["error_count"]) == (None, 0)


def test_the_folder_of_a_command_is_where_the_shell_stays(told: Told):
    """A command that runs where an earlier one went covers what that one ran on."""
    told.prompt("Fix it")
    told.call("Edit", {"file_path": "/src/p/a.py"}, "done")
    told.call("Bash", {"command": "cd web && npm test"}, "Exit code 1\n1 failed", is_error=True)
    told.cwd = "/src/p/web"
    told.call("Bash", {"command": "npm test"}, "3 passed in 0.1s")
    (run,) = told.read()
    assert run.calls[2].folder == "/src/p/web"
    assert outcome_of(run)["success"] is True


def test_an_api_failure_that_passed(told: Told):
    """What the agent recovered from did not end the run."""
    told.prompt("Fix the tests", "p1")
    told.record("system", subtype="api_error", error={"message": "529"})
    told.answer({"type": "text", "text": "API Error"}, isApiErrorMessage=True)
    assert [sign.kind for sign in told.read()[0].signs] == [SignalKind.API_FAILED]
    told.answer(SAID)
    assert told.read()[0].signs == ()


def test_a_run_that_goes_on(told: Told):
    """Until the agent ends its turn, or the next prompt comes."""
    told.prompt("Fix the tests", "p1")
    told.answer({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}})
    assert not told.read()[0].is_over
    told.prompt("Well?", "p2")
    told.answer(SAID)
    assert [run.is_over for run in told.read()] == [True, True]


def test_sub_agents_within_a_transcript(told: Told):
    """Older versions kept them there, as trees of their own."""
    told.prompt("Fix the tests", "p1")
    told.answer({"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Look"}})
    before, told.last = told.last, None
    told.prompt("Look", uuid="s1", isSidechain=True)
    told.call("Bash", {"command": "ls"}, "x", {"stdout": "x"})
    told.last = before
    told.answer(SAID)
    runs = {run.prompt: run for run in told.read()}
    assert runs["s1"].parent == runs["p1"].outcome_id
    assert [call.tool for call in runs["s1"].calls] == ["Bash"]
    assert [call.tool for call in runs["p1"].calls] == ["Task"]


def test_a_program_that_started_it(told: Told):
    """`claude -p` and the SDKs are known by their entry point; no person refuses a call there."""
    told.prompt("Fix the tests", "p1", entrypoint="sdk-py")
    refused = "The user doesn't want to proceed with this tool use."
    told.call("Bash", {"command": "ls"}, refused, is_error=True)
    told.answer(SAID)
    assert told.read()[0].automated
    assert "process" not in outcome_of(told.read()[0])


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"user","message":7,"uuid":[],"timestamp":{},"promptId":3}',
        b'{"type":"assistant","message":{"content":[{"type":5},{"type":"tool_use"}],"usage":[]}}',
        b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":3}]}}',
        b'{"type":["user"]}',
        b'{"type":"user","message":{"content":null},"toolUseResult":{"x":"' + b"x" * 999 + b'"}}',
    ],
)
def test_members_of_another_type(told: Told, line: bytes):
    """A newer version may write anything; what is known of the rest stays."""
    told.prompt("Fix the tests", "p1")
    with told.path.open("ab") as file:
        file.write(line + b"\n")
    told.answer(SAID)
    (run,) = told.read()
    assert (run.prompt, run.instruction) == ("p1", "Fix the tests")


def test_a_line_that_is_too_long_is_named(told: Told):
    """And the rest goes through."""
    told.prompt("Fix the tests", "p1")
    with told.path.open("ab") as file:
        file.write(b'{"type":"user","x":"' + b"x" * LONGEST_LINE + b'"}\n')
    told.answer(SAID)
    found = list(AGENT.source.read(told.log))
    assert [type(each) for each in found] == [Unreadable, ReadRun]


def test_where_transcripts_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """CLAUDE_CONFIG_DIR moves them; what is not there is none."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    source = AGENT.source
    assert source.homes() == (tmp_path / "projects",)
    assert list(source.logs(source.homes())) == []
    Told(tmp_path).prompt("x", "p")
    assert [log.path.stem for log in source.logs(source.homes())] == [SESSION]


_NOTE = "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>{}</tool-use-id>\n…"


@pytest.mark.parametrize(
    ("kept", "meanwhile", "tools", "verdict"),
    [
        ({"status": "completed"}, False, ["Edit"], True),
        ({"isAsync": True, "status": "async_launched"}, False, ["Edit"], True),
        # Nobody knows which of the two edits the check has seen.
        ({"isAsync": True, "status": "async_launched"}, True, ["Edit"], None),
        # That one may edit for longer than the check.
        ({"status": "completed"}, False, ["Edit", "Agent"], None),
    ],
    ids=["waited for", "in the background", "both work", "a sub-agent of its own"],
)
def test_what_a_sub_agent_checks(
    told: Told, kept: dict[str, Any], meanwhile: bool, tools: list[str], verdict: bool | None
):
    """It counts for the run that waited for it."""
    own = Told(told.path.parent)
    own.path = told.path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    own.path.parent.mkdir(parents=True, exist_ok=True)
    told.prompt("Fix the tests", "p1")
    use = {"type": "tool_use", "id": "t1", "name": "Agent", "input": {"prompt": "Mend it"}}
    told.answer(use)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    ended = {"message": {"role": "user", "content": [result]}, "promptId": "p1"}
    ended["toolUseResult"] = {**kept, "agentId": "a1"}
    if "isAsync" in kept:
        told.record("user", **ended)
    own.count = told.count
    own.prompt("Mend it", "p1")
    for tool in tools:
        own.call(tool, {"file_path": "/src/p/a.py", "prompt": "Mend it"}, "done")
    own.call("Bash", {"command": "pytest"}, "1 passed", {"stdout": "1 passed"})
    if meanwhile:
        told.call("Edit", {"file_path": "/src/p/b.py"}, "done")
    told.count = own.count + told.count
    if "isAsync" in kept:
        note = _NOTE.format("t1")
        told.record("user", promptId="p2", message={"role": "user", "content": note})
    else:
        told.record("user", **ended)
    told.answer(SAID)
    (run,) = told.read()
    assert outcome_of(run)["success"] is verdict


@pytest.mark.parametrize("is_queued", [False, True])
def test_a_sub_agent_in_the_background(told: Told, is_queued: bool):
    """It works until a notification names its call; until then nobody knows when it ends."""
    launched = {"isAsync": True, "status": "async_launched", "agentId": "a1"}
    told.prompt("Fix the tests", "p1")
    told.call("Agent", {"prompt": "Mend it", "subagent_type": "worker"}, "launched", launched)
    told.call("Bash", {"command": "pytest"}, "1 passed", {"stdout": "1 passed"})
    (run,) = told.read()
    assert run.calls[0].sub_agent is not None
    assert run.calls[0].sub_agent.ended_at == math.inf
    note = _NOTE.format(run.calls[0].id)
    if is_queued:
        told.record("attachment", attachment={"type": "queued_command", "prompt": note})
    else:
        told.record("user", promptId="p1", message={"role": "user", "content": note})
    told.call("Bash", {"command": "pytest"}, "1 passed", {"stdout": "1 passed"})
    (run,) = told.read()
    agent, before, after = run.calls
    assert agent.sub_agent is not None
    assert (agent.sub_agent.kind, agent.sub_agent.errand) == ("worker", "Mend it")
    ended = agent.sub_agent.ended_at or 0.0
    assert (before.started_at or 0.0) < ended < (after.started_at or 0.0)
