"""The records of a chat: a header, messages, and `{"$set": …}` for what changed of the whole.

A message of the model is written again, under the same id, when its calls have been carried out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...agent_run import SignalKind
from ..conversation import Conversation
from ..declaration import Action, tools_of
from ..json_values import as_count, as_list, as_object, as_text, words_in
from ..moments import seconds_of

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


class GeminiChat:
    """Reads the records of one chat; see `MessageReader`."""

    def __init__(self, agent: str, path: Path) -> None:
        self._path = path
        self.conversation = Conversation(agent, TOOLS)

    def describe(self, record: dict[str, Any]) -> None:
        """Take the session's id; the folder is in a file beside the chats."""
        self.conversation.session = as_text(record.get("sessionId")) or self._path.stem
        self.conversation.folder = self._folder()
        self.conversation.begun_at = seconds_of(record.get("startTime"))
        # A sub-agent's chat lies in a folder with the id of its parent's session.
        if record.get("kind") == "subagent":
            self.conversation.name = "subagent"

    def _folder(self) -> str:
        for folder in list(self._path.parents)[1:3]:
            try:
                with (folder / _ROOT).open(encoding="utf-8") as file:
                    return file.read(_LONGEST_PATH).strip()
            except (OSError, UnicodeDecodeError):
                continue
        return ""

    def fill(self, document: dict[str, Any]) -> Conversation:
        """Take all messages of a document."""
        self.describe(document)
        for place, message in enumerate(as_list(document.get("messages"))):
            self.take(as_object(message), place)
        return self.conversation

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a record."""
        at, kind = seconds_of(record.get("timestamp")), record.get("type")
        if kind == "user":
            words = words_in(record.get("content"))
            if not words.startswith(_NOT_A_PERSONS):
                prompt = as_text(record.get("id"))
                self.conversation.ask(words, at, start=start, prompt=prompt)
        elif kind == "gemini":
            self._answer(record, at)
        elif kind == "error":
            self.conversation.see(SignalKind.API_FAILED, words_in(record.get("content")), at)
        elif kind == "info" and _CANCELLED.search(words_in(record.get("content"))[:200]):
            self.conversation.see(SignalKind.INTERRUPTED, "", at)

    def _answer(self, record: dict[str, Any], at: float | None) -> None:
        tokens = as_object(record.get("tokens"))
        self.conversation.count(
            as_text(record.get("id")),
            as_count(tokens.get("input")),
            as_count(tokens.get("output")),
            model=as_text(record.get("model")),
        )
        calls = [as_object(each) for each in as_list(record.get("toolCalls"))]
        says = words_in(record.get("content"))
        self.conversation.say(at, is_last=bool(says) and not calls)
        for call in calls:
            self._call(call, at)

    def _call(self, call: dict[str, Any], asked_at: float | None) -> None:
        call_id, name = as_text(call.get("id")), as_text(call.get("name"))
        at, status = seconds_of(call.get("timestamp")), call.get("status")
        self.conversation.use(call_id, name, call.get("args"), asked_at)
        if status not in ("success", "error", "cancelled"):
            return
        response = {}
        for part in as_list(call.get("result")):
            response = as_object(as_object(as_object(part).get("functionResponse")).get("response"))
        text = as_text(response.get("error")) or as_text(response.get("output"))
        if status == "cancelled":
            self.conversation.cancel(call_id, text, at)
            return
        ok = status == "success" and "error" not in response
        if name == _SHELL and ok:
            self._shell(call_id, text, at)
        else:
            self.conversation.result(call_id, text, ok=ok, at=at)

    def _shell(self, call_id: str, text: str, at: float | None) -> None:
        """Take what a command printed; its status is only named if it is not 0."""
        printed, codes = _OUTPUT.search(text), _EXIT.findall(text[-1000:])
        if printed is None or (not codes and _UNFINISHED.search(text[-1000:])):
            self.conversation.result(call_id, text, ok=None, at=at)
            return
        code = int(codes[-1]) if codes else 0
        output = printed[1].rstrip("\n").removeprefix(_NOTHING)
        self.conversation.result(call_id, output, ok=True, at=at, exit_code=code)
