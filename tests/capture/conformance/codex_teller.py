"""Stories as Codex records them: a rollout for each thread, in both of its modes."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.capture.conformance.conformance_stories import (
    FOLDER,
    ApiFails,
    Crash,
    Delegate,
    Edit,
    Interrupt,
    Killed,
    LimitReached,
    Refused,
    Say,
    Shell,
    Step,
    Story,
    Traits,
)
from trackrecord_capture.sources.codex import AGENT

THREAD = "01a20168-5106-7f52-b27b-c498fee45552"
_CHILD = "01a20168-6106-7f52-b27b-c498fee45553"


class CodexTeller:
    """Writes the rollouts of a thread and of its sub-agents.

    Args:
        code_mode: whether the model writes scripts that call the tools.
    """

    source = AGENT.source

    def __init__(self, *, code_mode: bool = False) -> None:
        self._code_mode = code_mode
        self.name = "codex in code mode" if code_mode else "codex"
        self.traits = Traits(
            edit_tool="apply_patch",
            delegate_tool="spawn_agent",
            wait_tool="wait_agent",
            hides_errands=code_mode,
            untold=dict.fromkeys(
                ("killed in a call", "killed in a call, and told to go on") if code_mode else (),
                "a script does not tell what it was about to run",
            ),
        )

    def tell(self, story: Story, home: Path) -> Sequence[Path]:
        """Write the story; return the folder of rollouts."""
        sessions = home / "sessions"
        rollout = Rollout(sessions, THREAD, code_mode=self._code_mode)
        for number, turn in enumerate(story.turns, start=1):
            rollout.turn(f"turn-{number}", turn.prompt)
            for step in turn.steps:
                rollout.step(step)
        return (sessions,)


class Rollout:
    """One rollout while it is being written."""

    def __init__(self, sessions: Path, thread: str, *, code_mode: bool, parent: str = "") -> None:
        folder = sessions / "2026" / "11" / "22"
        folder.mkdir(parents=True, exist_ok=True)
        self._sessions = sessions
        self._path = folder / f"rollout-2026-11-22T03-59-03-{thread}.jsonl"
        self._thread = thread
        self._code_mode = code_mode
        self._numbers = itertools.count()
        self._calls = itertools.count(1)
        self._turn = ""
        self._open: tuple[str, str] = ("", "")
        source: Any = "cli"
        if parent:
            source = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
        meta = {
            "id": thread, "session_id": THREAD, "cwd": FOLDER, "originator": "codex_cli",
            "source": source, "cli_version": "0.169.0",
            "git": {"repository_url": "https://git.example.com/acme/shop.git", "branch": "main"},
        }  # fmt: skip
        self._line("session_meta", meta | ({"parent_thread_id": THREAD} if parent else {}))

    def _line(self, kind: str, payload: dict[str, Any]) -> None:
        second = next(self._numbers)
        at = f"2026-11-22T{4 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.500Z"
        line = {"timestamp": at, "ordinal": second, "type": kind, "payload": payload}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def _event(self, kind: str, **fields: Any) -> None:
        self._line("event_msg", {"type": kind, **fields})

    def _item(self, kind: str, **fields: Any) -> None:
        self._line("response_item", {"type": kind, **fields})

    def _completed(self, **item: Any) -> None:
        self._event("item_completed", thread_id=self._thread, turn_id=self._turn, item=item)

    def turn(self, turn: str, prompt: str, parent_turn: str = "") -> None:
        """The start of a turn, with what Codex writes around the prompt."""
        self._turn = turn
        attribution = {"turn_id": turn, "parent_turn_id": parent_turn or None}
        self._event("task_started", turn_id=turn, turn_attribution=attribution)
        context = "<environment_context>\n  <cwd>/src/shop</cwd>\n</environment_context>"
        self._user(context)
        self._line("turn_context", {"turn_id": turn, "cwd": FOLDER, "model": "gpt-6-codex"})
        if prompt:
            self._user(prompt)
            self._completed(type="UserMessage", id="u", content=[{"type": "text", "text": prompt}])

    def _user(self, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        self._item("message", role="user", content=content)

    def step(self, step: Step) -> None:
        """One thing that happens."""
        if isinstance(step, Shell):
            self._shell(step)
        elif isinstance(step, Edit):
            self._edit(step)
        elif isinstance(step, Refused):
            self._refused(step)
        elif isinstance(step, Delegate):
            self._delegate(step)
        elif isinstance(step, Killed):
            self._call("exec_command", {"cmd": step.command})
        elif isinstance(step, Interrupt):
            self._interrupt()
        elif isinstance(step, ApiFails):
            self._fail(step.message, "internal_server_error")
        elif isinstance(step, Crash):
            self._fail(step.message, {"sandbox_error": {}})
        elif isinstance(step, LimitReached):
            self._event("turn_aborted", turn_id=self._turn, reason="budget_limited")
        else:
            content = [{"type": "output_text", "text": step.text}]
            self._item("message", role="assistant", content=content)
            self._event("task_complete", turn_id=self._turn, last_agent_message=step.text)

    def _call(self, tool: str, arguments: dict[str, Any], *, scripted: bool = True) -> str:
        """Write a model's call; return the id under which its result is reported."""
        call = f"call_{self._thread[9:13]}_{next(self._calls)}"
        if self._code_mode and scripted:
            script = f"text(await tools.{tool}({json.dumps(arguments)}));"
            named = {"name": "exec", "namespace": "functions"}
            self._item("custom_tool_call", call_id=call, input=script, **named)
            self._open = ("custom_tool_call_output", call)
            return f"exec-{call}"
        self._item("function_call", name=tool, arguments=json.dumps(arguments), call_id=call)
        self._open = ("function_call_output", call)
        return call

    def _answer(self, text: str) -> None:
        kind, call = self._open
        if kind == "custom_tool_call_output":
            output: Any = [{"type": "input_text", "text": "Script completed\nOutput:\n"},
                           {"type": "input_text", "text": text}]  # fmt: skip
            self._item(kind, call_id=call, output=output)
        else:
            self._item(kind, call_id=call, output=text)

    def _shell(self, step: Shell) -> None:
        call = self._call("exec_command", {"cmd": step.command})
        if step.exit_code is None:
            self._open = (*self._open[:1], f"{self._open[1]} {call} {step.command}")
            return
        self._ended(call, step.command, step.exit_code, step.output)
        head = f"Wall time: 0.2 seconds\nProcess exited with code {step.exit_code}\nOutput:\n"
        self._answer(head + step.output)

    def _ended(self, call: str, command: str, code: int, output: str) -> None:
        self._completed(
            type="CommandExecution", id=call, command=["/bin/bash", "-lc", command],
            cwd=f"file://{FOLDER}", status="failed" if code else "completed", exit_code=code,
            aggregated_output=output, duration={"secs": 0, "nanos": 200_000_000},
        )  # fmt: skip

    def _interrupt(self) -> None:
        """Interrupt: the running command is reported only after the turn has ended."""
        kind, told = self._open
        outer, call, command = told.split(" ", 2)
        self._open = (kind, outer)
        self._answer("Wall time: 1.2 seconds\naborted by user")
        self._user("<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>")
        self._event("turn_aborted", turn_id=self._turn, reason="interrupted")
        self._ended(call, command, -1, "")

    def _edit(self, step: Edit) -> None:
        # Without a tool of its own the model hands the patch to the shell.
        call = self._call("exec_command", {"cmd": patch(step.file, step.content)})
        changes = {step.file: {"type": "add", "content": step.content}}
        self._completed(type="FileChange", id=call, changes=changes, status="completed")
        self._answer("Wall time: 0 seconds\nOutput:\nExit code: 0\nOutput:\nSuccess.")

    def _refused(self, step: Refused) -> None:
        call = self._call("exec_command", {"cmd": patch(step.file, "x\n")})
        changes = {step.file: {"type": "add", "content": "x\n"}}
        self._completed(type="FileChange", id=call, changes=changes, status="declined")
        self._answer("patch rejected by user")

    def _delegate(self, step: Delegate) -> None:
        told = {"message": step.errand}
        call = self._call("spawn_agent", told, scripted=False)
        child = Rollout(self._sessions, _CHILD, code_mode=self._code_mode, parent=self._thread)
        # Both work at one time, by one clock.
        child._numbers = self._numbers
        child.turn("child-turn-1", "" if self._code_mode else step.errand, self._turn)
        if self._code_mode:
            child._item("agent_message", author="/root", content=[{"type": "encrypted_content"}])
        for part in step.steps:
            child.step(part)
        child.step(Say("I have looked."))
        if self._code_mode:
            started = {"kind": "started", "agent_thread_id": _CHILD, "agent_path": "/root/look"}
            self._completed(type="SubAgentActivity", id=call, **started)
        else:
            self._collaborated(call, "spawn_agent")
        self._answer(json.dumps({"agent_id": _CHILD}))
        call = self._call("wait_agent", {"targets": [_CHILD]}, scripted=False)
        self._collaborated(call, "wait")
        self._answer(json.dumps({"timed_out": False}))
        if not self._code_mode:
            self._user("<subagent_notification>\nI have looked.\n</subagent_notification>")

    def _collaborated(self, call: str, tool: str) -> None:
        told = {"tool": tool, "status": "completed", "receiver_thread_ids": [_CHILD]}
        self._completed(type="CollabAgentToolCall", id=call, **told)

    def _fail(self, message: str, info: Any) -> None:
        self._event("error", message=message, codex_error_info=info)
        error = {"message": message, "codex_error_info": info}
        ended = {"last_agent_message": None, "error": error}
        self._event("task_complete", turn_id=self._turn, **ended)


def patch(file: str, content: str) -> str:
    """Return the command with which a model hands a patch to the shell."""
    lines = "\n".join(f"+{line}" for line in content.splitlines())
    return (
        f"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {file}\n{lines}\n*** End Patch\nEOF"
    )
