"""Stories as Claude Code records them: one line for each part of what was said and done."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.capture.conformance.conformance_stories import (
    FOLDER,
    ApiFails,
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
from trackrecord_capture.sources.claude_code import AGENT

SESSION = "0b0c0d0e-1111-4222-8333-444455556666"
_REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file)."
)


class ClaudeCodeTeller:
    """Writes the transcripts of a session and of its sub-agents."""

    name = "claude-code"
    source = AGENT.source
    traits = Traits(
        edit_tool="Write",
        delegate_tool="Agent",
        untold={"a crash of the agent": "a transcript merely stops when its process does"},
    )

    def tell(self, story: Story, home: Path) -> Sequence[Path]:
        """Write the story; return the folder of transcripts."""
        projects = home / "projects"
        transcript = Transcript(projects / "-src-shop" / f"{SESSION}.jsonl")
        for number, turn in enumerate(story.turns, start=1):
            transcript.prompt(turn.prompt, f"prompt-{number}")
            for step in turn.steps:
                transcript.step(step)
        return (projects,)


class Transcript:
    """One transcript while it is being written."""

    def __init__(self, path: Path, agent: str = "", prompt: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._agent = agent
        self._prompt = prompt
        self._numbers = itertools.count(1)
        self._last: str | None = None
        self._call = ""

    def write(self, **fields: Any) -> None:
        """Append a record with what every record has."""
        number = next(self._numbers)
        uuid = f"{self._agent or 'main'}-{number}"
        at = f"2026-11-20T10:{number // 60:02}:{number % 60:02}.250Z"
        common: dict[str, Any] = {
            "parentUuid": self._last, "isSidechain": bool(self._agent), "userType": "external",
            "cwd": FOLDER, "sessionId": SESSION, "version": "2.1.330", "gitBranch": "main",
            "entrypoint": "cli", "uuid": uuid, "timestamp": at,
        }  # fmt: skip
        if self._agent:
            common["agentId"] = self._agent
        self.line({**common, **fields})
        self._last = uuid

    def line(self, fields: dict[str, Any]) -> None:
        """Append a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, separators=(",", ":")) + "\n")

    def prompt(self, text: str, prompt: str) -> None:
        """Return a person's prompt, with the text that Claude Code writes around it."""
        self._prompt = prompt
        self.line({"type": "queue-operation", "operation": "enqueue", "content": text})
        self.user(text)
        self.write(type="attachment", attachment={"type": "environment", "content": text})
        self.write(type="user", isMeta=True, message={"role": "user", "content": "Caveat: …"})

    def user(self, content: Any, **fields: Any) -> None:
        """Return a record of input to the model."""
        message = {"role": "user", "content": content}
        self.write(type="user", promptId=self._prompt, message=message, **fields)

    def step(self, step: Step) -> None:
        """One thing that happens."""
        if isinstance(step, Shell):
            self._shell(step)
        elif isinstance(step, Edit):
            self._use("Write", {"file_path": step.file, "content": step.content})
            self._result("File created successfully", {"type": "create", "content": step.content})
        elif isinstance(step, Refused):
            self._use("Write", {"file_path": step.file, "content": "x"})
            self._refuse()
        elif isinstance(step, Delegate):
            self._delegate(step)
        elif isinstance(step, Killed):
            self._use("Bash", {"command": step.command})
        elif isinstance(step, Interrupt):
            self._refuse()
            self.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
        elif isinstance(step, ApiFails):
            self._api_fails(step.message)
        elif isinstance(step, LimitReached):
            limit = {"type": "max_turns_reached", "maxTurns": 2, "turnCount": 3}
            self.write(type="attachment", attachment=limit)
        elif isinstance(step, Say):
            self._say(step)

    def _answer(self, *blocks: dict[str, Any], stop: str) -> None:
        """One record for each part, each with the usage of the whole."""
        number = next(self._numbers)
        usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 20}
        for block in blocks:
            message = {
                "id": f"msg_{number}", "role": "assistant", "model": "claude-x", "content": [block],
                "stop_reason": stop, "usage": usage,
            }  # fmt: skip
            self.write(type="assistant", requestId=f"req_{number}", message=message)

    def _use(self, tool: str, given: dict[str, Any]) -> None:
        self._call = f"toolu_{self._agent}{next(self._numbers)}"
        use = {"type": "tool_use", "id": self._call, "name": tool, "input": given}
        self._answer({"type": "thinking", "thinking": "Well."}, use, stop="tool_use")

    def _result(self, text: str, kept: Any, *, is_error: bool = False, **fields: Any) -> None:
        block = {"tool_use_id": self._call, "type": "tool_result", "content": text}
        if is_error:
            block["is_error"] = True
        self.user([block], toolUseResult=kept, **fields)

    def _shell(self, step: Shell) -> None:
        self._use("Bash", {"command": step.command, "description": "Run it"})
        if step.exit_code == 0:
            self._result(step.output, {"stdout": step.output, "stderr": "", "interrupted": False})
        elif step.exit_code is not None:
            text = f"Exit code {step.exit_code}\n{step.output}"
            self._result(text, f"Error: {text}", is_error=True)

    def _refuse(self) -> None:
        denied = {"toolDenialKind": "user-rejected"}
        self._result(_REFUSAL, "User rejected tool use", is_error=True, **denied)

    def _delegate(self, step: Delegate) -> None:
        agent = "a0b1c2d3"
        kind = "Explore" if step.only_looks else "general-purpose"
        self._use("Agent", {"prompt": step.errand, "subagent_type": kind})
        folder = self.path.with_suffix("") / "subagents"
        launched = {"isAsync": True, "status": "async_launched", "agentId": agent}
        self._result("Async agent launched successfully.", launched)
        self._answer({"type": "text", "text": "I wait for it."}, stop="end_turn")
        own = Transcript(folder / f"agent-{agent}.jsonl", agent, self._prompt)
        (folder / f"agent-{agent}.meta.json").write_text('{"agentType": "Explore"}')
        # Its records have no number of another one's.
        own._numbers = self._numbers
        own.user(step.errand)
        for part in step.steps:
            own.step(part)
        own.step(Say("I have looked."))
        note = f"<task-notification>\n<task-id>{agent}</task-id>\n"
        note += f"<tool-use-id>{self._call}</tool-use-id>\n<status>completed</status>"
        self._prompt += "-noticed"
        self.user(f"{note}</task-notification>")

    def _api_fails(self, text: str) -> None:
        self.write(type="system", subtype="api_error", error={"message": text}, retryAttempt=1)
        message = {
            "id": "x", "model": "<synthetic>", "role": "assistant", "stop_reason": "stop_sequence",
            "content": [{"type": "text", "text": f"API Error: {text}"}], "usage": {},
        }  # fmt: skip
        self.write(type="assistant", isApiErrorMessage=True, error="server_error", message=message)

    def _say(self, step: Say) -> None:
        self._answer({"type": "text", "text": step.text}, stop="end_turn")
        self.write(type="system", subtype="stop_hook_summary", hookCount=0)
