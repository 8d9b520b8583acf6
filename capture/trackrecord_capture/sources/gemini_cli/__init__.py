"""Gemini CLI: the chats that it keeps for each project, one for each session."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...agent_run import SignalKind
from ...agents.settings_hooks import SettingsHooks
from ..declaration import Action, CodingAgent, tools_of
from ..json_values import as_object, as_text, objects_in, words_in
from ..log_files import LogFiles, home_of
from ..message_logs import MessageReader, reading_with
from ..moments import seconds_of

_NAME: Final = "gemini-cli"
_HOME_VARIABLE: Final = "GEMINI_CLI_HOME"
_EVENTS: Final = {
    "UserPromptSubmit": "BeforeAgent",
    "PostToolUse": "AfterTool",
    "Stop": "AfterAgent",
}
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="run_shell_command",
    edit="replace edit",
    write="write_file",
    read="read_file read_many_files",
    search="grep_search search_file_content glob list_directory",
    web_search="google_web_search",
    delegate="codebase_investigator delegate_to_agent invoke_agent",
)
_NOTHING: Final = "(empty)"
_SHELL: Final = "run_shell_command"
_OUTPUT: Final = re.compile(
    r"^Output: (.*?)(?=^(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): "
    r"|</untrusted_context>|\Z)",
    re.MULTILINE | re.DOTALL,
)
_UNFINISHED: Final = re.compile(r"^(?:Signal|Background PIDs): ", re.MULTILINE)
_EXIT: Final = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_NOT_A_PERSONS: Final = ("<session_context>", "<hook_context>")
_CANCELLED: Final = re.compile(r"Request cancelled|Operation cancelled", re.IGNORECASE)
_ROOT: Final = ".project_root"
_LONGEST_PATH: Final = 4096


class _Chat(MessageReader):
    """Reads the records of one chat.

    A message of the model is written again, under the same id, when its calls have been carried
    out.
    """

    def describe(self, record: dict[str, Any]) -> None:
        """Take the session's id; the folder is in a file beside the chats."""
        self.chat.session = as_text(record.get("sessionId")) or self.path.stem
        self.chat.folder = self._folder()
        self.chat.begun_at = seconds_of(record.get("startTime"))
        # A sub-agent's chat lies in a folder with the id of its parent's session.
        if record.get("kind") == "subagent":
            self.chat.name = "subagent"

    def _folder(self) -> str:
        for folder in list(self.path.parents)[1:3]:
            try:
                with (folder / _ROOT).open(encoding="utf-8") as file:
                    return file.read(_LONGEST_PATH).strip()
            except (OSError, UnicodeDecodeError):
                continue
        return ""

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a record."""
        at, kind = seconds_of(record.get("timestamp")), record.get("type")
        if kind == "user":
            words = words_in(record.get("content"))
            if not words.startswith(_NOT_A_PERSONS):
                prompt = as_text(record.get("id"))
                self.chat.ask(words, at, start=start, prompt=prompt)
        elif kind == "gemini":
            self._answer(record, at)
        elif kind == "error":
            self.chat.see(SignalKind.API_FAILED, words_in(record.get("content")), at)
        elif kind == "info" and _CANCELLED.search(words_in(record.get("content"))[:200]):
            self.chat.see(SignalKind.INTERRUPTED, "", at)

    def _answer(self, record: dict[str, Any], at: float | None) -> None:
        tokens = as_object(record.get("tokens"))
        answer, model = as_text(record.get("id")), as_text(record.get("model"))
        self.chat.count_usage(answer, tokens, "output input", model=model)
        calls, says = objects_in(record.get("toolCalls")), words_in(record.get("content"))
        self.chat.say(at, is_last=bool(says) and not calls)
        for call in calls:
            self._call(call, at)

    def _call(self, call: dict[str, Any], asked_at: float | None) -> None:
        call_id, name = as_text(call.get("id")), as_text(call.get("name"))
        at, status = seconds_of(call.get("timestamp")), call.get("status")
        self.chat.use(call_id, name, call.get("args"), asked_at)
        if status not in ("success", "error", "cancelled"):
            return
        response = {}
        for part in objects_in(call.get("result")):
            response = as_object(as_object(part.get("functionResponse")).get("response"))
        text = as_text(response.get("error")) or as_text(response.get("output"))
        if status == "cancelled":
            self.chat.cancel(call_id, text, at)
            return
        ok = status == "success" and "error" not in response
        if name == _SHELL and ok:
            self._shell(call_id, text, at)
        else:
            self.chat.result(call_id, text, ok=ok, at=at)

    def _shell(self, call_id: str, text: str, at: float | None) -> None:
        """Take what a command printed; its status is only named if it is not 0."""
        printed, codes = _OUTPUT.search(text), _EXIT.findall(text[-1000:])
        if printed is None or (not codes and _UNFINISHED.search(text[-1000:])):
            self.chat.result(call_id, text, ok=None, at=at)
            return
        code = int(codes[-1]) if codes else 0
        output = printed[1].rstrip("\n").removeprefix(_NOTHING)
        self.chat.result(call_id, output, ok=True, at=at, exit_code=code)


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, "") / ".gemini"


AGENT: Final = CodingAgent(
    label="Gemini CLI",
    # Older versions wrote one document.
    source=LogFiles(
        name=_NAME,
        pattern="chats/session-*.json*",
        homes=lambda: (_folder() / "tmp",),
        read_log=reading_with(_Chat, _NAME, TOOLS),
    ),
    tools=TOOLS,
    tried="0.61.0",
    hooks=SettingsHooks(
        name=_NAME,
        label="Gemini CLI",
        program="gemini",
        folder_of=_folder,
        # Its timeouts are in milliseconds.
        unit=1000,
        asking=("SessionStart", "UserPromptSubmit", "PostToolUse"),
        noting=("Stop",),
        events=_EVENTS,
    ),
    home_variable=_HOME_VARIABLE,
    events=_EVENTS,
)
