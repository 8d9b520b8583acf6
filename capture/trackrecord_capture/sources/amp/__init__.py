"""Amp: the threads that it keeps on this machine, a document of messages for each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ...agent_run import SignalKind
from ..conversation import Conversation
from ..declaration import Action, CodingAgent, tools_of
from ..json_values import as_count, as_list, as_object, as_status, as_text, words_in
from ..log_files import data_folder
from ..message_logs import SessionFiles
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


class _Thread:
    """Reads the messages of one thread."""

    def __init__(self, _path: Path) -> None:
        self.conversation = Conversation(_NAME, TOOLS)

    def fill(self, document: dict[str, Any]) -> Conversation:
        """Take all messages of a thread."""
        conversation = self.conversation
        conversation.session = as_text(document.get("id"))
        conversation.fallback_at = seconds_of_millis(document.get("created")) or 0.0
        initial = as_object(as_object(document.get("env")).get("initial"))
        for tree in map(as_object, as_list(initial.get("trees"))[:1]):
            repository = as_object(tree.get("repository"))
            conversation.folder = unquote(urlsplit(as_text(tree.get("uri"))).path)
            conversation.repository = as_text(repository.get("url"))
            conversation.branch = as_text(repository.get("ref")).removeprefix("refs/heads/")
        for place, message in enumerate(map(as_object, as_list(document.get("messages")))):
            self._take(message, place)
        return conversation

    def _take(self, message: dict[str, Any], place: int) -> None:
        parts = [as_object(part) for part in as_list(message.get("content"))]
        usage = as_object(message.get("usage"))
        at = seconds_of_millis(as_object(message.get("meta")).get("sentAt"))
        if at is None:
            at = seconds_of(usage.get("timestamp"))
        if message.get("role") == "assistant":
            self._answer(message, parts, usage, at)
            return
        results = [part for part in parts if part.get("type") == "tool_result"]
        for part in results:
            self._result(part, at)
        if not results:
            prompt = f"message-{message.get('messageId', place)}"
            self.conversation.ask(words_in(parts), at, start=place, prompt=prompt)

    def _answer(
        self,
        message: dict[str, Any],
        parts: list[dict[str, Any]],
        usage: dict[str, Any],
        at: float | None,
    ) -> None:
        names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        read = [as_count(usage.get(name)) for name in names]
        self.conversation.count(
            str(message.get("messageId", "")),
            sum(count or 0 for count in read) if usage else None,
            as_count(usage.get("outputTokens")),
            model=as_text(usage.get("model")),
        )
        state = as_object(message.get("state"))
        is_complete = state.get("type") == "complete"
        self.conversation.say(at, is_last=is_complete and state.get("stopReason") != "tool_use")
        for part in parts:
            if part.get("type") == "tool_use":
                name, given = as_text(part.get("name")), as_object(part.get("input"))
                self.conversation.use(as_text(part.get("id")), name, _named(name, given), at)
        if state.get("type") == "cancelled":
            self.conversation.see(SignalKind.INTERRUPTED, "", at)
        elif state.get("type") == "error":
            says = as_text(as_object(state.get("error")).get("message"))
            self.conversation.see(SignalKind.API_FAILED, says, at)

    def _result(self, part: dict[str, Any], at: float | None) -> None:
        run, call_id = as_object(part.get("run")), as_text(part.get("toolUseID"))
        status, result = run.get("status"), run.get("result")
        told = as_object(result)
        error = as_text(as_object(run.get("error")).get("message")) or as_text(run.get("error"))
        text = as_text(result) or as_text(told.get("output")) or words_in(told.get("content"))
        if status == "rejected-by-user":
            self.conversation.refuse(call_id, as_text(run.get("reason")), at)
            return
        ok = {"done": True, "error": False}.get(as_text(status))
        code = as_status(told.get("exitCode"))
        self.conversation.result(call_id, text or error, ok=ok, at=at, exit_code=code)


def _named(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return a shell's arguments by the usual name."""
    if TOOLS.get(name) == "shell" and "cmd" in given:
        return {"command": given["cmd"], "cwd": given.get("cwd")}
    return given


AGENT: Final = CodingAgent(
    label="Amp",
    source=SessionFiles(
        name=_NAME,
        pattern="threads/T-*.json",
        folders=lambda: (data_folder("amp") / "threads",),
        reader=_Thread,
        below="T-*.json",
    ),
    tools=TOOLS,
)
