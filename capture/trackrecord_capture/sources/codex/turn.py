"""One turn of a Codex thread: from a prompt to the end of the agent's work on it."""

import re
import shlex
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from ...agent_run import AgentRun, RunCall, Signal, SignalKind, SubAgent
from ...shell.git import commits_of
from ..excerpts import LONGEST_COMMAND, LONGEST_RESULT, excerpt, excerpts_in, tool_name
from ..json_values import value_in
from ..patches import LOST, LOST_EDITS, MOST_EDITS, patched_files
from ..raw_json import object_of, text_of, value_of
from ..sub_agents import sub_agent_of
from .outputs import Output, read_output
from .thread import Payload, Thread

SHELLS: Final = frozenset(
    {"shell", "shell_command", "exec_command", "local_shell", "container.exec", "user_shell"}
)
_SHELL_NAMES: Final = re.compile(r"(?:.*/)?(?:ba|z|da|k|fi)?sh\Z")
_SCRIPT_FLAGS: Final = re.compile(r"-[a-z]*c\Z")
_ARGV_OF_SCRIPT: Final = 3


def command_of(arguments: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the command line in the arguments of a shell tool; "" if there is none."""
    if isinstance(arguments, dict):
        arguments = next((arguments[n] for n in ("cmd", "command") if n in arguments), None)
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        return ""
    is_script = len(arguments) == _ARGV_OF_SCRIPT and _SCRIPT_FLAGS.match(arguments[1])
    if is_script and _SHELL_NAMES.match(arguments[0]):
        return str(arguments[2])
    return shlex.join(arguments)


def folder_of(arguments: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the folder in the arguments of a shell tool; "" if they name none."""
    if not isinstance(arguments, dict):
        return ""
    named = (arguments.get(name) for name in ("workdir", "working_directory", "cwd"))
    return next((path_of(each) for each in named if isinstance(each, str)), "")


def path_of(text: str) -> str:
    """Return a path that may be written as a file URL."""
    return unquote(urlsplit(text).path) if text.startswith("file://") else text


def changed_files(changes: Any) -> tuple[str, ...]:  # noqa: ANN401 - decoded JSON
    """Return the files of a change that was applied: an object by path, or a list with paths."""
    if isinstance(changes, dict):
        return tuple(path_of(str(path)) for path in changes)[:MOST_EDITS]
    if not isinstance(changes, list):
        return ()
    paths = (each.get("path") for each in changes if isinstance(each, dict))
    return tuple(path_of(path) for path in paths if isinstance(path, str))[:MOST_EDITS]


_AGENT_ID: Final = re.compile(r'"agent_id"\s*:\s*"([0-9A-Za-z_-]{1,128})"')


@dataclass(slots=True)
class DraftCall:
    """A call as far as it is known; see `RunCall` for the attributes.

    Attributes:
        failed: what an event said outright of how it ended; None if none did.
        is_refused: whether the person did not allow it.
        is_aborted: whether the person stopped it.
        is_wrapping: whether it is a script, and the calls that it made stand beside it.
        is_open: whether nothing has been said yet of how it ended.
        session: the number under which a command that goes on is asked again; "" if none.
    """

    id: str
    tool: str
    started_at: float | None = None
    arguments: Any = None
    command: str = ""
    folder: str = ""
    edits: tuple[str, ...] = ()
    failed: bool | None = None
    exit_code: int | None = None
    result: str = ""
    error: str = ""
    duration_ms: float | None = None
    actor: str = "agent"
    is_refused: bool = False
    is_aborted: bool = False
    is_wrapping: bool = False
    is_open: bool = True
    session: str = ""
    sub_agent: SubAgent | None = None

    def set_command(self, arguments: Any) -> None:  # noqa: ANN401 - decoded JSON
        """Take the command from the arguments of a shell tool."""
        whole = command_of(arguments)
        self.edits = self.edits or patched_files(whole)
        self.command = excerpt(whole, LONGEST_COMMAND)
        self.folder = folder_of(arguments)

    def set_arguments(self, arguments: Any) -> None:  # noqa: ANN401 - decoded JSON
        """Keep the arguments, long texts shortened."""
        self.arguments = excerpts_in(arguments)
        self.sub_agent = sub_agent_of(self.tool, arguments)

    def name_sub_agent(self, thread: object) -> None:
        """Note which thread the sub-agent is that the call started."""
        if self.sub_agent is not None and self.sub_agent.starts and isinstance(thread, str):
            self.sub_agent = msgspec.structs.replace(self.sub_agent, id=thread)

    def answer(self, output: Output, at: float | None) -> None:
        """Take the tool's answer to the model; what an event reported explicitly stays."""
        self.is_open = False
        self.is_refused = self.is_refused or output.is_refused
        self.is_aborted = self.is_aborted or output.is_aborted
        self.result = self.result or excerpt(output.text, LONGEST_RESULT)
        if self.exit_code is None:
            self.exit_code = output.exit_code
        if self.duration_ms is None:
            self.duration_ms = output.duration_ms
        if self.sub_agent is not None:
            self._note_sub_agent(output.text, at)
        if self.failed is None:
            self.failed = output.is_error
        self.session = self.session or output.session

    def _note_sub_agent(self, text: str, at: float | None) -> None:
        """Take when the call ended, by which its sub-agent may have worked, and who that is."""
        named = _AGENT_ID.search(text)
        if named and self.sub_agent is not None and not self.sub_agent.id:
            self.name_sub_agent(named[1])
        if self.duration_ms is None and at is not None and self.started_at is not None:
            self.duration_ms = max(0.0, (at - self.started_at) * 1000)

    def finished(self) -> RunCall:
        """Return the call."""
        ok = self._ok()
        error = self.error or (self.result if ok is False else "")
        return RunCall(
            tool=self.tool,
            id=self.id,
            arguments=self.arguments,
            command=self.command,
            folder=self.folder,
            edits=self.edits,
            ok=ok,
            exit_code=self.exit_code,
            error=error,
            result=self.result,
            started_at=self.started_at,
            duration_ms=self.duration_ms,
            actor=self.actor,
            sub_agent=self.sub_agent,
        )

    def _ok(self) -> bool | None:
        if self.is_refused or self.is_aborted:
            return None
        if self.exit_code is not None:
            return self.exit_code == 0
        return None if self.failed is None else not self.failed


# A turn that never ends must not fill the memory.
MOST_CALLS: Final = 5000
_LONGEST_PROMPT: Final = 32_768
_MCP: Final = "mcp__"
_PATCH: Final = "apply_patch"
_NO_PATCH: Final = re.compile(
    r"\s*(?:apply_patch verification failed|(?:Failed|Invalid|Unable) |error\b)", re.IGNORECASE
)
_UNFIT: Final = re.compile(r"\s*apply_patch verification failed")
# How the tool refuses a patch that does not fit, or a shell that was handed one.
_REFUSALS: Final = {_PATCH: _NO_PATCH, **dict.fromkeys(SHELLS, _UNFIT)}
# How a script ends whose patch does not fit.
_UNFIT_IN_SCRIPT: Final = re.compile(
    r"\AScript failed\b.*^Script error:\n(apply_patch verification failed.*)",
    re.MULTILINE | re.DOTALL,
)
_MILLIS_A_SECOND: Final = 1e3
_NANOS_A_MILLI: Final = 1e6
# In code mode the model writes scripts that call the tools, and asks what became of slow ones.
_CODE_MODE: Final = "functions"
_UNANSWERED: Final = "no answer came any more"
_SCRIPT: Final = "exec"
_WAIT: Final = "wait"
# Errors of the agent itself; all others come from the model's API or from the account.
_OWN_ERRORS: Final = frozenset(
    {"sandbox_error", "context_window_exceeded", "session_budget_exceeded"}
)
# Answers to requests of the person's that concern no task.
_NO_ERRORS: Final = frozenset({"thread_rollback_failed", "active_turn_not_steerable"})


class Turn:
    """A turn that is being read.

    Args:
        turn_id: the turn's id; of old rollouts, which have none, its position in the file.
        start: the position of its first line.
        at: when it began, None if unknown.
        is_explicit: whether Codex itself marked its start.
    """

    def __init__(self, turn_id: str, start: int, at: float | None, *, is_explicit: bool) -> None:
        self.turn_id = turn_id
        self.start = start
        self.is_explicit = is_explicit
        self.is_over = False
        self.prompt = ""
        self.folder = ""
        self.model = ""
        self.parent = ""
        self._at = at
        self._last_at = at
        self._calls: dict[str, DraftCall] = {}
        self._script: DraftCall | None = None
        self._is_interrupted = False
        self._has_ended = False
        self._awaits_answer = False
        self._signs: list[Signal] = []
        self._tokens_before: dict[str, Any] | None = None
        self._tokens: dict[str, Any] = {}

    @property
    def is_empty(self) -> bool:
        """Return whether there was no request and no work."""
        return not self.prompt and not self._calls

    @property
    def has_calls(self) -> bool:
        """Return whether a tool was called."""
        return bool(self._calls)

    def saw(self, at: float | None) -> None:
        """Take note of a sign of life."""
        if at is None:
            return
        self._at = at if self._at is None else self._at
        self._last_at = at if self._last_at is None else max(self._last_at, at)

    def ask(self, words: str) -> None:
        """Take the person's words; further words in the same turn do not replace the first."""
        self.prompt = self.prompt or excerpt(words, _LONGEST_PROMPT)

    def sign(self, kind: SignalKind, says: str = "", at: float | None = None) -> None:
        """Add a sign of how it went."""
        self._signs.append(Signal(kind=kind, says=excerpt(says, _LONGEST_PROMPT), at=at))

    def end(self) -> None:
        """Note that Codex itself ended the turn."""
        self.is_over = self._has_ended = True

    def go_on(self, words: str, at: float | None) -> None:
        """Note that the person told the agent to go on with it, in a turn that belongs to it."""
        self._signs = [*self._cut_off(), *self._signs]
        for call in self._calls.values():
            call.is_open = False
        self.sign(SignalKind.FOLLOWED_BY, words, at)
        self.is_over = self._has_ended = self._is_interrupted = self._awaits_answer = False

    def lose(self, *, is_record: bool) -> None:
        """Note that a line cannot be read: it may have held the result of a call."""
        self._awaits_answer = False
        for call in self._calls.values():
            call.is_open = False
        if is_record:
            lost = self._new("", LOST, None)
            lost.edits, lost.is_open = LOST_EDITS, False

    def speak(self) -> None:
        """Note that the model answered."""
        self._awaits_answer = False

    def _cut_off(self) -> list[Signal]:
        """Return that the process ended while a call ran, or while the model was asked."""
        if self._has_ended:
            return []
        calls = [call for call in self._calls.values() if not call.is_wrapping]
        open_ones = [place for place, call in enumerate(calls) if call.is_open]
        if open_ones:
            return [Signal(kind=SignalKind.CUT_OFF, at=self._last_at, call=open_ones[0])]
        has_failed = any(sign.kind is SignalKind.API_FAILED for sign in self._signs)
        if self._awaits_answer and not has_failed:
            return [Signal(kind=SignalKind.API_FAILED, says=_UNANSWERED, at=self._last_at)]
        return []

    def abort(self, reason: str, at: float | None) -> None:
        """End the turn before its time."""
        self.end()
        if reason == "interrupted":
            self._is_interrupted = True
            self.sign(SignalKind.INTERRUPTED, at=at)
        elif reason == "budget_limited":
            self.sign(SignalKind.CRASHED, "the turn's budget was used up", at)

    def err(self, message: object, info: object, at: float | None) -> None:
        """Take an error that ended the turn; some versions report it twice."""
        kind = next(iter(info), "") if isinstance(info, dict) else str(info or "")
        says = message if isinstance(message, str) else ""
        seen = SignalKind.CRASHED if kind in _OWN_ERRORS else SignalKind.API_FAILED
        is_told = any(sign.kind is seen and sign.says == says for sign in self._signs)
        if kind not in _NO_ERRORS and not is_told:
            self.sign(seen, says, at)

    def count_tokens(self, payload: Payload) -> None:
        """Take the thread's count of tokens, before the turn and now."""
        info = object_of(payload.info)
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        if not isinstance(total, dict):
            return
        if self._tokens_before is None:
            last = last if isinstance(last, dict) else {}
            self._tokens_before = {name: _less(total, last, name) for name in total}
        self._tokens = total

    def call(self, payload: Payload, at: float | None) -> None:
        """Take a call as the model made it."""
        kind, call_id = payload.type, text_of(payload.call_id) or text_of(payload.id)
        self.speak()
        if kind == "local_shell_call":
            action = object_of(payload.action)
            call = self._new(call_id, "local_shell", at)
            call.set_command(action)
            call.folder = folder_of(action)
        elif kind == "custom_tool_call":
            call = self._new(call_id, _tool_name(payload), at)
            self._script = call if _is_of_code_mode(payload, _SCRIPT) else self._script
            text = text_of(payload.input)
            call.edits = patched_files(text)
            # Of a patch the files' names are enough; its text is the files' content.
            call.set_arguments({"files": list(call.edits)} if call.edits else {"input": text})
        elif kind == "web_search_call":
            call = self._new(call_id, "web_search", at)
            call.set_arguments(object_of(payload.action))
            # Nothing follows: it is told when it has ended.
            call.is_open = False
        elif not _is_of_code_mode(payload, _WAIT):
            self._function(self._new(call_id, _tool_name(payload), at), payload)

    def _function(self, call: DraftCall, payload: Payload) -> None:
        arguments: Any = value_of(payload.arguments)
        if isinstance(arguments, str):
            arguments = value_in(arguments, excerpt(arguments, LONGEST_COMMAND))
        if call.tool in SHELLS:
            call.set_command(arguments)
            if isinstance(arguments, dict):
                kept = {n: v for n, v in arguments.items() if n not in ("cmd", "command")}
                arguments = {"command": call.command, **kept}
        elif call.tool == "apply_patch" and isinstance(arguments, dict):
            call.edits = patched_files(str(arguments.get("input", "")))
            arguments = {"files": list(call.edits)}
        call.set_arguments(arguments)

    def answer(self, payload: Payload, at: float | None) -> None:
        """Take a tool's answer to the model."""
        call = self._calls.get(text_of(payload.call_id))
        self._awaits_answer = True
        if call is None:
            return
        output = read_output(value_of(payload.output))
        call.answer(output, at)
        # A patch that does not fit is not applied, so that no event tells of its end.
        if call.failed is None and call.exit_code is None:
            refusal = _REFUSALS.get(call.tool)
            call.failed = True if refusal and refusal.match(output.text) else None
        if call is self._script and (unfit := _UNFIT_IN_SCRIPT.match(output.text)):
            inner = self._inner("", _PATCH, call.started_at)
            inner.failed, inner.error, inner.is_open = True, excerpt(unfit[1]), False
        if output.is_refused:
            self.sign(SignalKind.REJECTED, excerpt(output.text, 1024), at)
        if call.tool == "write_stdin" and isinstance(call.arguments, dict):
            self._continued(str(call.arguments.get("session_id", "")), call)

    def _continued(self, session: str, asked: DraftCall) -> None:
        """Give a command that went on what a later question brought: it ends once, and there."""
        for call in self._calls.values():
            if session and call.session == session and call is not asked:
                if call.exit_code is None:
                    call.exit_code = asked.exit_code
                    call.result = excerpt(f"{call.result}\n{asked.result}", LONGEST_RESULT)
                asked.exit_code = asked.failed = None

    def end_command(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a command, from an event or an item."""
        source = str(ended.get("source", ""))
        if "interaction" in source.lower():
            return
        call = self._calls.get(call_id)
        if call is None:
            is_typed = "user" in source.lower()
            call = (self._new if is_typed else self._inner)(call_id, "exec_command", at)
            call.actor = "user" if is_typed else "agent"
        if not call.command:
            call.set_command(ended)
            call.set_arguments({"command": call.command})
        call.folder = call.folder or folder_of(ended)
        # A command that is ended after its turn was ended with it.
        call.is_aborted = call.is_aborted or self._is_interrupted
        code = ended.get("exit_code")
        if isinstance(code, int) and not isinstance(code, bool):
            call.exit_code = code
        call.duration_ms = _millis(ended.get("duration")) or call.duration_ms
        for name in ("aggregated_output", "formatted_output", "stdout"):
            if isinstance(ended.get(name), str) and ended[name]:
                call.result = excerpt(ended[name])
                break
        self._judge(call, ended.get("status"), at)

    def end_patch(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a change of files."""
        call = self._calls.get(call_id) or self._inner(call_id, "apply_patch", at)
        call.edits = changed_files(ended.get("changes")) or call.edits
        if isinstance(ended.get("success"), bool):
            call.failed = not ended["success"]
        if call.failed and isinstance(ended.get("stderr"), str):
            call.error = excerpt(ended["stderr"])
        self._judge(call, ended.get("status"), at)

    def end_mcp(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a call of an MCP server's tool."""
        invocation = ended.get("invocation")
        named = invocation if isinstance(invocation, dict) else ended
        tool = f"{named.get('server', '')}:{named.get('tool', '')}"
        call = self._calls.get(call_id) or self._inner(call_id, tool, at)
        call.tool = tool
        if call.arguments is None:
            call.set_arguments(named.get("arguments"))
        call.duration_ms = _millis(ended.get("duration")) or call.duration_ms
        call.failed, text = _mcp_result(ended)
        call.result = call.result or excerpt(text)
        self._judge(call, ended.get("status"), at)

    def end_delegation(self, call_id: str, ended: dict[str, Any], at: float | None) -> None:
        """Take the end of a call that starts a sub-agent, or waits for one."""
        call = self._calls.get(call_id)
        if call is not None:
            has_started = ended.get("kind") == "started"
            threads = ended.get("receiver_thread_ids")
            named = threads[0] if isinstance(threads, list) and len(threads) == 1 else None
            call.name_sub_agent(ended.get("agent_thread_id") or named)
            self._judge(call, "completed" if has_started else ended.get("status"), at)

    def _judge(self, call: DraftCall, status: object, at: float | None) -> None:
        call.is_open = False
        if status == "declined":
            if not call.is_refused:
                self.sign(SignalKind.REJECTED, call.command or call.tool, at)
            call.is_refused = True
        elif call.failed is None and status in ("failed", "completed"):
            call.failed = status == "failed"

    def _new(self, call_id: str, tool: str, at: float | None) -> DraftCall:
        call = DraftCall(call_id, tool, at)
        if len(self._calls) < MOST_CALLS:
            self._calls[call_id or f"#{len(self._calls)}"] = call
        return call

    def _inner(self, call_id: str, tool: str, at: float | None) -> DraftCall:
        """Add a call that a script of the model made; it takes the place of the script."""
        if self._script is not None:
            self._script.is_wrapping = True
        return self._new(call_id, tool, at)

    def finished(self, thread: Thread) -> AgentRun:
        """Return the run."""
        calls: tuple[RunCall, ...] = tuple(
            call.finished() for call in self._calls.values() if not call.is_wrapping
        )
        started = self._at if self._at is not None else thread.started_at
        return AgentRun(
            agent="codex",
            session=thread.id,
            prompt=self.turn_id,
            captured_from="transcript",
            started_at=started,
            ended_at=max(started, self._last_at or started),
            folder=self.folder or thread.folder,
            repository=thread.repository,
            branch=thread.branch,
            instruction=self.prompt,
            calls=calls,
            signs=(*self._cut_off(), *self._signs),
            is_over=self.is_over,
            parent=self.parent or thread.parent_run(),
            name=thread.name,
            model=self.model,
            tokens_in=self._used("input_tokens"),
            tokens_out=self._used("output_tokens"),
            commits=commits_of(calls),
            automated=thread.automated,
        )

    def _used(self, name: str) -> int | None:
        if self._tokens_before is None:
            return None
        return max(0, _less(self._tokens, self._tokens_before, name))


def _less(whole: dict[str, Any], part: dict[str, Any], name: str) -> int:
    first, second = whole.get(name), part.get(name)
    return (first if isinstance(first, int) else 0) - (second if isinstance(second, int) else 0)


def _is_of_code_mode(payload: Payload, tool: str) -> bool:
    return text_of(payload.namespace) == _CODE_MODE and text_of(payload.name) == tool


def _tool_name(payload: Payload) -> str:
    """Return a tool's name; of a tool of an MCP server "server:tool"."""
    name, namespace = text_of(payload.name), text_of(payload.namespace)
    if namespace.startswith(_MCP):
        return f"{namespace.removeprefix(_MCP).strip('_')}:{name}"
    return tool_name(name or payload.type.removesuffix("_call"))


def _mcp_result(ended: dict[str, Any]) -> tuple[bool | None, str]:
    """Return whether a call of an MCP tool failed, and its output."""
    error, result = ended.get("error"), ended.get("result")
    if isinstance(error, dict):
        return True, str(error.get("message", ""))
    if not isinstance(result, dict):
        return None, ""
    if "Err" in result:
        return True, str(result["Err"])
    told = result.get("Ok", result)
    if not isinstance(told, dict):
        return None, ""
    is_error = told.get("isError", told.get("is_error"))
    return bool(is_error), read_output(told).text


def _millis(duration: Any) -> float | None:  # noqa: ANN401 - decoded JSON
    if not isinstance(duration, dict):
        return None
    seconds, nanos = duration.get("secs", 0), duration.get("nanos", 0)
    if not isinstance(seconds, (int, float)) or not isinstance(nanos, (int, float)):
        return None
    return float(seconds) * _MILLIS_A_SECOND + float(nanos) / _NANOS_A_MILLI
