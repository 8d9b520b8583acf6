"""pi: the sessions that it keeps for each folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trackrecord.learning.text.hints import without_hints

from ...agent_run import SignalKind
from ...agents.plugin_file import PluginFile
from ..declaration import Action, CodingAgent, tools_of
from ..exit_statuses import last_line_status
from ..json_values import as_object, as_status, as_text, objects_in, words_in
from ..log_files import LogFiles, home_of
from ..message_logs import MessageReader, reading_with
from ..moments import seconds_of

_NAME: Final = "pi"
_HOME_VARIABLE: Final = "PI_CODING_AGENT_DIR"
_SHELL: Final = "bash"
_STOPPED: Final = "Command aborted"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="bash",
    edit="edit",
    write="write",
    read="read",
    search="grep find ls",
    delegate="subagent",
)


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, ".pi/agent")


class _Session(MessageReader):
    """Reads the entries of one session."""

    def describe(self, record: dict[str, Any]) -> None:
        """Take the session's id and its folder."""
        self.chat.session = as_text(record.get("id"))
        self.chat.folder = as_text(record.get("cwd"))
        self.chat.begun_at = seconds_of(record.get("timestamp"))

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take an entry."""
        if record.get("type") != "message":
            return
        message, at = as_object(record.get("message")), seconds_of(record.get("timestamp"))
        entry, role = as_text(record.get("id")), message.get("role")
        if role == "user":
            words = words_in(message.get("content"))
            self.chat.ask(words, at, start=start, prompt=entry)
        elif role == "assistant":
            self._answer(message, entry, at)
        elif role == "toolResult":
            self._result(message, at)
        elif role == "bashExecution":
            self._typed(message, entry, at)

    def _answer(self, message: dict[str, Any], entry: str, at: float | None) -> None:
        usage, reason = as_object(message.get("usage")), message.get("stopReason")
        usd, model = as_object(usage.get("cost")).get("total"), as_text(message.get("model"))
        self.chat.count_usage(entry, usage, "output input cacheRead cacheWrite", model=model)
        self.chat.count(entry, None, None, usd=usd if isinstance(usd, float) else None)
        self.chat.say(at, is_last=reason in ("stop", "length"))
        for part in objects_in(message.get("content")):
            if part.get("type") == "toolCall":
                name, given = as_text(part.get("name")), part.get("arguments")
                self.chat.use(as_text(part.get("id")), name, given, at)
        if reason == "aborted":
            self.chat.see(SignalKind.INTERRUPTED, "", at)
        elif reason == "error":
            self.chat.see(SignalKind.API_FAILED, as_text(message.get("errorMessage")), at)

    def _result(self, message: dict[str, Any], at: float | None) -> None:
        text = without_hints(words_in(message.get("content")))
        has_failed = message.get("isError") is True
        exit_code: int | None = None
        ok: bool | None = not has_failed
        if message.get("toolName") == _SHELL:
            if has_failed:
                text, exit_code = last_line_status(text)
                ok = None if text.rstrip().endswith(_STOPPED) else False
            else:
                exit_code = 0
        self.chat.result(
            as_text(message.get("toolCallId")), text, ok=ok, at=at, exit_code=exit_code
        )

    def _typed(self, message: dict[str, Any], entry: str, at: float | None) -> None:
        """Take a command that the person ran."""
        code = as_status(message.get("exitCode"))
        given = {"command": as_text(message.get("command"))}
        self.chat.use(entry, _SHELL, given, at, actor="user")
        ok = None if code is None or message.get("cancelled") is True else True
        output = as_text(message.get("output"))
        self.chat.result(entry, output, ok=ok, at=at, exit_code=code)


AGENT: Final = CodingAgent(
    label="pi",
    source=LogFiles(
        name=_NAME,
        pattern="sessions/--*--/*_*.jsonl",
        homes=lambda: (_folder() / "sessions",),
        read_log=reading_with(_Session, _NAME, TOOLS),
        below="--*--/*_*.jsonl",
    ),
    tools=TOOLS,
    tried="1.6.0",
    hooks=PluginFile(
        name=_NAME,
        label="pi",
        folder_of=_folder,
        plugins_of=lambda: _folder() / "extensions",
    ),
    home_variable=_HOME_VARIABLE,
)
