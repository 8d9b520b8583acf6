"""The turns of a rollout, read into a `Conversation` record by record."""

import re
from collections.abc import Callable
from typing import Any, Final

from trackrecord.learning.text.hints import without_hints

from ...agent_run import SignalKind, run_outcome_id
from ..conversation import Conversation
from ..excerpts import LONGEST_COMMAND, LONGEST_RESULT, excerpt
from ..json_values import as_count, as_object, as_status, as_text
from ..moments import seconds_of
from ..open_calls import OpenCall
from .calls import (
    PATCH,
    TOOLS,
    called_tool,
    called_with,
    changed_files,
    is_of_code_mode,
    mcp_result,
    millis,
    shell_arguments,
)
from .outputs import read_output
from .thread import Record, RolloutRecord, Thread

NAME: Final = "codex"
# Context that Codex hands to the model as a message of the user: a block of its own tags, or the
# instructions of the repository.
_NOT_A_PERSONS: Final = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions instructions|turn_aborted"
    r"|user_shell_command|skill|skills_instructions|subagent_notification|hook_prompt"
    r"|collaboration_mode|personality_spec|model_switch|apps_instructions|plugins_instructions"
    r"|user_action|ide_context|goal_context)\b"
    r"|# AGENTS\.md instructions for\b)"
)
# What the editor's extension puts before the person's own words.
_OWN_WORDS: Final = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)
_CALLS: Final = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
)
_ANSWERS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_search_output"}
)
_NO_PATCH: Final = re.compile(
    r"\s*(?:apply_patch verification failed|(?:Failed|Invalid|Unable) |error\b)", re.IGNORECASE
)
_UNFIT: Final = re.compile(r"\s*apply_patch verification failed")
# How a script ends whose patch does not fit.
_UNFIT_IN_SCRIPT: Final = re.compile(
    r"\AScript failed\b.*^Script error:\n(apply_patch verification failed.*)",
    re.MULTILINE | re.DOTALL,
)
_AGENT_ID: Final = re.compile(r'"agent_id"\s*:\s*"([0-9A-Za-z_-]{1,128})"')
_SCRIPT: Final = "exec"
_WAIT: Final = "wait"
# Errors of the agent itself; all others come from the model's API or from the account.
_OWN_ERRORS: Final = frozenset(
    {"sandbox_error", "context_window_exceeded", "session_budget_exceeded"}
)
# Answers to requests of the person's that concern no task.
_NO_ERRORS: Final = frozenset({"thread_rollback_failed", "active_turn_not_steerable"})
_OUTPUTS: Final = ("aggregated_output", "formatted_output", "stdout")


def persons_words(text: str) -> str:
    """Return the person's words in a message of the user; "" if there are none."""
    if _NOT_A_PERSONS.match(text):
        return ""
    return without_hints(_OWN_WORDS.split(text, maxsplit=1)[-1]).strip()


def _words_in(content: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the person's words in the content of a message: a text, or a list of parts."""
    parts = [{"text": content}] if isinstance(content, str) else content
    texts = [as_object(part).get("text") for part in parts if isinstance(parts, list)]
    words = [persons_words(text) for text in texts if isinstance(text, str)]
    return "\n".join(each for each in words if each)


class Turns:
    """Reads the records of a thread.

    Attributes:
        chat: the conversation that they are handed to.
    """

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self.chat = Conversation(NAME, TOOLS)
        self.chat.session, self.chat.folder = thread.id, thread.folder
        self.chat.repository, self.chat.branch = thread.repository, thread.branch
        self.chat.name, self.chat.automated = thread.name, thread.automated
        self.chat.fallback_at = thread.started_at
        self._is_marked = False
        self._inherits = False
        self._joined: set[str] = set()
        self._tokens_before: dict[str, dict[str, Any]] = {}
        self._forget_turn()

    def _forget_turn(self) -> None:
        self._script = ""
        self._running: dict[str, OpenCall] = {}
        self._is_interrupted = self._has_ended = self._awaits_answer = False

    def take(self, record: RolloutRecord, payload: Record, start: int) -> None:
        """Take a record that begins at a position of the rollout."""
        at = seconds_of(record.timestamp)
        if record.type == "turn_context":
            self._begin(as_text(payload.get("turn_id")), start, at)
            self.chat.place(as_text(payload.get("cwd")))
            self.chat.count("", None, None, model=as_text(payload.get("model")))
        elif record.type == "response_item":
            self._item(payload, start, at)
        elif record.type == "event_msg":
            self._event(payload, start, at)
        if self._has_ended:
            self.chat.end(None)
        elif not self.chat.turn.is_over:
            self.chat.turn.touch(at)

    def lose(self, *, is_record: bool) -> None:
        """Note that a line cannot be read: it may have held the result of a call."""
        self._awaits_answer = False
        self.chat.lose(is_record=is_record)

    def break_off(self) -> None:
        """Note that the process ended while a call ran, or while the model was asked, if it did."""
        if not self._has_ended:
            self.chat.break_off(SignalKind.API_FAILED if self._awaits_answer else None)

    def _begin(self, turn_id: str, start: int, at: float | None) -> None:
        """Begin a turn that Codex marks, unless it has begun already."""
        if not turn_id or self.chat.turn.prompt == turn_id or turn_id in self._joined:
            return
        self._inherits = self._thread.is_inherited(turn_id)
        if not self._inherits:
            self._next(turn_id, start, at, is_marked=True)

    def _next(self, turn_id: str, start: int, at: float | None, *, is_marked: bool) -> None:
        self.break_off()
        self.chat.begin(turn_id, at, start=start)
        self._forget_turn()
        self._is_marked = is_marked

    def _ask(self, words: str, start: int, at: float | None) -> None:
        """Take a person's words: of the turn that has begun, else they begin one."""
        chat, turn = self.chat, self.chat.turn
        if not words or self._inherits:
            return
        is_new = not turn.prompt or turn.calls or turn.is_over or turn.words not in ("", words)
        if is_new and not (self._is_marked and not turn.is_over):
            self._next(f"at-{start}", start, at, is_marked=False)
        if not chat.turn.words:
            begun = chat.turn.prompt
            chat.ask(words, at, start=start)
            if chat.turn.prompt != begun:  # it only goes on with the turn before
                self._joined.add(begun)
                self._forget_turn()

    def _item(self, payload: Record, start: int, at: float | None) -> None:
        kind = as_text(payload.get("type"))
        if kind == "message":
            if as_text(payload.get("role")) == "user":
                self._ask(_words_in(payload.get("content")), start, at)
            else:
                self._awaits_answer = False
                self.chat.say(None, is_last=self.chat.turn.is_over)
        elif self._inherits:
            return
        elif kind in _CALLS:
            self._call(payload, at)
        elif kind in _ANSWERS:
            self._answer(payload, at)

    def _call(self, payload: Record, at: float | None) -> None:
        """Take a call as the model made it."""
        kind = payload.get("type")
        call_id = as_text(payload.get("call_id")) or as_text(payload.get("id"))
        self._awaits_answer = False
        if kind == "local_shell_call":
            self.chat.use(
                call_id, "local_shell", shell_arguments(as_object(payload.get("action"))), at
            )
        elif kind == "web_search_call":
            # Nothing follows: it is told when it has ended.
            call_id = self.chat.use(call_id, "web_search", as_object(payload.get("action")), at)
            self.chat.result(call_id, "", ok=None)
        elif kind == "custom_tool_call" or not is_of_code_mode(payload, _WAIT):
            tool = called_tool(payload)
            call_id = self.chat.use(call_id, tool, called_with(payload, tool), at)
            if kind == "custom_tool_call" and is_of_code_mode(payload, _SCRIPT):
                self._script = call_id

    def _inner(self, call_id: str, tool: str, arguments: object, at: float | None) -> str:
        """Take a call that a script of the model made; it takes the place of the script."""
        self.chat.drop(self._script)
        return self.chat.use(call_id, tool, arguments, at)

    def _answer(self, payload: Record, at: float | None) -> None:
        """Take a tool's answer to the model."""
        call_id = as_text(payload.get("call_id"))
        call = self.chat.call(call_id)
        self._awaits_answer = True
        if call is None:
            return
        output = read_output(payload.get("output"))
        if output.is_refused:
            self.chat.refuse(call_id, output.text, at)
        call.is_cancelled = call.is_cancelled or output.is_aborted
        has_failed = output.is_error
        # A patch that does not fit is not applied, so that no event tells of its end.
        refusal = {"edit": _NO_PATCH, "shell": _UNFIT}.get(call.action)
        if has_failed is None and refusal and refusal.match(output.text):
            has_failed = True
        ok = None if has_failed is None else not has_failed
        self._end(call_id, output.text, ok, at, output.exit_code, output.duration_ms)
        if call_id == self._script and (unfit := _UNFIT_IN_SCRIPT.match(output.text)):
            self.chat.result(self._inner("", PATCH, None, at), excerpt(unfit[1]), ok=False)
        if call.tool == "write_stdin":
            self._continued(str(as_object(call.arguments).get("session_id", "")), call)
        elif output.session:
            self._running.setdefault(output.session, call)
        if call.sub_agent is not None and not call.sub_agent.id:
            named = _AGENT_ID.search(output.text)
            self.chat.name_sub_agent(call_id, named[1] if named else "")

    def _end(
        self,
        call_id: str,
        text: str,
        ok: bool | None,
        at: float | None,
        exit_code: int | None = None,
        duration_ms: float | None = None,
    ) -> None:
        """Hand on how a call ended; if there is an exit status, it decides."""
        ok = True if exit_code is not None else ok
        self.chat.result(call_id, text, ok=ok, at=at, exit_code=exit_code, duration_ms=duration_ms)

    def _continued(self, session: str, asked: OpenCall) -> None:
        """Give a command that went on what a later question brought: it ends once, and there."""
        call = self._running.get(session)
        if call is not None:
            if call.exit_code is None and asked.exit_code is not None:
                call.exit_code, call.ok = asked.exit_code, asked.exit_code == 0
                call.result = excerpt(f"{call.result}\n{asked.result}", LONGEST_RESULT)
            asked.exit_code = asked.ok = None

    def _event(self, payload: Record, start: int, at: float | None) -> None:
        kind = as_text(payload.get("type"))
        if kind == "task_started":
            self._begin(as_text(payload.get("turn_id")), start, at)
            started_in = as_object(payload.get("turn_attribution")).get("parent_turn_id")
            if self._thread.parent and isinstance(started_in, str):
                self.chat.place(parent=run_outcome_id(NAME, self._thread.parent, started_in))
        elif kind == "user_message":
            self._ask(persons_words(as_text(payload.get("message"))), start, at)
        elif not self._inherits and (handle := _EVENTS.get(kind)) is not None:
            handle(self, payload, at)

    def _aborted(self, payload: Record, at: float | None) -> None:
        self._has_ended = True
        self.chat.end(at)
        reason = as_text(payload.get("reason"))
        if reason == "interrupted":
            self._is_interrupted = True
            self.chat.see(SignalKind.INTERRUPTED, "", at)
        elif reason == "budget_limited":
            self.chat.see(SignalKind.CRASHED, "the turn's budget was used up", at)

    def _completed(self, payload: Record, at: float | None) -> None:
        self._has_ended = True
        self.chat.end(at)
        if error := as_object(payload.get("error")):
            self._err(error.get("message"), error.get("codex_error_info"), at)

    def _erred(self, payload: Record, at: float | None) -> None:
        self._err(as_text(payload.get("message")), payload.get("codex_error_info"), at)

    def _err(self, message: object, info: object, at: float | None) -> None:
        """Take an error that ended the turn; some versions report it twice."""
        kind = next(iter(info), "") if isinstance(info, dict) else str(info or "")
        if kind not in _NO_ERRORS:
            seen = SignalKind.CRASHED if kind in _OWN_ERRORS else SignalKind.API_FAILED
            self._awaits_answer = False
            self.chat.see(seen, as_text(message), at)

    def _counted(self, payload: Record, _at: float | None) -> None:
        """Take the thread's count of tokens, before the turn and now."""
        info = as_object(payload.get("info"))
        total, last = info.get("total_token_usage"), as_object(info.get("last_token_usage"))
        if isinstance(total, dict):
            own = {name: _less(total, last, name) for name in total}
            before = self._tokens_before.setdefault(self.chat.turn.prompt, own)
            used = (max(0, _less(total, before, n)) for n in ("input_tokens", "output_tokens"))
            self.chat.count("all", *used)

    def _undone(self, payload: Record, at: float | None) -> None:
        if payload.get("success") is not False:
            self.chat.take_back(at)

    def _ended(self, payload: Record, at: float | None) -> None:
        _ENDS[payload["type"]](self, as_text(payload.get("call_id")), payload, at)

    def _completed_item(self, payload: Record, at: float | None) -> None:
        item = as_object(payload.get("item"))
        kind = as_text(item.get("type"))
        if kind == "UserMessage":
            if self.chat.turn.prompt and not self.chat.turn.words:
                self.chat.ask(_words_in(item.get("content")), at, start=0)
        elif (end := _ITEMS.get(kind)) is not None:
            end(self, str(item.get("id", "")), item, at)

    def _command(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a command, from an event or an item."""
        source = str(ended.get("source", "")).lower()
        if "interaction" in source:
            return
        given = shell_arguments(ended)
        if self.chat.call(call_id) is None:
            if "user" in source:
                call_id = self.chat.use(call_id, "exec_command", given, at, actor="user")
            else:
                call_id = self._inner(call_id, "exec_command", given, at)
        if (call := self.chat.call(call_id)) is None:
            return
        call.command = call.command or excerpt(given["command"], LONGEST_COMMAND)
        call.folder = call.folder or given["cwd"]
        # A command that is ended after its turn was ended with it.
        call.is_cancelled = call.is_cancelled or self._is_interrupted
        text = next((text for name in _OUTPUTS if (text := as_text(ended.get(name)))), "")
        self._judged(call, ended, text, None, at, as_status(ended.get("exit_code")))

    def _patch(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a change of files."""
        call = self.chat.call(call_id) or self.chat.call(self._inner(call_id, PATCH, None, at))
        if call is not None:
            call.edits = changed_files(ended.get("changes")) or call.edits
            success = ended.get("success")
            ok = success if isinstance(success, bool) else None
            if ok is False:
                call.error = excerpt(as_text(ended.get("stderr")))
            self._judged(call, ended, "", ok, at)

    def _mcp(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a call of an MCP server's tool."""
        named = as_object(ended.get("invocation")) or ended
        tool = f"{named.get('server', '')}:{named.get('tool', '')}"
        call = self.chat.call(call_id) or self.chat.call(
            self._inner(call_id, tool, named.get("arguments"), at)
        )
        if call is not None:
            call.tool = tool
            ok, text = mcp_result(ended)
            self._judged(call, ended, text, ok, at)

    def _delegated(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a call that starts a sub-agent, or waits for one."""
        call, threads = self.chat.call(call_id), ended.get("receiver_thread_ids")
        if call is not None:
            named = threads[0] if isinstance(threads, list) and len(threads) == 1 else ""
            self.chat.name_sub_agent(call_id, as_text(ended.get("agent_thread_id") or named))
            if ended.get("kind") == "started":
                ended = ended | {"status": "completed"}
            self._judged(call, ended, "", None, at)

    def _judged(
        self,
        call: OpenCall,
        ended: dict[str, Any],
        text: str,
        ok: bool | None,
        at: float | None,
        exit_code: int | None = None,
    ) -> None:
        status = ended.get("status")
        if status == "declined":
            self.chat.refuse(call.id, call.command or call.tool, at)
        elif ok is None and status in ("failed", "completed"):
            ok = status == "completed"
        self._end(call.id, text, ok, None, exit_code, millis(ended.get("duration")))


def _less(whole: dict[str, Any], part: dict[str, Any], name: str) -> int:
    return (as_count(whole.get(name)) or 0) - (as_count(part.get(name)) or 0)


_End = Callable[[Turns, str, dict[str, Any], float | None], None]
# What ends a call.
_ENDS: Final[dict[str, _End]] = {
    "exec_command_end": Turns._command,
    "patch_apply_end": Turns._patch,
    "mcp_tool_call_end": Turns._mcp,
}
_ITEMS: Final[dict[str, _End]] = {
    "CommandExecution": Turns._command,
    "FileChange": Turns._patch,
    "McpToolCall": Turns._mcp,
    "CollabAgentToolCall": Turns._delegated,
    "SubAgentActivity": Turns._delegated,
}
_EVENTS: Final[dict[str, Callable[[Turns, Record, float | None], None]]] = {
    "turn_aborted": Turns._aborted,
    "task_complete": Turns._completed,
    "error": Turns._erred,
    "token_count": Turns._counted,
    "undo_completed": Turns._undone,
    "item_completed": Turns._completed_item,
    **dict.fromkeys(_ENDS, Turns._ended),
}
