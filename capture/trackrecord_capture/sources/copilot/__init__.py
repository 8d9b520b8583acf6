"""GitHub Copilot CLI: the events that it keeps of each session."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...agent_run import SignalKind
from ..declaration import Action, CodingAgent, tools_of
from ..exit_statuses import last_line_status
from ..json_values import as_count, as_list, as_object, as_status, as_text
from ..log_files import LogFiles, home_of
from ..message_logs import MessageReader, reading_with
from ..moments import seconds_of

_NAME: Final = "copilot"
_HOME_VARIABLE: Final = "COPILOT_HOME"
_REFUSED: Final = frozenset({"denied", "rejected"})
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="bash powershell",
    edit="edit str_replace_editor apply_patch",
    write="create",
    read="view read_bash",
    search="grep glob",
    fetch="web_fetch",
    delegate="task",
)


def _is_session(path: Path) -> bool:
    """Return whether a file holds events: that of a session's folder, or one without a folder."""
    return path.name == "events.jsonl" or path.parent.name == "session-state"


class _Session(MessageReader):
    """Reads the events of one session."""

    def describe(self, record: dict[str, Any]) -> None:
        """Take the session's id, its folder and its branch."""
        data = as_object(record.get("data"))
        context = as_object(data.get("context"))
        self.chat.session = as_text(data.get("sessionId"))
        self.chat.begun_at = seconds_of(data.get("startTime"))
        self.chat.model = as_text(data.get("selectedModel"))
        self.chat.folder = as_text(context.get("cwd"))
        self.chat.branch = as_text(context.get("branch"))
        self.chat.repository = as_text(context.get("repository"))

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take an event."""
        data, at = as_object(record.get("data")), seconds_of(record.get("timestamp"))
        if as_text(data.get("parentToolCallId")):
            return  # what a sub-agent does within a call of its parent
        match record.get("type"):
            case "user.message":
                if not as_text(data.get("source")).startswith(("system", "skill")):
                    words, prompt = as_text(data.get("content")), as_text(record.get("id"))
                    self.chat.ask(words, at, start=start, prompt=prompt)
            case "assistant.message":
                self._answer(data, at)
            case "session.usage_record":
                usage = as_object(data.get("usage"))
                answer, model = as_text(usage.get("apiCallId")), as_text(usage.get("model"))
                self.chat.count_usage(answer, usage, "outputTokens inputTokens", model=model)
            case "tool.execution_start":
                self._use(data, at)
            case "tool.execution_complete":
                self._result(data, at)
            case "abort":
                self.chat.see(SignalKind.INTERRUPTED, as_text(data.get("reason")), at)
            case "session.error":
                self.chat.see(SignalKind.API_FAILED, as_text(data.get("message")), at)

    def _answer(self, data: dict[str, Any], at: float | None) -> None:
        self.chat.say(at, is_last=not as_list(data.get("toolRequests")))
        tokens = as_count(data.get("outputTokens"))
        if tokens is not None:  # of older versions, which keep no record of the usage
            self.chat.count(as_text(data.get("apiCallId")), None, tokens)

    def _use(self, data: dict[str, Any], at: float | None) -> None:
        server, tool = as_text(data.get("mcpServerName")), as_text(data.get("mcpToolName"))
        name = f"{server}:{tool}" if server and tool else as_text(data.get("toolName"))
        self.chat.use(as_text(data.get("toolCallId")), name, data.get("arguments"), at)

    def _result(self, data: dict[str, Any], at: float | None) -> None:
        call_id, error = as_text(data.get("toolCallId")), as_object(data.get("error"))
        text = as_text(as_object(data.get("result")).get("content")) or as_text(
            error.get("message")
        )
        if as_text(error.get("code")) in _REFUSED:
            self.chat.refuse(call_id, text, at)
            return
        # A command that failed is a success of its tool.
        text, written = last_line_status(text)
        code = as_status(as_object(data.get("shellExecution")).get("exitCode"))
        code = written if code is None else code
        success = data.get("success")
        ok = success if isinstance(success, bool) else None
        self.chat.result(call_id, text, ok=ok, at=at, exit_code=code)


AGENT: Final = CodingAgent(
    label="GitHub Copilot CLI",
    source=LogFiles(
        name=_NAME,
        pattern="session-state/*/events.jsonl",
        homes=lambda: (home_of(_HOME_VARIABLE, ".copilot") / "session-state",),
        read_log=reading_with(_Session, _NAME, TOOLS),
        below="*.jsonl",
        is_session=_is_session,
    ),
    tools=TOOLS,
    tried="1.0.102",
    home_variable=_HOME_VARIABLE,
)
