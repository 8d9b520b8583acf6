"""The records of a log, of Kimi Code: `{"type", "time", …}`, and of the older Kimi CLI.

The older ones are `{"timestamp", "message": {"type", "payload"}}`. The folder of the session stands
beside the log, or, of the older ones, in a list of all folders, by a digest of each.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...agent_run import SignalKind
from ..conversation import Conversation
from ..declaration import Action, tools_of
from ..exit_statuses import last_line_status
from ..json_values import as_count, as_list, as_object, as_text, object_in, value_in, words_in
from ..moments import seconds_of_millis

TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="Bash Shell",
    edit="Edit StrReplaceFile",
    write="Write WriteFile",
    read="Read ReadFile",
    search="Grep Glob",
    web_search="SearchWeb WebSearch",
    delegate="Agent Task",
)
_SHELLS: Final = frozenset({"Bash", "Shell"})
_MAIN: Final = "main"
_REFUSED: Final = "is rejected by the user"
_STOPPED: Final = frozenset({"cancelled", "canceled", "aborted", "interrupted"})
_FAILED: Final = frozenset({"failed", "error"})
_USAGE: Final = ("inputOther", "inputCacheRead", "inputCacheCreation")
_OLD_USAGE: Final = ("input_other", "input_cache_read", "input_cache_creation")


class Wire:
    """Reads the records of one log; see `MessageReader`."""

    def __init__(self, agent: str, path: Path) -> None:
        self._path = path
        self._shells: set[str] = set()
        self.conversation = Conversation(agent, TOOLS)

    def describe(self, record: dict[str, Any]) -> None:  # noqa: ARG002 - the files beside it tell
        """Take the session's id and folder."""
        session = self._path.parent
        if session.parent.name == "agents":
            name, session = session.name, session.parent.parent
            self.conversation.name = "" if name == _MAIN else name
            state = object_in(session / "state.json")
            self.conversation.folder = as_text(state.get("cwd"))
        else:
            self.conversation.folder = _folder_of(session.parent)
        self.conversation.session = session.name.removeprefix("session_")
        if self.conversation.name:
            self.conversation.session += f":{self.conversation.name}"

    def take(self, record: dict[str, Any], start: int) -> None:
        """Take a record."""
        if isinstance(record.get("message"), dict) and "timestamp" in record:
            count, message = as_count(record["timestamp"]), record["message"]
            at = None if count is None else seconds_of_millis(record["timestamp"] * 1000)
            self._old(message.get("type"), as_object(message.get("payload")), at, start)
        else:
            self._new(record, seconds_of_millis(record.get("time")), start)

    def _new(self, record: dict[str, Any], at: float | None, start: int) -> None:
        kind = record.get("type")
        if kind == "turn.prompt":
            if as_object(record.get("origin")).get("kind", "user") == "user":
                words, prompt = words_in(record.get("input")), as_text(record.get("promptId"))
                self.conversation.ask(words, at, start=start, prompt=prompt)
        elif kind == "usage.record":
            usage = as_object(record.get("usage"))
            self._count(usage, _USAGE, as_text(record.get("model")))
        elif kind == "context.append_loop_event":
            self._step(as_object(record.get("event")), at)
        elif kind == "turn.ended":
            self._end(record.get("reason"), as_text(record.get("error")), at)

    def _step(self, event: dict[str, Any], at: float | None) -> None:
        kind, call_id = event.get("type"), as_text(event.get("toolCallId"))
        if kind == "tool.call":
            self._use(call_id, as_text(event.get("name")), event.get("args"), at)
        elif kind == "tool.result":
            result = as_object(event.get("result"))
            output = words_in(result.get("output"))
            self._answer(call_id, output, has_failed=result.get("isError") is True, at=at)
        elif kind == "step.end":
            self.conversation.say(at, is_last=event.get("finishReason") == "end_turn")

    def _old(self, kind: object, payload: dict[str, Any], at: float | None, start: int) -> None:
        if kind == "TurnBegin":
            words, prompt = words_in(payload.get("user_input")), f"at-{at}" if at else ""
            self.conversation.ask(words, at, start=start, prompt=prompt)
        elif kind == "ToolCall":
            function = as_object(payload.get("function"))
            given = value_in(as_text(function.get("arguments")), {})
            self._use(as_text(payload.get("id")), as_text(function.get("name")), given, at)
        elif kind == "ToolResult":
            value = as_object(payload.get("return_value"))
            text, says = words_in(value.get("output")), as_text(value.get("message"))
            has_failed = value.get("is_error") is True
            if has_failed:
                text = f"{text.rstrip()}\n{says}"
            call_id = as_text(payload.get("tool_call_id"))
            self._answer(call_id, text, has_failed=has_failed, at=at)
        elif kind == "StatusUpdate":
            usage = as_object(payload.get("token_usage"))
            self._count(usage, _OLD_USAGE, "", as_text(payload.get("message_id")))
        elif kind == "StepInterrupted":
            self.conversation.see(SignalKind.INTERRUPTED, "", at)
        elif kind == "TurnEnd":
            self.conversation.end(at)

    def _use(self, call_id: str, name: str, given: Any, at: float | None) -> None:  # noqa: ANN401 - decoded JSON
        if name in _SHELLS:
            self._shells.add(call_id)
        self.conversation.use(call_id, name, given, at)

    def _answer(self, call_id: str, text: str, *, has_failed: bool, at: float | None) -> None:
        if has_failed and _REFUSED in text[:1000]:
            self.conversation.refuse(call_id, text, at)
            return
        exit_code = None
        if call_id in self._shells:
            exit_code = None if has_failed else 0
            if has_failed:
                text, exit_code = last_line_status(text)
        self.conversation.result(call_id, text, ok=not has_failed, at=at, exit_code=exit_code)

    def _count(
        self, usage: dict[str, Any], names: tuple[str, ...], model: str, answer: str = ""
    ) -> None:
        if usage:
            read = sum(as_count(usage.get(name)) or 0 for name in names)
            self.conversation.count(answer, read, as_count(usage.get("output")), model=model)

    def _end(self, reason: object, says: str, at: float | None) -> None:
        if as_text(reason) in _STOPPED:
            self.conversation.see(SignalKind.INTERRUPTED, "", at)
        elif as_text(reason) in _FAILED:
            self.conversation.see(SignalKind.API_FAILED, says, at)
        else:
            self.conversation.end(at)


def _folder_of(sessions: Path) -> str:
    """Return the folder whose digest is the name of a folder of sessions; "" if it is not known."""
    known = as_list(object_in(sessions.parent.parent / "kimi.json").get("work_dirs"))
    for each in known:
        path = as_text(as_object(each).get("path"))
        digest = hashlib.md5(path.encode(errors="replace"), usedforsecurity=False).hexdigest()
        if digest == sessions.name.rpartition("_")[2]:
            return path
    return ""
