"""Kimi Code, and the older Kimi CLI: the log that each agent of a session keeps."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ...agent_run import SignalKind
from ..declaration import Action, CodingAgent, tools_of
from ..exit_statuses import last_line_status
from ..json_values import as_count, as_object, as_text, object_in, objects_in, value_in, words_in
from ..log_files import LogFiles, home_of
from ..message_logs import MessageReader, reading_with
from ..moments import seconds_of_millis

_NAME: Final = "kimi"
_HOME_VARIABLE: Final = "KIMI_CODE_HOME"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="Bash Shell",
    edit="Edit StrReplaceFile",
    write="Write WriteFile",
    read="Read ReadFile",
    search="Grep Glob",
    web_search="SearchWeb WebSearch",
    delegate="Agent Task",
)
_MAIN: Final = "main"
_REFUSED: Final = "is rejected by the user"
_STOPPED: Final = frozenset({"cancelled", "canceled", "aborted", "interrupted"})
_FAILED: Final = frozenset({"failed", "error"})
_USAGE: Final = "output inputOther inputCacheRead inputCacheCreation"
_OLD_USAGE: Final = "output input_other input_cache_read input_cache_creation"


class _Wire(MessageReader):
    """Reads the records of one log.

    Those of Kimi Code are `{"type", "time", …}`, those of the older Kimi CLI `{"timestamp",
    "message": {"type", "payload"}}`. The folder of the session is named beside the log, or, of the
    older ones, in a list of all folders, by a digest of each.
    """

    def describe(self, record: dict[str, Any]) -> None:  # noqa: ARG002 - the files beside it tell
        """Take the session's id and folder."""
        session = self.path.parent
        if session.parent.name == "agents":
            name, session = session.name, session.parent.parent
            self.chat.name = "" if name == _MAIN else name
            state = object_in(session / "state.json")
            self.chat.folder = as_text(state.get("cwd"))
        else:
            self.chat.folder = _folder_of(session.parent)
        self.chat.session = session.name.removeprefix("session_")
        if self.chat.name:
            self.chat.session += f":{self.chat.name}"

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
                self.chat.ask(words, at, start=start, prompt=prompt)
        elif kind == "usage.record":
            usage, model = as_object(record.get("usage")), as_text(record.get("model"))
            self.chat.count_usage("", usage, _USAGE, model=model)
        elif kind == "context.append_loop_event":
            self._step(as_object(record.get("event")), at)
        elif kind == "turn.ended":
            self._end(record.get("reason"), as_text(record.get("error")), at)

    def _step(self, event: dict[str, Any], at: float | None) -> None:
        kind, call_id = event.get("type"), as_text(event.get("toolCallId"))
        if kind == "tool.call":
            self.chat.use(call_id, as_text(event.get("name")), event.get("args"), at)
        elif kind == "tool.result":
            result = as_object(event.get("result"))
            output = words_in(result.get("output"))
            self._answer(call_id, output, has_failed=result.get("isError") is True, at=at)
        elif kind == "step.end":
            self.chat.say(at, is_last=event.get("finishReason") == "end_turn")

    def _old(self, kind: object, payload: dict[str, Any], at: float | None, start: int) -> None:
        if kind == "TurnBegin":
            words, prompt = words_in(payload.get("user_input")), f"at-{at}" if at else ""
            self.chat.ask(words, at, start=start, prompt=prompt)
        elif kind == "ToolCall":
            function = as_object(payload.get("function"))
            given = value_in(as_text(function.get("arguments")), {})
            self.chat.use(as_text(payload.get("id")), as_text(function.get("name")), given, at)
        elif kind == "ToolResult":
            value = as_object(payload.get("return_value"))
            text, says = words_in(value.get("output")), as_text(value.get("message"))
            has_failed = value.get("is_error") is True
            if has_failed:
                text = f"{text.rstrip()}\n{says}"
            call_id = as_text(payload.get("tool_call_id"))
            self._answer(call_id, text, has_failed=has_failed, at=at)
        elif kind == "StatusUpdate":
            usage, answer = (
                as_object(payload.get("token_usage")),
                as_text(payload.get("message_id")),
            )
            self.chat.count_usage(answer, usage, _OLD_USAGE)
        elif kind == "StepInterrupted":
            self.chat.see(SignalKind.INTERRUPTED, "", at)
        elif kind == "TurnEnd":
            self.chat.end(at)

    def _answer(self, call_id: str, text: str, *, has_failed: bool, at: float | None) -> None:
        if has_failed and _REFUSED in text[:1000]:
            self.chat.refuse(call_id, text, at)
            return
        exit_code = None
        if self.chat.is_shell(call_id):
            exit_code = None if has_failed else 0
            if has_failed:
                text, exit_code = last_line_status(text)
        self.chat.result(call_id, text, ok=not has_failed, at=at, exit_code=exit_code)

    def _end(self, reason: object, says: str, at: float | None) -> None:
        if as_text(reason) in _STOPPED:
            self.chat.see(SignalKind.INTERRUPTED, "", at)
        elif as_text(reason) in _FAILED:
            self.chat.see(SignalKind.API_FAILED, says, at)
        else:
            self.chat.end(at)


def _folder_of(sessions: Path) -> str:
    """Return the folder whose digest is the name of a folder of sessions; "" if it is not known."""
    for each in objects_in(object_in(sessions.parent.parent / "kimi.json").get("work_dirs")):
        path = as_text(each.get("path"))
        digest = hashlib.md5(path.encode(errors="replace"), usedforsecurity=False).hexdigest()
        if digest == sessions.name.rpartition("_")[2]:
            return path
    return ""


def _folders() -> Sequence[Path]:
    return (
        home_of(_HOME_VARIABLE, ".kimi-code") / "sessions",
        home_of("KIMI_SHARE_DIR", ".kimi") / "sessions",
    )


AGENT: Final = CodingAgent(
    label="Kimi",
    source=LogFiles(
        name=_NAME,
        pattern="wire.jsonl",
        homes=_folders,
        read_log=reading_with(_Wire, _NAME, TOOLS),
    ),
    tools=TOOLS,
    tried="2.1.0 and 1.29.0",
    home_variable=_HOME_VARIABLE,
)
