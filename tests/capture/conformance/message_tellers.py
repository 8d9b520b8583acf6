"""Stories as the agents record them that keep a list of messages for each session."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path
from typing import Any, ClassVar

from tests.capture.conformance.conformance_stories import (
    FOLDER,
    ApiFails,
    Edit,
    Interrupt,
    Refused,
    Say,
    Shell,
    Step,
    Story,
    Traits,
)
from trackrecord_capture.sources.register import agent_of

_START = 1_795_319_900
_ANSWER = {"input": 100, "output": 20}
_SUB_AGENTS = dict.fromkeys(
    (
        "a sub-agent",
        "a sub-agent edits after the check",
        "a sub-agent edits before the check",
        "a sub-agent checks what it edited",
    ),
    "what its sub-agents do is not read",
)
_ENDINGS = {
    "a crash of the agent": "it has no record for a crash of its own",
    "a limit is reached": "it has no record for that",
    "killed in a call": "a call without an end is not told from one that runs",
    "killed in a call, and told to go on": "as above",
}


class MessageTeller:
    """Writes stories for one agent; a subclass has a method for each thing that happens."""

    agent = ""
    path = ""
    edit_tool = ""
    untold: ClassVar[dict[str, str]] = {}
    grows = True

    def __init__(self) -> None:
        self.name = type(self).__name__
        self.source = agent_of(self.agent).source
        self.traits = Traits(
            edit_tool=self.edit_tool,
            delegate_tool="",
            untold={**_SUB_AGENTS, **_ENDINGS, **self.untold},
            grows=self.grows,
        )

    def tell(self, story: Story, home: Path) -> Sequence[Path]:
        """Write the story; return the folder that is searched."""
        self.at = _START
        self.lines: list[dict[str, Any]] = []
        self.calls = 0
        self.begin()
        for turn in story.turns:
            self.at += 1
            self.prompt(turn.prompt)
            for step in turn.steps:
                self.at += 1
                self.step(step)
        path = home / self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.write(path)
        return (home,)

    def write(self, path: Path) -> None:
        """Write the lines of the log."""
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))

    def step(self, step: Step) -> None:
        """Tell one thing that happens."""
        self.calls += 1
        self.call_id = f"call_{self.calls}"
        match step:
            case Shell():
                self.shell(step)
            case Edit(file, content):
                self.edit(file, content)
            case Refused(file):
                self.refused(file)
            case Interrupt():
                self.interrupted()
            case ApiFails(message):
                self.api_failed(message)
            case Say(text):
                self.say(text)
            case _:
                raise AssertionError(step)

    def iso(self) -> str:
        """Return the moment as most agents write it."""
        return datetime.fromtimestamp(self.at, UTC).isoformat().replace("+00:00", "Z")

    def begin(self) -> None:
        """Write the head of a log, above the first prompt."""

    def prompt(self, text: str) -> None:
        raise NotImplementedError

    def shell(self, step: Shell) -> None:
        raise NotImplementedError

    def edit(self, file: str, content: str) -> None:
        raise NotImplementedError

    def refused(self, file: str) -> None:
        raise NotImplementedError

    def interrupted(self) -> None:
        raise NotImplementedError

    def api_failed(self, message: str) -> None:
        raise NotImplementedError

    def say(self, text: str) -> None:
        raise NotImplementedError


class QwenTeller(MessageTeller):
    """A chat of Qwen Code."""

    agent = "qwen-code"
    path = ".qwen/projects/-src-shop/chats/s1.jsonl"
    edit_tool = "write_file"
    untold: ClassVar = {"interrupted": "it keeps no record of an interruption"}

    def _add(self, kind: str, parts: list[dict[str, Any]], **more: Any) -> None:
        self.lines.append({
            "uuid": f"u{len(self.lines)}", "sessionId": "s1", "timestamp": self.iso(),
            "type": kind, "cwd": FOLDER, "gitBranch": "main", "version": "0.15.10",
            "message": {"role": kind, "parts": parts}, **more,
        })  # fmt: skip

    def prompt(self, text: str) -> None:
        self._add("user", [{"text": text}])

    def _answer(self, part: dict[str, Any]) -> None:
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 20}
        self._add("assistant", [part], model="m", usageMetadata=usage)

    def _use(self, tool: str, given: dict[str, Any], response: Any, status: str) -> None:
        self._answer({"functionCall": {"id": self.call_id, "name": tool, "args": given}})
        told = {"id": self.call_id, "name": tool, "response": response}
        result = {"callId": self.call_id, "status": status}
        self._add("tool_result", [{"functionResponse": told}], toolCallResult=result)

    def shell(self, step: Shell) -> None:
        text = (
            f"Command: {step.command}\nDirectory: (root)\nOutput: {step.output or '(empty)'}\n"
            f"Error: (none)\nExit Code: {step.exit_code}\nSignal: (none)\n"
            "Process Group PGID: (none)"
        )
        given = {"command": step.command, "is_background": False}
        self._use("run_shell_command", given, {"output": text}, "success")

    def edit(self, file: str, content: str) -> None:
        given = {"file_path": file, "content": content}
        self._use("write_file", given, {"output": f"Successfully wrote {file}"}, "success")

    def refused(self, file: str) -> None:
        says = "[Operation Cancelled] Reason: User did not allow tool call"
        self._use("write_file", {"file_path": file}, {"error": says}, "cancelled")

    def api_failed(self, message: str) -> None:
        event = {"event.name": "qwen-code.api_error", "error_message": message}
        self._add("system", [], subtype="ui_telemetry", systemPayload={"uiEvent": event})

    def say(self, text: str) -> None:
        self._answer({"text": text})


class GeminiTeller(MessageTeller):
    """A chat of Gemini CLI: a message is written again when its call has ended."""

    agent = "gemini-cli"
    path = "tmp/shop/chats/session-2026-11-22T03-59-s1.jsonl"
    edit_tool = "write_file"

    def write(self, path: Path) -> None:
        super().write(path)
        (path.parents[1] / ".project_root").write_text(FOLDER)

    def begin(self) -> None:
        self.lines.append({"sessionId": "s1", "startTime": self.iso(), "kind": "main"})
        context = {"type": "user", "content": [{"text": "<session_context>\nx"}]}
        self.lines.append({"$set": {"messages": [context], "lastUpdated": self.iso()}})

    def _add(self, kind: str, **more: Any) -> None:
        stamped = {"id": f"m{self.at}", "timestamp": self.iso(), "type": kind}
        self.lines.append({**stamped, **more})

    def prompt(self, text: str) -> None:
        self._add("user", content=[{"text": text}])

    def _answer(self, text: str, calls: list[dict[str, Any]] | None = None) -> None:
        told = {"content": text, "tokens": _ANSWER, "model": "m"}
        self._add("gemini", **told)
        if calls:
            self._add("gemini", **told, toolCalls=calls)

    def _use(self, tool: str, given: dict[str, Any], response: Any, status: str) -> None:
        call = {"id": self.call_id, "name": tool, "args": given, "status": status}
        told = {"functionResponse": {"id": self.call_id, "name": tool, "response": response}}
        self._answer("", [{**call, "timestamp": self.iso(), "result": [told]}])
        self._add("user", content=[told])

    def shell(self, step: Shell) -> None:
        if step.exit_code is None:
            says = {"error": "[Operation Cancelled] Reason: User cancelled the operation."}
            self._use("run_shell_command", {"command": step.command}, says, "cancelled")
            return
        code = f"Exit Code: {step.exit_code}\n" if step.exit_code else ""
        text = (
            f"<untrusted_context>\nOutput: {step.output or '(empty)'}\n{code}"
            "Process Group PGID: 17\n</untrusted_context>"
        )
        self._use("run_shell_command", {"command": step.command}, {"output": text}, "success")

    def edit(self, file: str, content: str) -> None:
        given = {"file_path": file, "content": content}
        response = {"output": f"Successfully wrote {file}. Here is the updated code:\n{content}"}
        self._use("write_file", given, response, "success")

    def refused(self, file: str) -> None:
        says = "[Operation Cancelled] Reason: User did not allow tool call"
        self._use("write_file", {"file_path": file}, {"error": says}, "cancelled")

    def interrupted(self) -> None:
        self._add("info", content="Request cancelled.")

    def api_failed(self, message: str) -> None:
        self._add("error", content=f"[API Error: {message}]")

    def say(self, text: str) -> None:
        self._answer(text)


class PiTeller(MessageTeller):
    """A session of pi."""

    agent = "pi"
    path = "sessions/--src-shop--/2026-11-22T03-59-03_s1.jsonl"
    edit_tool = "write"
    untold: ClassVar = {"refused and led": "it asks nobody"}

    def begin(self) -> None:
        self.lines.append({"type": "session", "version": 3, "id": "s1", "cwd": FOLDER})

    def _add(self, message: dict[str, Any]) -> None:
        entry = {"type": "message", "id": f"e{len(self.lines)}", "timestamp": self.iso()}
        self.lines.append({**entry, "message": message})

    def prompt(self, text: str) -> None:
        self._add({"role": "user", "content": [{"type": "text", "text": text}]})

    def _answer(self, part: dict[str, Any], reason: str, **more: Any) -> None:
        usage = {**_ANSWER, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}
        told = {"role": "assistant", "content": [part], "model": "m", "usage": usage}
        self._add({**told, "stopReason": reason, **more})

    def _use(self, tool: str, given: dict[str, Any], text: str, *, is_error: bool) -> None:
        call = {"type": "toolCall", "id": self.call_id, "name": tool, "arguments": given}
        self._answer(call, "toolUse")
        told = {"role": "toolResult", "toolCallId": self.call_id, "toolName": tool}
        texts = [text, "trackrecord: `a` ran."] if is_error else [text]
        content = [{"type": "text", "text": each} for each in texts]
        self._add({**told, "content": content, "isError": is_error})

    def shell(self, step: Shell) -> None:
        end = {0: "", None: "\n\nCommand aborted"}.get(
            step.exit_code, f"\n\nCommand exited with code {step.exit_code}"
        )
        given = {"command": step.command}
        self._use("bash", given, f"{step.output}\n{end}", is_error=step.exit_code != 0)

    def edit(self, file: str, content: str) -> None:
        given = {"path": file, "content": content}
        self._use("write", given, "Successfully wrote 10 bytes", is_error=False)

    def interrupted(self) -> None:
        self._answer({"type": "text", "text": ""}, "aborted")

    def api_failed(self, message: str) -> None:
        self._answer({"type": "text", "text": ""}, "error", errorMessage=message)

    def say(self, text: str) -> None:
        self._answer({"type": "text", "text": text}, "stop")


class CopilotTeller(MessageTeller):
    """A session of GitHub Copilot CLI."""

    agent = "copilot"
    path = "session-state/s1/events.jsonl"
    edit_tool = "create"

    def _add(self, kind: str, **data: Any) -> None:
        told = {"type": kind, "data": data, "id": f"e{len(self.lines)}", "timestamp": self.iso()}
        self.lines.append(told)

    def begin(self) -> None:
        self._add("session.start", sessionId="s1", selectedModel="m", context={"cwd": FOLDER})

    def prompt(self, text: str) -> None:
        self._add("user.message", content=text, transformedContent=f"<x>1</x>\n\n{text}")

    def _answer(self, text: str, requests: list[dict[str, Any]]) -> None:
        usage = {"model": "m", "inputTokens": 100, "outputTokens": 20, "apiCallId": f"a{self.at}"}
        self._add("session.usage_record", usage=usage)
        self._add("assistant.message", content=text, toolRequests=requests)

    def _use(self, tool: str, given: dict[str, Any], **complete: Any) -> None:
        named = {"toolCallId": self.call_id}
        self._answer("", [{**named, "name": tool, "arguments": given}])
        self._add("tool.execution_start", **named, toolName=tool, arguments=given)
        if complete:
            self._add("tool.execution_complete", **named, **complete)

    def shell(self, step: Shell) -> None:
        given = {"command": step.command, "description": "Run"}
        if step.exit_code is None:
            self._use("bash", given)
            return
        text = f"{step.output}\n<shellId: 0 completed with exit code {step.exit_code}>"
        ended = {"exitCode": step.exit_code}
        self._use("bash", given, success=True, shellExecution=ended, result={"content": text})

    def edit(self, file: str, content: str) -> None:
        given = {"path": file, "file_text": content}
        self._use("create", given, success=True, result={"content": f"Created file {file}"})

    def refused(self, file: str) -> None:
        error = {"message": "The user rejected this tool call.", "code": "rejected"}
        self._use("create", {"path": file}, success=False, error=error)

    def interrupted(self) -> None:
        self._add("abort", reason="user initiated")

    def api_failed(self, message: str) -> None:
        self._add("session.error", errorType="query", message=message)

    def say(self, text: str) -> None:
        self._answer(text, [])


class KimiTeller(MessageTeller):
    """A session of Kimi Code."""

    agent = "kimi"
    path = "sessions/wd_shop_1/session_s1/agents/main/wire.jsonl"
    edit_tool = "Write"

    def write(self, path: Path) -> None:
        super().write(path)
        (path.parents[2] / "state.json").write_text(json.dumps({"cwd": FOLDER}))

    def begin(self) -> None:
        self._add("metadata", protocol_version="1.5")

    def _add(self, kind: str, **more: Any) -> None:
        self.lines.append({"type": kind, **more, "time": self.at * 1000})

    def _event(self, kind: str, **more: Any) -> None:
        self._add("context.append_loop_event", event={"type": kind, **more})

    def prompt(self, text: str) -> None:
        given = [{"type": "text", "text": text}]
        prompt = f"msg_{self.at}"
        self._add("turn.prompt", input=given, origin={"kind": "user"}, promptId=prompt)

    def _answer(self, reason: str) -> None:
        usage = {"inputOther": 100, "output": 20, "inputCacheRead": 0, "inputCacheCreation": 0}
        self._add("usage.record", model="m", usage=usage)
        self._event("step.end", finishReason=reason)

    def _use(self, tool: str, given: dict[str, Any], text: str, *, is_error: bool) -> None:
        self._event("tool.call", toolCallId=self.call_id, name=tool, args=given)
        result = {"output": text, "isError": True} if is_error else {"output": text}
        self._event("tool.result", toolCallId=self.call_id, result=result)
        self._answer("tool_use")

    def shell(self, step: Shell) -> None:
        given = {"command": step.command}
        if step.exit_code is None:
            self._event("tool.call", toolCallId=self.call_id, name="Bash", args=given)
            return
        end = f"\nCommand failed with exit code: {step.exit_code}." if step.exit_code else ""
        self._use("Bash", given, step.output + end, is_error=step.exit_code != 0)

    def edit(self, file: str, content: str) -> None:
        self._use("Write", {"path": file, "content": content}, "Wrote 10 bytes", is_error=False)

    def refused(self, file: str) -> None:
        says = "The tool call is rejected by the user. Stop what you are doing."
        self._use("Write", {"path": file}, says, is_error=True)

    def interrupted(self) -> None:
        self._add("turn.ended", reason="cancelled")

    def api_failed(self, message: str) -> None:
        self._add("turn.ended", reason="failed", error=message)

    def say(self, text: str) -> None:
        self._event("content.part", part={"type": "text", "text": text})
        self._answer("end_turn")
        self._add("turn.ended", reason="completed")


class OldKimiTeller(KimiTeller):
    """A session of the older Kimi CLI."""

    path = f"sessions/{md5(FOLDER.encode(), usedforsecurity=False).hexdigest()}/s1/wire.jsonl"
    edit_tool = "WriteFile"
    untold: ClassVar = {"the API fails": "it keeps no record of that"}

    def write(self, path: Path) -> None:
        MessageTeller.write(self, path)
        known = {"work_dirs": [{"path": "/other"}, {"path": FOLDER, "kaos": "local"}]}
        (path.parents[3] / "kimi.json").write_text(json.dumps(known))

    def begin(self) -> None:
        self.lines.append({"type": "metadata", "protocol_version": "1.8"})

    def _add(self, kind: str, **payload: Any) -> None:
        self.lines.append({"timestamp": self.at, "message": {"type": kind, "payload": payload}})

    def prompt(self, text: str) -> None:
        self._add("TurnBegin", user_input=text)

    def _called(self, tool: str, given: dict[str, Any]) -> None:
        function = {"name": tool, "arguments": json.dumps(given)}
        self._add("ToolCall", type="function", id=self.call_id, function=function)

    def _ended(self, text: str, says: str, *, is_error: bool) -> None:
        value = {"is_error": is_error, "output": text, "message": says}
        self._add("ToolResult", tool_call_id=self.call_id, return_value=value)
        usage = {"input_other": 100, "output": 20}
        self._add("StatusUpdate", token_usage=usage, message_id=f"a{self.at}")

    def shell(self, step: Shell) -> None:
        self._called("Shell", {"command": step.command})
        if step.exit_code is not None:
            says = f"Command failed with exit code: {step.exit_code}." if step.exit_code else "Ok."
            self._ended(step.output + "\n", says, is_error=step.exit_code != 0)

    def edit(self, file: str, content: str) -> None:
        self._called("WriteFile", {"path": file, "content": content})
        self._ended("", "File successfully overwritten.", is_error=False)

    def refused(self, file: str) -> None:
        self._called("WriteFile", {"path": file})
        self._ended("", "The tool call is rejected by the user.", is_error=True)

    def interrupted(self) -> None:
        self._add("StepInterrupted")

    def say(self, text: str) -> None:
        self._add("ContentPart", type="text", text=text)
        self._add("TurnEnd")


class ClineTeller(MessageTeller):
    """A session of Cline, one document."""

    agent = "cline"
    path = "data/sessions/s1/s1.messages.json"
    edit_tool = "editor"
    untold: ClassVar = {"the API fails": "it says so of a whole session alone"}
    grows = False

    def write(self, path: Path) -> None:
        is_stopped = self.lines[-1].get("stopped")
        messages = [line for line in self.lines if "stopped" not in line]
        path.write_text(json.dumps({"version": 1, "sessionId": "s1", "messages": messages}))
        status = "cancelled" if is_stopped else "completed"
        about = {"cwd": FOLDER, "model": "m", "status": status, "ended_at": self.iso()}
        (path.parent / "s1.json").write_text(json.dumps({**about, "interactive": True}))

    def _add(self, role: str, part: dict[str, Any], **more: Any) -> None:
        told = {"id": f"m{len(self.lines)}", "role": role, "content": [part]}
        self.lines.append({**told, "ts": self.at * 1000, **more})

    def prompt(self, text: str) -> None:
        words = f'<user_input mode="act">{text}</user_input>'
        self._add("user", {"type": "text", "text": words})

    def _answer(self, part: dict[str, Any]) -> None:
        metrics = {"inputTokens": 100, "outputTokens": 20}
        self._add("assistant", part, modelInfo={"id": "m"}, metrics=metrics)

    def _use(self, tool: str, given: dict[str, Any], content: Any) -> None:
        self._answer({"type": "tool_use", "id": self.call_id, "name": tool, "input": given})
        told = {"type": "tool_result", "tool_use_id": self.call_id, "name": tool}
        if content is not None:
            self._add("user", {**told, "content": content})

    def shell(self, step: Shell) -> None:
        given = {"commands": [step.command]}
        if step.exit_code is None:
            self._use("run_commands", given, None)
            return
        head = f"[Command exited with code {step.exit_code}]\n" if step.exit_code else ""
        result = {"query": step.command, "result": head + step.output}
        self._use("run_commands", given, [{**result, "success": step.exit_code == 0}])
        if head:
            context = "<hook_context>\ntrackrecord: `a` ran.\n</hook_context>"
            told = {"displayRole": "system"}
            self._add("user", {"type": "text", "text": context}, metadata=told)

    def edit(self, file: str, content: str) -> None:
        given = {"command": "create", "path": file, "new_text": content}
        result = {"query": f"edit:{file}", "result": "File created", "success": True}
        self._use("editor", given, json.dumps(result))

    def refused(self, file: str) -> None:
        result = {"result": "The user denied this operation.", "success": False}
        self._use("editor", {"path": file}, json.dumps(result))

    def interrupted(self) -> None:
        self.lines.append({"stopped": True})

    def say(self, text: str) -> None:
        self._answer({"type": "text", "text": text})


class AmpTeller(MessageTeller):
    """A thread of Amp, one document; its format is known from documents."""

    agent = "amp"
    path = "threads/T-1.json"
    edit_tool = "create_file"
    grows = False

    def write(self, path: Path) -> None:
        repository = {"type": "git", "url": "", "ref": "refs/heads/main"}
        tree = {"uri": f"file://{FOLDER}", "repository": repository}
        about = {"id": "T-1", "created": _START * 1000, "env": {"initial": {"trees": [tree]}}}
        path.write_text(json.dumps({**about, "messages": self.lines}))

    def _add(self, role: str, part: dict[str, Any], **more: Any) -> None:
        meta = {"sentAt": self.at * 1000}
        told = {"role": role, "messageId": len(self.lines), "content": [part], "meta": meta}
        self.lines.append({**told, **more})

    def prompt(self, text: str) -> None:
        self._add("user", {"type": "text", "text": text})

    def _answer(self, part: dict[str, Any], state: dict[str, Any]) -> None:
        usage = {"model": "m", "inputTokens": 100, "outputTokens": 20}
        self._add("assistant", part, state=state, usage=usage)

    def _use(self, tool: str, given: dict[str, Any], run: dict[str, Any]) -> None:
        call = {"type": "tool_use", "id": self.call_id, "name": tool, "input": given}
        self._answer(call, {"type": "complete", "stopReason": "tool_use"})
        self._add("user", {"type": "tool_result", "toolUseID": self.call_id, "run": run})

    def shell(self, step: Shell) -> None:
        result = {"output": step.output, "exitCode": step.exit_code}
        run = {"status": "done", "result": result}
        if step.exit_code is None:
            run = {"status": "cancelled"}
        self._use("Bash", {"cmd": step.command, "cwd": FOLDER}, run)

    def edit(self, file: str, content: str) -> None:
        given = {"path": file, "content": content}
        self._use("create_file", given, {"status": "done", "result": "created"})

    def refused(self, file: str) -> None:
        run = {"status": "rejected-by-user", "reason": "Leave that file"}
        self._use("create_file", {"path": file}, run)

    def interrupted(self) -> None:
        self._answer({"type": "text", "text": ""}, {"type": "cancelled"})

    def api_failed(self, message: str) -> None:
        state = {"type": "error", "error": {"message": message}}
        self._answer({"type": "text", "text": ""}, state)

    def say(self, text: str) -> None:
        state = {"type": "complete", "stopReason": "end_turn"}
        self._answer({"type": "text", "text": text}, state)


class GooseTeller(MessageTeller):
    """A session of Goose in its database; its format is known from documents."""

    agent = "goose"
    path = "sessions.db"
    edit_tool = "write"
    untold: ClassVar = {
        "interrupted": "it keeps no record of that",
        "the API fails": "it keeps no record of that",
    }
    grows = False

    def write(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("""
                CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT NOT NULL,
                    model_config_json TEXT);
                CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
                    session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL,
                    created_timestamp INTEGER NOT NULL);
                CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT,
                    session_id TEXT NOT NULL, created_timestamp INTEGER NOT NULL, model TEXT,
                    input_tokens INTEGER, output_tokens INTEGER);
            """)
            row = ("20261122_1", FOLDER, json.dumps({"model_name": "m"}))
            connection.execute("INSERT INTO sessions VALUES (?, '', ?, ?)", row)
            for line in self.lines:
                if "usage" in line:
                    connection.execute(
                        "INSERT INTO usage_ledger VALUES (NULL, '20261122_1', ?, 'm', 100, 20)",
                        (line["usage"],),
                    )
                    continue
                values = (line["role"], json.dumps([line["block"]]), line["at"])
                connection.execute(
                    "INSERT INTO messages VALUES (NULL, '', '20261122_1', ?, ?, ?)", values
                )
            connection.commit()

    def _add(self, role: str, block: dict[str, Any]) -> None:
        self.lines.append({"role": role, "block": block, "at": self.at})
        if role == "assistant":
            self.lines.append({"usage": self.at})

    def prompt(self, text: str) -> None:
        self._add("user", {"type": "text", "text": text})

    def _use(self, tool: str, given: dict[str, Any], result: dict[str, Any]) -> None:
        value = {"name": tool, "arguments": given}
        call = {"status": "success", "value": value}
        self._add("assistant", {"type": "toolRequest", "id": self.call_id, "toolCall": call})
        self._add("user", {"type": "toolResponse", "id": self.call_id, "toolResult": result})

    def _ended(self, text: str, **more: Any) -> dict[str, Any]:
        value = {"content": [{"type": "text", "text": text}], **more}
        return {"status": "success", "value": value}

    def shell(self, step: Shell) -> None:
        structured = {"stdout": step.output, "exit_code": step.exit_code}
        ended = self._ended(step.output, structuredContent=structured, isError=False)
        self._use("developer__shell", {"command": step.command}, ended)

    def edit(self, file: str, content: str) -> None:
        self._use("write", {"path": file, "content": content}, self._ended("Created"))

    def refused(self, file: str) -> None:
        ended = self._ended("The user has declined to run this tool.", isError=True)
        self._use("write", {"path": file}, ended)

    def say(self, text: str) -> None:
        self._add("assistant", {"type": "text", "text": text})


class CrushTeller(MessageTeller):
    """A session of Crush in the database of a project; its format is known from its source."""

    agent = "crush"
    path = "src/shop/.crush/crush.db"
    edit_tool = "write"
    untold: ClassVar = {"mended": "its folder is where the database lies, not the story's"}
    grows = False

    def tell(self, story: Story, home: Path) -> Sequence[Path]:
        """Write the story; return the project."""
        super().tell(story, home)
        return (home / "src" / "shop",)

    def write(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("""
                CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT,
                    title TEXT NOT NULL);
                CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
                    role TEXT NOT NULL, parts BLOB NOT NULL, model TEXT,
                    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
            """)
            connection.execute("INSERT INTO sessions VALUES ('s1', NULL, '')")
            for number, line in enumerate(self.lines):
                values = (f"m{number}", line["role"], json.dumps(line["parts"]), line["at"])
                connection.execute(
                    "INSERT INTO messages VALUES (?1, 's1', ?2, ?3, 'm', ?4, ?4)", values
                )
            connection.commit()

    def _add(self, role: str, *parts: tuple[str, dict[str, Any]]) -> None:
        told = [{"type": kind, "data": data} for kind, data in parts]
        self.lines.append({"role": role, "parts": told, "at": self.at})

    def prompt(self, text: str) -> None:
        self._add("user", ("text", {"text": text}), ("finish", {"reason": "stop"}))

    def _use(
        self, tool: str, given: dict[str, Any], content: str | None, *, is_error: bool = False
    ) -> None:
        call = {"id": self.call_id, "name": tool, "input": json.dumps(given), "finished": True}
        self._add("assistant", ("tool_call", call), ("finish", {"reason": "tool_use"}))
        if content is not None:
            told = {"tool_call_id": self.call_id, "content": content, "is_error": is_error}
            self._add("tool", ("tool_result", told))

    def shell(self, step: Shell) -> None:
        given = {"command": step.command}
        if step.exit_code is None:
            self._use("bash", given, None)
            return
        end = f"\nExit code {step.exit_code}" if step.exit_code else ""
        self._use("bash", given, f"{step.output}{end}\n\n<cwd>{FOLDER}</cwd>")

    def edit(self, file: str, content: str) -> None:
        self._use("write", {"file_path": file, "content": content}, "<result>\nok\n</result>")

    def refused(self, file: str) -> None:
        self._use("write", {"file_path": file}, "User denied permission", is_error=True)

    def interrupted(self) -> None:
        self._add("assistant", ("finish", {"reason": "canceled", "message": "Canceled"}))

    def api_failed(self, message: str) -> None:
        self._add("assistant", ("finish", {"reason": "error", "message": message}))

    def say(self, text: str) -> None:
        self._add("assistant", ("text", {"text": text}), ("finish", {"reason": "end_turn"}))


TELLERS = (
    QwenTeller(),
    GeminiTeller(),
    PiTeller(),
    CopilotTeller(),
    KimiTeller(),
    OldKimiTeller(),
    ClineTeller(),
    AmpTeller(),
    GooseTeller(),
    CrushTeller(),
)
