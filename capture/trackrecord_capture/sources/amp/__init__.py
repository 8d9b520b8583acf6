"""Amp: the threads that it keeps on this machine, a document of messages for each."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ...agent_run import SignalKind
from ..declaration import Action, CodingAgent, tools_of
from ..json_values import as_object, as_status, as_text, objects_in, words_in
from ..log_files import LogFiles, data_folder
from ..message_logs import MessageReader, reading_with
from ..moments import seconds_of, seconds_of_millis

_NAME: Final = "amp"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="Bash shell_command",
    edit="edit_file apply_patch undo_edit",
    write="create_file",
    read="Read",
    search="Grep glob finder list_directory",
    web_search="web_search",
    delegate="Task",
)
_USAGE: Final = "outputTokens inputTokens cacheReadInputTokens cacheCreationInputTokens"


class _Thread(MessageReader):
    """Reads the messages of one thread."""

    def describe(self, record: dict[str, Any]) -> None:
        """Take the thread's id, its folder, its repository and its branch."""
        chat = self.chat
        chat.session = as_text(record.get("id"))
        chat.fallback_at = seconds_of_millis(record.get("created")) or 0.0
        initial = as_object(as_object(record.get("env")).get("initial"))
        for tree in objects_in(initial.get("trees"))[:1]:
            repository = as_object(tree.get("repository"))
            chat.folder = unquote(urlsplit(as_text(tree.get("uri"))).path)
            chat.repository = as_text(repository.get("url"))
            chat.branch = as_text(repository.get("ref")).removeprefix("refs/heads/")

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a message."""
        parts, usage = objects_in(record.get("content")), as_object(record.get("usage"))
        at = seconds_of_millis(as_object(record.get("meta")).get("sentAt"))
        if at is None:
            at = seconds_of(usage.get("timestamp"))
        if record.get("role") == "assistant":
            self._answer(record, parts, usage, at)
            return
        results = [part for part in parts if part.get("type") == "tool_result"]
        for part in results:
            self._result(part, at)
        if not results:
            prompt = f"message-{record.get('messageId', start)}"
            self.chat.ask(words_in(parts), at, start=start, prompt=prompt)

    def _answer(
        self,
        message: dict[str, Any],
        parts: list[dict[str, Any]],
        usage: dict[str, Any],
        at: float | None,
    ) -> None:
        answer, model = str(message.get("messageId", "")), as_text(usage.get("model"))
        self.chat.count_usage(answer, usage, _USAGE, model=model)
        state = as_object(message.get("state"))
        is_complete = state.get("type") == "complete"
        self.chat.say(at, is_last=is_complete and state.get("stopReason") != "tool_use")
        for part in parts:
            if part.get("type") == "tool_use":
                name, given = as_text(part.get("name")), as_object(part.get("input"))
                self.chat.use(as_text(part.get("id")), name, _named(name, given), at)
        if state.get("type") == "cancelled":
            self.chat.see(SignalKind.INTERRUPTED, "", at)
        elif state.get("type") == "error":
            says = as_text(as_object(state.get("error")).get("message"))
            self.chat.see(SignalKind.API_FAILED, says, at)

    def _result(self, part: dict[str, Any], at: float | None) -> None:
        run, call_id = as_object(part.get("run")), as_text(part.get("toolUseID"))
        status, result = run.get("status"), run.get("result")
        told = as_object(result)
        error = as_text(as_object(run.get("error")).get("message")) or as_text(run.get("error"))
        text = as_text(result) or as_text(told.get("output")) or words_in(told.get("content"))
        if status == "rejected-by-user":
            self.chat.refuse(call_id, as_text(run.get("reason")), at)
            return
        ok = {"done": True, "error": False}.get(as_text(status))
        code = as_status(told.get("exitCode"))
        self.chat.result(call_id, text or error, ok=ok, at=at, exit_code=code)


def _named(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return a shell's arguments by the usual name."""
    if TOOLS.get(name) == "shell" and "cmd" in given:
        return {"command": given["cmd"], "cwd": given.get("cwd")}
    return given


AGENT: Final = CodingAgent(
    label="Amp",
    source=LogFiles(
        name=_NAME,
        pattern="threads/T-*.json",
        homes=lambda: (data_folder("amp") / "threads",),
        read_log=reading_with(_Thread, _NAME, TOOLS),
        below="T-*.json",
    ),
    tools=TOOLS,
)
