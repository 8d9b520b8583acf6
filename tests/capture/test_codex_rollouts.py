"""The rollouts of Codex, read as runs."""

import json
from pathlib import Path

import pytest

from tests.capture.made_runs import run_of
from trackrecord_capture.agent_run import AgentRun, RunCall, SignalKind, SubAgent
from trackrecord_capture.sources.codex import AGENT
from trackrecord_capture.sources.source import ReadRun, Unreadable
from trackrecord_capture.sources.sub_agents import with_sub_agents

THREAD = "01a20168-5106-7f52-b27b-c498fee45552"
TURN = "01a20168-513c-75c1-906c-174daaebfcb5"
LATER_TURN = "01a20169-513c-75c1-906c-174daaebfcb5"
PATCH = "*** Begin Patch\n*** Update File: cart.py\n+x = 1\n*** Add File: new.py\n+y\n*** End Patch"


def event(kind, **fields):
    return "event_msg", {"type": kind, **fields}


def item(kind, **fields):
    return "response_item", {"type": kind, **fields}


def said(text):
    return event("user_message", message=text, images=[])


def user_item(text):
    return item("message", role="user", content=[{"type": "input_text", "text": text}])


def context(turn=TURN, **fields):
    return "turn_context", {"turn_id": turn, "cwd": "/src/shop", "model": "gpt-6-codex", **fields}


def called(command="pytest -q", call_id="call_1", name="exec_command"):
    return item("function_call", name=name, arguments=json.dumps({"cmd": command}), call_id=call_id)


def answered(output, call_id="call_1"):
    return item("function_call_output", call_id=call_id, output=output)


def completed(turn=TURN, **one):
    return event("item_completed", thread_id=THREAD, turn_id=turn, item=one)


START = (event("task_started", turn_id=TURN), user_item("Fix the tests"), said("Fix the tests"))
END = event("task_complete", turn_id=TURN, last_agent_message="Done.")


def meta(**fields):
    payload = {"id": THREAD, "cwd": "/src/shop", "originator": "codex_cli_rs", "source": "cli"}
    git = {"repository_url": "https://git.example.com/acme/shop.git", "branch": "main"}
    return "session_meta", payload | {"git": git} | fields


@pytest.fixture
def write(tmp_path):
    def write(*records, name=f"rollout-2026-11-22T03-59-03-{THREAD}.jsonl", first=None):
        path = tmp_path / "sessions" / "2026" / "11" / "22" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        for second, (kind, payload) in enumerate((first or meta(), *records)):
            at = f"2026-11-22T03:59:{second:02}.500Z"
            lines.append(json.dumps({"timestamp": at, "type": kind, "payload": payload}) + "\n")
        path.write_text("".join(lines))
        return path

    return write


def read(path: Path, resume_at=0):
    (log,) = AGENT.source.logs([path])
    return list(AGENT.source.read(log, resume_at))


def runs(path: Path) -> list[AgentRun]:
    found = read(path)
    assert all(isinstance(each, ReadRun) for each in found), found
    return [each.run for each in found]


def test_a_turn(write):
    """A turn is a run: its prompt, its calls with their exit codes, its folder and its end."""
    command = {
        "type": "CommandExecution",
        "id": "call_1",
        "command": ["/bin/bash", "-lc", "pytest -q"],
        "cwd": "file:///src/shop",
        "status": "failed",
        "aggregated_output": "2 tests failed\n",
        "exit_code": 1,
        "duration": {"secs": 1, "nanos": 500_000_000},
    }
    path = write(
        *START,
        context(),
        called(),
        completed(**command),
        answered("Process exited with code 1"),
        END,
    )
    (run,) = runs(path)
    assert run.outcome_id == f"codex:{THREAD}:{TURN}"
    assert run.instruction == "Fix the tests"
    assert (run.folder, run.branch, run.model) == ("/src/shop", "main", "gpt-6-codex")
    assert run.repository == "https://git.example.com/acme/shop.git"
    assert run.is_over
    assert not run.automated
    (call,) = run.calls
    assert (call.tool, call.command, call.folder) == ("exec_command", "pytest -q", "/src/shop")
    assert (call.ok, call.exit_code, call.duration_ms) == (False, 1, 1500.0)
    assert call.error == "2 tests failed\n"


@pytest.mark.parametrize(
    ("output", "ok", "exit_code"),
    [
        ("Chunk ID: 73\nWall time: 0.5 seconds\nProcess exited with code 1\nOutput:\nno", False, 1),
        ("Exit code: 0\nWall time: 2 seconds\nOutput:\nfine", True, 0),
        ([{"type": "input_text", "text": "Process exited with code 2\nOutput:\n"}], False, 2),
        ({"content": "Process exited with code 0\nOutput:\nyes", "success": True}, True, 0),
        ('{"output":"no\\n","metadata":{"exit_code":3,"duration_seconds":0.1}}', False, 3),
        ("unsupported call: exec_command", False, None),
        ("plain text", None, None),
        (None, None, None),
    ],
)
def test_exit_codes_in_outputs(write, output, ok, exit_code):
    """Where no event has the exit status, the tool's answer has it, in whichever wrapping."""
    (run,) = runs(write(*START, called(), answered(output), END))
    (call,) = run.calls
    assert (call.ok, call.exit_code) == (ok, exit_code)
    assert not call.result.startswith(("Chunk", "Wall", "Exit", "Process", "Output"))


def test_a_command_that_goes_on(write):
    """A command that is asked again later gets the exit status of its end, and it alone."""
    running = "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n..."
    asked = {"session_id": 7, "chars": ""}
    path = write(
        *START,
        called("make all"),
        answered(running),
        item("function_call", name="write_stdin", arguments=json.dumps(asked), call_id="call_2"),
        answered("Process exited with code 2\nOutput:\nmake: error", "call_2"),
        END,
    )
    (run,) = runs(path)
    assert [(call.tool, call.exit_code) for call in run.calls] == [
        ("exec_command", 2),
        ("write_stdin", None),
    ]


def script(call_id, text="text(await tools.exec_command({cmd: 'pytest -q'}));"):
    named = {"name": "exec", "namespace": "functions"}
    return item("custom_tool_call", call_id=call_id, input=text, **named)


def test_code_mode(write):
    """The calls that a script made stand for the script; one that made none stands for itself."""
    command = {"type": "CommandExecution", "command": ["/bin/bash", "-lc", "pytest -q"]}
    changes = {"/src/shop/cart.py": {"type": "add", "content": "x"}}
    path = write(
        *START,
        script("call_1"),
        completed(id="exec-1", exit_code=1, status="failed", **command),
        completed(type="FileChange", id="exec-2", changes=changes, status="completed"),
        item("function_call", name="wait", namespace="functions", arguments="{}", call_id="call_2"),
        completed(id="exec-3", exit_code=0, status="completed", **command),
        item("custom_tool_call_output", call_id="call_1", output="Script completed"),
        script("call_4", "1 +"),
        item("custom_tool_call_output", call_id="call_4", output="SyntaxError"),
        END,
    )
    (run,) = runs(path)
    assert [(call.tool, call.command, call.edits, call.ok) for call in run.calls] == [
        ("exec_command", "pytest -q", (), False),
        ("apply_patch", "", ("/src/shop/cart.py",), True),
        ("exec_command", "pytest -q", (), True),
        ("exec", "", (), None),
    ]


@pytest.mark.parametrize(
    ("ended", "ok"),
    [
        ({"type": "CollabAgentToolCall", "status": "completed"}, True),
        ({"type": "CollabAgentToolCall", "status": "failed"}, False),
        ({"type": "SubAgentActivity", "kind": "started"}, True),
        ({"type": "SubAgentActivity", "kind": "never-seen"}, None),
    ],
)
def test_whether_a_sub_agent_was_started(write, ended, ok):
    """The item beside the call says it; its answer does not."""
    named = {"name": "spawn_agent", "arguments": '{"message": "Look"}'}
    started = item("function_call", call_id="call_1", **named)
    path = write(*START, started, completed(id="call_1", **ended), answered("{}"), END)
    (run,) = runs(path)
    assert [(call.tool, call.ok) for call in run.calls] == [("spawn_agent", ok)]


def test_the_shells_of_older_versions(write):
    """Commands of the older shell tools are found, and their exit codes in the older event."""
    arguments = json.dumps({"command": ["bash", "-lc", "go test ./..."], "workdir": "/src/api"})
    local = {"type": "exec", "command": ["ls", "a b"], "working_directory": "/src"}
    end = {"command": ["bash", "-lc", "go test ./..."], "exit_code": 1, "stdout": "FAIL"}
    path = write(
        said("Fix it"),
        ("turn_context", {"cwd": "/src/api", "model": "gpt-5-codex"}),
        item("function_call", name="shell", arguments=arguments, call_id="c1"),
        event("exec_command_end", call_id="c1", duration={"secs": 0, "nanos": 1_000_000}, **end),
        item("local_shell_call", call_id="c2", action=local, status="completed"),
        said("And now the docs"),
    )
    first, second = runs(path)
    assert first.prompt.startswith("at-")
    assert first.prompt != second.prompt
    assert [(call.tool, call.command, call.folder, call.ok) for call in first.calls] == [
        ("shell", "go test ./...", "/src/api", False),
        ("local_shell", "ls 'a b'", "/src", None),
    ]
    assert first.is_over
    assert not second.is_over


@pytest.mark.parametrize("heredoc", [True, False])
def test_edits(write, heredoc):
    """The files of a patch are edits; its text, which is the files' content, is not kept."""
    if heredoc:
        call = called(f"apply_patch <<'EOF'\n{PATCH}\nEOF")
    else:
        call = item("custom_tool_call", name="apply_patch", call_id="call_1", input=PATCH)
    path = write(*START, call, event("patch_apply_end", call_id="call_1", success=True), END)
    (run,) = runs(path)
    assert run.calls[0].edits == ("cart.py", "new.py")
    assert run.calls[0].ok is True
    if not heredoc:
        assert run.calls[0].arguments == {"files": ["cart.py", "new.py"]}


@pytest.mark.parametrize(
    ("says", "ok"),
    [
        ("apply_patch verification failed: Failed to find expected lines in /src/a.py", False),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed to write file", False),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated these files", True),
        ("patch rejected by user", None),
    ],
)
def test_a_patch_that_was_not_applied(write, says, ok):
    """No event tells of its end, if it does not fit: the answer to the model does."""
    call = item("custom_tool_call", name="apply_patch", call_id="call_1", input=PATCH)
    answer = item("custom_tool_call_output", call_id="call_1", output=says)
    (run,) = runs(write(*START, call, answer, END))
    assert run.calls[0].ok is ok


UNFIT = "apply_patch verification failed: Failed to find expected lines in /src/a.py:\nimport os"


def test_a_patch_in_a_command_that_does_not_fit(write):
    """Without a tool of its own the model hands the patch to a shell, which does not apply it."""
    call = called(f"apply_patch <<'EOF'\n{PATCH}\nEOF")
    answer = item("function_call_output", call_id="call_1", output=UNFIT)
    (run,) = runs(write(*START, call, answer, END))
    assert [(each.ok, each.error) for each in run.calls] == [(False, UNFIT)]


def test_a_patch_in_a_script_that_does_not_fit(write):
    """It is a failed call of the script's, behind those that came to their end."""
    command = {"type": "CommandExecution", "command": ["/bin/bash", "-lc", "pytest -q"]}
    ended = [
        {"type": "input_text", "text": "Script failed\nWall time 0.0 seconds\nOutput:\n"},
        {"type": "input_text", "text": f"Script error:\n{UNFIT}"},
    ]
    path = write(
        *START,
        script("call_1"),
        completed(id="exec-1", exit_code=0, status="completed", **command),
        item("custom_tool_call_output", call_id="call_1", output=ended),
        script("call_2"),
        item("custom_tool_call_output", call_id="call_2", output=f"Script completed\n{UNFIT}"),
        END,
    )
    (run,) = runs(path)
    assert [(call.tool, call.ok, call.error) for call in run.calls] == [
        ("exec_command", True, ""),
        ("apply_patch", False, UNFIT.partition("\n")[0]),
        ("exec", None, ""),
    ]


def test_a_file_change_that_was_refused(write):
    """A change that the person declined is a rejected call without a verdict of its own."""
    change = {"type": "FileChange", "id": "call_1", "changes": {"/src/a.py": {}}}
    path = write(*START, called("apply_patch"), completed(**change, status="declined"), END)
    (run,) = runs(path)
    assert run.calls[0].ok is None
    assert [sign.kind for sign in run.signs] == [SignalKind.REJECTED]


def test_mcp_tools(write):
    """A tool of an MCP server keeps the server's name, and its error."""
    name = "mcp__tickets__close"
    invocation = {"server": "tickets", "tool": "close", "arguments": {"id": 4}}
    path = write(
        *START,
        item("function_call", name=name, arguments='{"id": 4}', call_id="c1"),
        event("mcp_tool_call_end", call_id="c1", invocation=invocation, result={"Err": "gone"}),
        item("function_call", name="open", namespace="mcp__tickets", arguments="{}", call_id="c2"),
        END,
    )
    (run,) = runs(path)
    assert [(call.tool, call.ok) for call in run.calls] == [
        ("tickets:close", False),
        ("tickets:open", None),
    ]
    assert run.calls[0].result == "gone"


def test_what_no_person_wrote(write):
    """Context and instructions that Codex writes in the person's name are not the prompt."""
    path = write(
        event("task_started", turn_id=TURN),
        user_item("<environment_context>\n  <cwd>/src</cwd>\n</environment_context>"),
        user_item("# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>be nice</INSTRUCTIONS>"),
        user_item("<user_instructions>be nice</user_instructions>"),
        user_item("Fix <b>it</b>"),
        called(),
        END,
    )
    (run,) = runs(path)
    assert run.instruction == "Fix <b>it</b>"


def test_an_undo(write):
    """What the person takes back was done by the turn before."""
    path = write(
        *START,
        called(),
        END,
        event("task_started", turn_id=LATER_TURN),
        event("undo_completed", success=True, message="Undone"),
        event("task_complete", turn_id=LATER_TURN),
    )
    (run,) = runs(path)
    assert [sign.kind for sign in run.signs] == [SignalKind.UNDONE]


@pytest.mark.parametrize(
    ("info", "kind"),
    [
        ({"http_connection_failed": {"http_status_code": 529}}, SignalKind.API_FAILED),
        ("usage_limit_exceeded", SignalKind.API_FAILED),
        (None, SignalKind.API_FAILED),
        ("context_window_exceeded", SignalKind.CRASHED),
    ],
)
def test_errors(write, info, kind):
    """A failure of the model's API is not the agent's; the same error told twice is one sign."""
    error = {"message": "Overloaded", "codex_error_info": info}
    path = write(*START, event("error", **error), event("task_complete", turn_id=TURN, error=error))
    (run,) = runs(path)
    assert [(sign.kind, sign.says) for sign in run.signs] == [(kind, "Overloaded")]


def test_tokens_of_a_turn(write):
    """The thread's running count is turned into the turn's own, wherever reading begins."""

    def counted(total, last):
        usage = {"input_tokens": total, "output_tokens": total // 10}
        newest = {"input_tokens": last, "output_tokens": last // 10}
        return event("token_count", info={"total_token_usage": usage, "last_token_usage": newest})

    path = write(
        *START, counted(1000, 1000), END,
        event("task_started", turn_id=LATER_TURN), said("more"),
        counted(1500, 500), counted(1500, 500), counted(2500, 1000),
    )  # fmt: skip
    first, second = read(path)
    assert (first.run.tokens_in, first.run.tokens_out) == (1000, 100)
    assert (second.run.tokens_in, second.run.tokens_out) == (1500, 150)
    (again,) = read(path, second.resume_at)
    assert again.run == second.run


def test_a_fork(write):
    """Turns that were copied from the thread a fork came from are not the fork's own."""
    old = "01a10168-513c-75c1-906c-174daaebfcb5"
    path = write(
        event("task_started", turn_id=old), context(old), said("Old prompt"), called("ls", "c0"),
        *START, called(), END,
    )  # fmt: skip
    (run,) = runs(path)
    assert run.prompt == TURN
    assert len(run.calls) == 1


def test_a_sub_agent(write):
    """A sub-agent's run names the run that started it, also where only the thread is told."""
    child = "01a20168-6000-7f52-b27b-c498fee45552"
    write(*START, called(), answered(f"agent {child}"), END)
    source = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "agent_role": "explorer"}}}
    turn = "01a20168-6001-75c1-906c-174daaebfcb5"
    path = write(
        event("task_started", turn_id=turn),
        said("Look around"),
        called("ls"),
        name=f"rollout-2026-11-22T03-59-04-{child}.jsonl",
        first=meta(id=child, source=source),
    )
    (run,) = runs(path)
    assert run.parent == f"codex:{THREAD}:{TURN}"
    assert run.name == "explorer"


def test_programs(write):
    """Runs of `codex exec` are marked as those of a program."""
    (run,) = runs(write(*START, called(), END, first=meta(source="exec")))
    assert run.automated


def test_a_file_that_is_no_rollout(tmp_path):
    """A file that describes no session is named; one that is gone, too."""
    path = tmp_path / "rollout-x.jsonl"
    path.write_text('{"a": 1}\n')
    (log,) = AGENT.source.logs([path])
    (bad,) = AGENT.source.read(log)
    assert isinstance(bad, Unreadable)
    path.unlink()
    (bad,) = AGENT.source.read(log)
    assert isinstance(bad, Unreadable)


def test_homes(monkeypatch, tmp_path):
    """$CODEX_HOME says where the rollouts are; archived ones are found, too."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    archived = tmp_path / "archived_sessions" / "rollout-1.jsonl"
    archived.parent.mkdir()
    archived.write_text("")
    assert [log.path for log in AGENT.source.logs(AGENT.source.homes())] == [archived]


def test_which_turn_went_on_at_a_moment(write, monkeypatch):
    """A turn that begins soon after a moment is not the one that went on then."""
    later = (
        event("task_started", turn_id=LATER_TURN),
        user_item("And of Spain?"),
        event("task_complete", turn_id=LATER_TURN),
    )
    path = write(*START, called(), END, *later)
    monkeypatch.setenv("CODEX_HOME", str(path.parents[4]))
    began = 1_795_319_940.5
    # The first turn goes on from second 1 to 5, the next one from 6 on.
    for moment, turn in (
        (0.9, TURN), (1.1, TURN), (4.9, TURN), (5.9, LATER_TURN), (6.1, LATER_TURN),
    ):  # fmt: skip
        assert AGENT.recorded_prompt(THREAD, began + moment).id == turn, moment


def test_what_sub_agents_did_is_known_once_the_run_has_waited_for_all_of_them():
    """Not if one goes on, if the run works meanwhile, or if it talks to them in between."""

    def called(tool, at, lasts=1.0, **about):
        about = {"sub_agent": SubAgent(**about)} if about else {}
        return RunCall(tool=tool, ok=True, started_at=at, duration_ms=lasts * 1000, **about)

    def work(begun, ended, *calls):
        return [run_of(*calls, agent="codex", started_at=begun, ended_at=ended, is_over=True)]

    def told(*calls):
        known = with_sub_agents(calls, lambda name: works.get(name, []))
        return [call.sub_agent and call.sub_agent.calls for call in known]

    one, other = called("exec_command", 3.0), called("exec_command", 2.0)
    works = {"a": work(1.0, 5.0, one), "b": work(1.5, 4.0, other)}
    starts = [called("spawn_agent", n, starts=True, id=name) for n, name in enumerate("ab")]
    wait = called("wait_agent", 4.0, 2.0, starts=False)
    assert told(*starts, wait) == [(), (), (other, one)]
    assert told(*starts, called("wait_agent", 2.0, 0.5, starts=False), wait)[2:] == [
        (),
        (other, one),
    ]
    unknown = [None, None, None]
    assert told(*starts, called("wait_agent", 4.0, 0.5, starts=False)) == unknown
    assert told(*starts, called("exec_command", 3.5), wait) == [*unknown, None]
    assert told(*starts, called("send_input", 3.5, starts=False), wait) == [*unknown, None]
    assert told(starts[0], called("spawn_agent", 1.0, starts=True, id="c"), wait) == unknown
