"""Cline: the sessions of its command line, a document of messages for each."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...agent_run import SignalKind
from ...agents.plugin_file import PluginFile
from ..conversation import Conversation
from ..declaration import Action, CodingAgent, tools_of
from ..exit_statuses import first_line_status
from ..json_values import as_object, as_text, object_in, objects_in, value_in, words_in
from ..log_files import LogFiles, home_of
from ..message_logs import MessageReader, reading_with
from ..moments import seconds_of, seconds_of_millis

_NAME: Final = "cline"
_HOME_VARIABLE: Final = "CLINE_DIR"
_MESSAGES: Final = ".messages.json"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="run_commands execute_command",
    edit="editor apply_patch replace_in_file",
    write="write_to_file",
    read="read_files read_file",
    search="search_codebase search_files list_files",
    delegate="spawn_agent",
)
_USAGE: Final = "outputTokens inputTokens cacheReadTokens cacheWriteTokens"
_REFUSED: Final = "denied this operation"
_TYPED: Final = re.compile(r"\s*<user_input(?: [^>]{0,100})?>(.*?)</user_input>", re.DOTALL)


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, ".cline")


class _Session(MessageReader):
    """Reads the messages of one session."""

    def fill(self, document: dict[str, Any]) -> Conversation:
        """Take all messages; the session's own data are in a file beside them."""
        about = object_in(self.path.with_name(self.path.name.removesuffix(_MESSAGES) + ".json"))
        self.chat.session = as_text(document.get("sessionId"))
        self.chat.folder = as_text(about.get("cwd"))
        self.chat.model = as_text(about.get("model"))
        self.chat.automated = about.get("interactive") is False
        super().fill(document)
        ended_at = seconds_of(about.get("ended_at"))
        if about.get("status") in ("cancelled", "aborted"):
            self.chat.see(SignalKind.INTERRUPTED, "", ended_at)
        elif about.get("status") in ("failed", "error"):
            self.chat.see(SignalKind.API_FAILED, "", ended_at)
        elif ended_at is not None:
            self.chat.end(ended_at)
        return self.chat

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a message."""
        at, content = seconds_of_millis(record.get("ts")), record.get("content")
        parts = objects_in(content)
        results = [part for part in parts if part.get("type") == "tool_result"]
        if record.get("role") == "assistant":
            self._answer(record, parts, at)
        for part in results:
            self._result(part, at)
        is_hooks = as_object(record.get("metadata")).get("displayRole") == "system"
        if record.get("role") == "user" and not results and not is_hooks:
            words, prompt = _persons_words(words_in(content)), as_text(record.get("id"))
            self.chat.ask(words, at, start=start, prompt=prompt)

    def _answer(
        self, message: dict[str, Any], parts: list[dict[str, Any]], at: float | None
    ) -> None:
        answer, model = as_text(message.get("id")), as_object(message.get("modelInfo")).get("id")
        metrics = as_object(message.get("metrics"))
        self.chat.count_usage(answer, metrics, _USAGE, model=as_text(model))
        calls = [part for part in parts if part.get("type") == "tool_use"]
        self.chat.say(at, is_last=not calls)
        for call in calls:
            name = as_text(call.get("name"))
            self.chat.use(as_text(call.get("id")), name, call.get("input"), at)

    def _result(self, part: dict[str, Any], at: float | None) -> None:
        call_id, content = as_text(part.get("tool_use_id")), part.get("content")
        if isinstance(content, str):
            content = value_in(content, {"result": content})
        results = objects_in(content if isinstance(content, list) else [content])
        texts, codes = [], []
        for each in results:
            text, code = first_line_status(as_text(each.get("result")) or as_text(each.get("text")))
            texts.append(text or as_text(each.get("error")))
            codes.append(code)
        flags = [each["success"] for each in results if isinstance(each.get("success"), bool)]
        text, ok = "\n".join(texts), all(flags) if flags else part.get("is_error") is not True
        if _REFUSED in text[:1000]:
            self.chat.refuse(call_id, text, at)
            return
        exit_code = None
        if self.chat.is_shell(call_id):
            failed = next((code for code in codes if code), None)
            exit_code = 0 if ok else failed
        self.chat.result(call_id, text, ok=ok, at=at, exit_code=exit_code)


def _persons_words(text: str) -> str:
    """Return what the person typed, without what Cline puts around it."""
    found = _TYPED.match(text)
    return found[1] if found else text


AGENT: Final = CodingAgent(
    label="Cline",
    source=LogFiles(
        name=_NAME,
        pattern="*.messages.json",
        homes=lambda: (_folder() / "data/sessions",),
        read_log=reading_with(_Session, _NAME, TOOLS),
    ),
    tools=TOOLS,
    tried="3.0.65",
    hooks=PluginFile(
        name=_NAME,
        label="Cline",
        folder_of=_folder,
        plugins_of=lambda: _folder() / "plugins",
    ),
    home_variable=_HOME_VARIABLE,
)
