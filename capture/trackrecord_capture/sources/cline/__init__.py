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
from ..json_values import as_count, as_list, as_object, as_text, object_in, value_in, words_in
from ..log_files import home_of
from ..message_logs import SessionFiles
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
_REFUSED: Final = "denied this operation"
_TYPED: Final = re.compile(r"\s*<user_input(?: [^>]{0,100})?>(.*?)</user_input>", re.DOTALL)


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, ".cline")


class _Session:
    """Reads the messages of one session."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shells: set[str] = set()
        self.conversation = Conversation(_NAME, TOOLS)

    def fill(self, document: dict[str, Any]) -> Conversation:
        """Take all messages; the session's own data are in a file beside them."""
        about = self._about()
        self.conversation.session = as_text(document.get("sessionId"))
        self.conversation.folder = as_text(about.get("cwd"))
        self.conversation.model = as_text(about.get("model"))
        self.conversation.automated = about.get("interactive") is False
        for place, message in enumerate(map(as_object, as_list(document.get("messages")))):
            self._take(message, place)
        ended_at = seconds_of(about.get("ended_at"))
        if about.get("status") in ("cancelled", "aborted"):
            self.conversation.see(SignalKind.INTERRUPTED, "", ended_at)
        elif about.get("status") in ("failed", "error"):
            self.conversation.see(SignalKind.API_FAILED, "", ended_at)
        elif ended_at is not None:
            self.conversation.end(ended_at)
        return self.conversation

    def _about(self) -> dict[str, Any]:
        return object_in(self._path.with_name(self._path.name.removesuffix(_MESSAGES) + ".json"))

    def _take(self, message: dict[str, Any], place: int) -> None:
        at, content = seconds_of_millis(message.get("ts")), message.get("content")
        parts = [as_object(part) for part in as_list(content)]
        results = [part for part in parts if part.get("type") == "tool_result"]
        if message.get("role") == "assistant":
            self._answer(message, parts, at)
        for part in results:
            self._result(part, at)
        is_hooks = as_object(message.get("metadata")).get("displayRole") == "system"
        if message.get("role") == "user" and not results and not is_hooks:
            words, prompt = _persons_words(words_in(content)), as_text(message.get("id"))
            self.conversation.ask(words, at, start=place, prompt=prompt)

    def _answer(
        self, message: dict[str, Any], parts: list[dict[str, Any]], at: float | None
    ) -> None:
        metrics = as_object(message.get("metrics"))
        names = ("inputTokens", "cacheReadTokens", "cacheWriteTokens")
        read = [as_count(metrics.get(name)) for name in names]
        self.conversation.count(
            as_text(message.get("id")),
            sum(count or 0 for count in read) if metrics else None,
            as_count(metrics.get("outputTokens")),
            model=as_text(as_object(message.get("modelInfo")).get("id")),
        )
        calls = [part for part in parts if part.get("type") == "tool_use"]
        self.conversation.say(at, is_last=not calls)
        for call in calls:
            call_id, name = as_text(call.get("id")), as_text(call.get("name"))
            if TOOLS.get(name) == "shell":
                self._shells.add(call_id)
            self.conversation.use(call_id, name, call.get("input"), at)

    def _result(self, part: dict[str, Any], at: float | None) -> None:
        call_id, content = as_text(part.get("tool_use_id")), part.get("content")
        if isinstance(content, str):
            content = value_in(content, {"result": content})
        told = content if isinstance(content, list) else [content]
        results = [as_object(each) for each in told]
        texts, codes = [], []
        for each in results:
            text, code = first_line_status(as_text(each.get("result")) or as_text(each.get("text")))
            texts.append(text or as_text(each.get("error")))
            codes.append(code)
        flags = [each["success"] for each in results if isinstance(each.get("success"), bool)]
        text, ok = "\n".join(texts), all(flags) if flags else part.get("is_error") is not True
        if _REFUSED in text[:1000]:
            self.conversation.refuse(call_id, text, at)
            return
        exit_code = None
        if call_id in self._shells:
            failed = next((code for code in codes if code), None)
            exit_code = 0 if ok else failed
        self.conversation.result(call_id, text, ok=ok, at=at, exit_code=exit_code)


def _persons_words(text: str) -> str:
    """Return what the person typed, without what Cline puts around it."""
    found = _TYPED.match(text)
    return found[1] if found else text


AGENT: Final = CodingAgent(
    label="Cline",
    source=SessionFiles(
        name=_NAME,
        pattern="*.messages.json",
        folders=lambda: (_folder() / "data/sessions",),
        reader=_Session,
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
