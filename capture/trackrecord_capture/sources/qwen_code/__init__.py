"""Qwen Code: the chats that it keeps for each project, one for each session."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...agent_run import SignalKind
from ...agents.settings_hooks import SettingsHooks
from ..declaration import Action, CodingAgent, tools_of
from ..json_values import as_object, as_text, objects_in
from ..log_files import LogFiles, home_of
from ..message_logs import MessageReader, reading_with
from ..moments import seconds_of

_NAME: Final = "qwen-code"
_HOME_VARIABLE: Final = "QWEN_HOME"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="run_shell_command",
    edit="edit replace",
    write="write_file",
    read="read_file read_many_files",
    search="grep_search search_file_content glob list_directory",
    web_search="web_search",
    delegate="task agent",
)
_NOTHING: Final = "(empty)"
_SHELL: Final = "run_shell_command"
# The answer to the model: what was run, where, what it printed, and how it ended, a line for each.
_OUTPUT: Final = re.compile(r"^Output: (.*?)^Error: ", re.MULTILINE | re.DOTALL)
_EXIT: Final = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_API_ERROR: Final = "qwen-code.api_error"


class _Chat(MessageReader):
    """Reads the records of one chat."""

    def describe(self, record: dict[str, Any]) -> None:
        """Take the session's id, its folder and its branch."""
        self.chat.session = as_text(record.get("sessionId"))
        self.chat.folder = as_text(record.get("cwd"))
        self.chat.branch = as_text(record.get("gitBranch"))

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a record."""
        at = seconds_of(record.get("timestamp"))
        parts = objects_in(as_object(record.get("message")).get("parts"))
        kind = record.get("type")
        if kind == "user":
            if not record.get("subtype"):  # else a notification, or a prompt of a timer
                words = "\n".join(as_text(part.get("text")) for part in parts)
                self.chat.ask(words, at, start=start, prompt=as_text(record.get("uuid")))
        elif kind == "assistant":
            self._answer(record, parts, at)
        elif kind == "tool_result":
            for part in parts:
                self._result(as_object(part.get("functionResponse")), record, at)
        elif record.get("subtype") == "ui_telemetry":
            self._event(as_object(as_object(record.get("systemPayload")).get("uiEvent")), at)

    def _answer(
        self, record: dict[str, Any], parts: list[dict[str, Any]], at: float | None
    ) -> None:
        usage = as_object(record.get("usageMetadata"))
        answer, model = as_text(record.get("uuid")), as_text(record.get("model"))
        self.chat.count_usage(answer, usage, "candidatesTokenCount promptTokenCount", model=model)
        calls = [as_object(part["functionCall"]) for part in parts if "functionCall" in part]
        self.chat.say(at, is_last=not calls)
        for call in calls:
            name = as_text(call.get("name"))
            self.chat.use(as_text(call.get("id")), name, call.get("args"), at)

    def _result(self, response: dict[str, Any], record: dict[str, Any], at: float | None) -> None:
        call_id, told = as_text(response.get("id")), as_object(response.get("response"))
        outcome = as_object(record.get("toolCallResult"))
        text = as_text(told.get("error")) or as_text(told.get("output"))
        status = outcome.get("status")
        if status == "cancelled":
            self.chat.cancel(call_id, text, at)
            return
        if status == "error" or "error" in told or response.get("name") != _SHELL:
            ok = status != "error" and "error" not in told
            self.chat.result(call_id, text, ok=ok, at=at)
            return
        # Of a command in the background no status is known.
        codes, printed = _EXIT.findall(text[-1000:]), _OUTPUT.search(text)
        code = int(codes[-1]) if codes else None
        output = printed[1].rstrip("\n").removeprefix(_NOTHING) if printed else text
        ok = None if code is None else True
        self.chat.result(call_id, output, ok=ok, at=at, exit_code=code)

    def _event(self, event: dict[str, Any], at: float | None) -> None:
        if event.get("event.name") == _API_ERROR:
            says = as_text(event.get("error_message")) or as_text(event.get("error"))
            self.chat.see(SignalKind.API_FAILED, says, at)


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, ".qwen")


AGENT: Final = CodingAgent(
    label="Qwen Code",
    source=LogFiles(
        name=_NAME,
        pattern=".qwen/projects/*/chats/*.jsonl",
        homes=lambda: (_folder() / "projects",),
        read_log=reading_with(_Chat, _NAME, TOOLS),
        below="chats/*.jsonl",
    ),
    tools=TOOLS,
    tried="0.24.4",
    hooks=SettingsHooks(
        name=_NAME,
        label="Qwen Code",
        program="qwen",
        folder_of=_folder,
        # Its timeouts are in milliseconds.
        unit=1000,
        # A command with a status other than 0 has not failed in its eyes.
        asking=("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
    ),
    home_variable=_HOME_VARIABLE,
)
