"""Read the runs of a rollout: one for each turn with a person's prompt."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from trackrecord.learning.text.hints import without_hints

from ...agent_run import AgentRun, SignalKind, run_outcome_id
from ...verdict.phrases import goes_on
from ..json_lines import Damage, decoded_lines
from ..moments import seconds_of
from ..raw_json import object_of, text_of, value_of
from ..source import Log, ReadRun, Unreadable
from ..sub_agents import with_sub_agents
from .thread import Payload, RolloutRecord, Thread, decode_record, first_record, read_thread
from .turn import Turn

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


def persons_words(text: str) -> str:
    """Return the person's words in a message of the user; "" if there are none."""
    if _NOT_A_PERSONS.match(text):
        return ""
    return without_hints(_OWN_WORDS.split(text, maxsplit=1)[-1]).strip()


def words_in(content: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the person's words in the content of a message: a text, or a list of parts."""
    if isinstance(content, str):
        return persons_words(content)
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    words = [persons_words(text) for text in texts if isinstance(text, str)]
    return "\n".join(each for each in words if each)


_CALLS: Final = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"}
)
_ANSWERS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_search_output"}
)
# Kinds of lines of which nothing is used: most of a rollout's bytes.
_UNUSED: Final = re.compile(
    rb'"type":"(?:compacted|world_state|reasoning|agent_reasoning|agent_message'
    rb'|token_usage_record)"'
)
_HEAD: Final = 160
# A sub-agent's rollout is read once more with the run that started it.
_LARGEST_READ_TWICE: Final = 8 * 1024 * 1024


def read_rollout(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of a rollout from a position on, and what could not be read."""
    try:
        first = first_record(log.path)
        if first is None or first.type != "session_meta":
            if log.size:
                yield Unreadable(place="the first line", reason="it does not describe a session")
            return
        thread = read_thread(log.path, first)
        if not thread.is_own:
            yield from _Reader(thread).read(log, resume_at)
    except OSError as error:
        yield Unreadable(place="the file", reason=error.strerror or "it cannot be read")


class _Reader:
    """Holds a turn back until the next prompt arrives, which may change the verdict on it."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._turn: Turn | None = None
        self._held: Turn | None = None
        self._inherits = False
        self._joined: set[str] = set()

    def read(self, log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
        end = resume_at
        for line, record in decoded_lines(log.path, resume_at, _decoded):
            end = line.end
            if isinstance(record, Damage):
                if self._turn is not None:
                    self._turn.lose(is_record=record.is_record)
                if record.unreadable is not None:
                    yield record.unreadable
            elif record is not None and record.payload is not None:
                self._take(record, record.payload, line.start)
                yield from self._ready(line.end)
        yield from self._rest(end)

    def _ready(self, position: int) -> Iterator[ReadRun]:
        """Yield the turn before this one, as soon as this one has a prompt."""
        if self._held is not None and self._turn is not None and self._turn.prompt:
            self._held.sign(SignalKind.FOLLOWED_BY, self._turn.prompt)
            yield self._read(self._held, position)
            self._held = None

    def _rest(self, position: int) -> Iterator[ReadRun]:
        for turn in (self._held, self._turn):
            if turn is not None and not turn.is_empty:
                yield self._read(turn, position)

    def _read(self, turn: Turn, position: int) -> ReadRun:
        run = turn.finished(self._thread)
        if not self._thread.parent:
            run = msgspec.structs.replace(run, calls=with_sub_agents(run.calls, self._work_of))
        return ReadRun(run=run, resume_at=turn.start, position=position)

    def _work_of(self, thread_id: str) -> list[AgentRun]:
        """Return the runs of a sub-agent of this thread; none if they cannot be read whole."""
        path = self._thread.rollout_of(thread_id)
        try:
            size = path.stat().st_size if path is not None else 0
            first = first_record(path) if path is not None and size <= _LARGEST_READ_TWICE else None
        except OSError:
            return []
        if path is None or first is None or read_thread(path, first).parent != self._thread.id:
            return []
        read = list(read_rollout(Log(path=path, size=size, version=size), 0))
        runs = [each.run for each in read if isinstance(each, ReadRun)]
        return runs if len(runs) == len(read) else []

    def _take(self, record: RolloutRecord, payload: Payload, start: int) -> None:
        at = seconds_of(record.timestamp)
        if record.type == "turn_context":
            self._begin(text_of(payload.turn_id), start, at)
            self._describe(payload)
        elif record.type == "response_item":
            self._item(payload, start, at)
        elif record.type == "event_msg":
            self._event(payload, start, at)
        if self._turn is not None and not self._turn.is_over:
            self._turn.saw(at)

    def _begin(self, turn_id: str, start: int, at: float | None) -> None:
        """Begin a turn that Codex marks, unless it has begun already."""
        is_known = self._turn is not None and self._turn.turn_id == turn_id
        if not turn_id or is_known or turn_id in self._joined:
            return
        self._inherits = self._thread.is_inherited(turn_id)
        if not self._inherits:
            self._next(Turn(turn_id, start, at, is_explicit=True))

    def _next(self, turn: Turn) -> None:
        if self._turn is not None and not self._turn.is_empty:
            self._turn.is_over = True
            self._held = self._turn
        self._turn = turn

    def _describe(self, payload: Payload) -> None:
        if self._turn is not None:
            self._turn.folder = self._turn.folder or text_of(payload.cwd)
            self._turn.model = text_of(payload.model) or self._turn.model

    def _find_parent(self, payload: Payload) -> None:
        started_in = object_of(payload.turn_attribution).get("parent_turn_id")
        if self._turn is not None and self._thread.parent and isinstance(started_in, str):
            self._turn.parent = run_outcome_id("codex", self._thread.parent, started_in)

    def _ask(self, words: str, start: int, at: float | None) -> None:
        """Take a person's words: of the turn that has begun, else they begin one."""
        turn = self._turn
        if not words or self._inherits:
            return
        if turn is not None and self._goes_on(turn, words):
            self._join(turn, words, at)
        elif turn is not None and (turn.is_explicit and not turn.is_over):
            turn.ask(words)
        elif turn is None or turn.has_calls or turn.is_over or turn.prompt not in ("", words):
            self._next(Turn(f"at-{start}", start, at, is_explicit=False))
            self._ask_new(words)
        else:
            turn.ask(words)

    def _goes_on(self, turn: Turn, words: str) -> bool:
        """Return whether a turn that has just begun only goes on with the one before it."""
        return self._held is not None and turn.is_empty and not turn.is_over and goes_on(words)

    def _join(self, turn: Turn, words: str, at: float | None) -> None:
        assert self._held is not None  # noqa: S101 - as asked before
        self._held.go_on(words, at)
        self._turn, self._held = self._held, None
        self._joined.add(turn.turn_id)

    def _ask_new(self, words: str) -> None:
        assert self._turn is not None  # noqa: S101 - just begun
        self._turn.ask(words)

    def _item(self, payload: Payload, start: int, at: float | None) -> None:
        if payload.type == "message":
            if text_of(payload.role) == "user":
                self._ask(words_in(value_of(payload.content)), start, at)
            elif self._turn is not None:
                self._turn.speak()
        elif self._turn is None or self._inherits:
            return
        elif payload.type in _CALLS:
            self._turn.call(payload, at)
        elif payload.type in _ANSWERS:
            self._turn.answer(payload, at)

    def _event(self, payload: Payload, start: int, at: float | None) -> None:
        if payload.type == "task_started":
            self._begin(text_of(payload.turn_id), start, at)
            self._find_parent(payload)
        elif payload.type == "user_message":
            self._ask(persons_words(text_of(payload.message)), start, at)
        elif self._turn is not None and not self._inherits:
            handle = _EVENTS.get(payload.type)
            if handle is not None:
                handle(self, self._turn, payload, at)

    def _aborted(self, turn: Turn, payload: Payload, at: float | None) -> None:
        turn.saw(at)
        turn.abort(text_of(payload.reason), at)

    def _completed(self, turn: Turn, payload: Payload, at: float | None) -> None:
        turn.saw(at)
        turn.end()
        error = object_of(payload.error)
        if error:
            turn.err(error.get("message"), error.get("codex_error_info"), at)

    def _erred(self, turn: Turn, payload: Payload, at: float | None) -> None:
        turn.err(text_of(payload.message), value_of(payload.codex_error_info), at)

    def _counted(self, turn: Turn, payload: Payload, at: float | None) -> None:  # noqa: ARG002 - as all
        turn.count_tokens(payload)

    def _undone(self, turn: Turn, payload: Payload, at: float | None) -> None:
        """The person took back the newest changes, which a turn before this one may have made."""
        undone = turn if turn.has_calls or self._held is None else self._held
        if value_of(payload.success) is not False:
            undone.sign(SignalKind.UNDONE, text_of(payload.message), at)

    def _ended(self, turn: Turn, payload: Payload, at: float | None) -> None:
        end, fields = _ENDS[payload.type]
        end(turn, text_of(payload.call_id), _fields(payload, fields), at)

    def _completed_item(self, turn: Turn, payload: Payload, at: float | None) -> None:
        item = object_of(payload.item)
        call_id, kind = str(item.get("id", "")), item.get("type")
        if kind == "CommandExecution":
            turn.end_command(call_id, item, at)
        elif kind == "FileChange":
            turn.end_patch(call_id, item, at)
        elif kind == "McpToolCall":
            turn.end_mcp(call_id, item, at)
        elif kind in ("CollabAgentToolCall", "SubAgentActivity"):
            turn.end_delegation(call_id, item, at)
        elif kind == "UserMessage":
            turn.ask(words_in(item.get("content")))


# What ends a call, and what is read of its event.
_ENDS: Final = {
    "exec_command_end": (
        Turn.end_command,
        ("command", "cwd", "source", "status", "exit_code", "duration", "aggregated_output",
         "stdout"),
    ),
    "patch_apply_end": (Turn.end_patch, ("success", "stderr", "changes", "status")),
    "mcp_tool_call_end": (Turn.end_mcp, ("invocation", "result", "duration")),
}  # fmt: skip
_EVENTS: Final[dict[str, Callable[[_Reader, Turn, Payload, float | None], None]]] = {
    "turn_aborted": _Reader._aborted,
    "task_complete": _Reader._completed,
    "error": _Reader._erred,
    "token_count": _Reader._counted,
    "undo_completed": _Reader._undone,
    "item_completed": _Reader._completed_item,
    **dict.fromkeys(_ENDS, _Reader._ended),
}


def _decoded(line: bytes) -> RolloutRecord | None:
    """Return a line's record; None if nothing of it is used.

    Raises:
        ValueError: it is not a line of a rollout.
        RecursionError: it is nested too deeply.
    """
    return None if _UNUSED.search(line, 0, _HEAD) else decode_record(line)


def _fields(payload: Payload, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value_of(getattr(payload, name)) for name in names}
