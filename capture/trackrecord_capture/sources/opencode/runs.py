"""Runs from the messages of a session: each prompt with the answers to it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from trackrecord.artifacts.summary.summaries import BEGINNING
from trackrecord.learning.text.hints import without_hints

from ...agent_run import SignalKind
from ...verdict.phrases import goes_on
from ..conversation import Conversation
from ..declaration import Action, tools_of
from ..json_values import as_count, as_object, as_status, as_text
from ..moments import seconds_of_millis
from ..source import ReadRun
from .records import PartsOf, Record, Session, StoredMessage

NAME: Final = "opencode"
TOOLS: Final[Mapping[str, Action]] = tools_of(
    shell="bash",
    edit="edit multiedit patch apply_patch",
    write="write",
    read="read",
    search="grep glob list",
    delegate="task",
    plan="todowrite todoread",
    fetch="webfetch",
    web_search="websearch codesearch",
)
_INVALID: Final = "invalid"
# Nobody knows how a call would have ended that the person stopped or did not allow.
_CANCELLED: Final = re.compile(
    r"(?:Error: )?(?:The user rejected permission\b|Tool execution aborted"
    r"|The operation was aborted)"
)
# A command that was stopped counts as completed, and ends in this.
_STOPPED: Final = re.compile(r"User aborted the command\s*(?:</\w+>\s*)?\Z")
# The agent gave up by itself; every other error is one of the model's API or of the account.
_OWN_ERRORS: Final = frozenset(
    {"ContextOverflowError", "MessageOutputLengthError", "StructuredOutputError", "UnknownError"}
)
_GOES_ON: Final = frozenset({"tool-calls", "unknown"})


class Exchange(NamedTuple):
    """A person's prompt, and all messages up to the next one.

    Attributes:
        messages: the first is the prompt.
        words: of the prompt.
        is_undone: whether the person took it back.
        was_stopped: whether a later prompt got an answer, so that it will not go on.
        touched: when anything of it was last changed, in milliseconds.
    """

    messages: Sequence[StoredMessage]
    words: str
    is_undone: bool
    was_stopped: bool
    touched: int


def exchanges(
    session: Session, messages: Sequence[StoredMessage], parts_of: PartsOf
) -> Iterator[Exchange]:
    """Yield the prompts of a session, each with the messages after it.

    Messages that opencode writes in the person's name (after a compaction, say) begin nothing, and
    neither does a prompt that only says so: the work goes on.
    """
    prompts = [
        (place, words)
        for place, stored in enumerate(messages)
        if stored.message.get("role") == "user" and (words := _words(parts_of(stored.id)))
    ]
    prompts = [each for number, each in enumerate(prompts) if not (number and goes_on(each[1]))]
    stops = [*(place for place, _ in prompts[1:]), len(messages)]
    undone_from = [place for place, each in enumerate(messages) if each.id == session.reverted]
    for (place, words), stop in zip(prompts, stops, strict=True):
        is_undone = bool(undone_from) and undone_from[0] < stop
        changes = [stored.touched for stored in messages[place : stop + 1]]
        yield Exchange(
            messages=messages[place:stop],
            words=words,
            is_undone=is_undone,
            was_stopped=any(stored.is_answer for stored in messages[stop + 1 :]),
            touched=max(*changes, session.reverted_at if is_undone else 0),
        )


def _words(parts: Iterable[Record]) -> str:
    """Return the person's words in a message of the user; "" if there are none."""
    texts = []
    for part in parts:
        if part.get("type") == "text" and not (part.get("synthetic") or part.get("ignored")):
            texts.append(as_text(part.get("text")))
        elif part.get("type") == "subtask":
            texts.append(as_text(part.get("prompt")) or as_text(part.get("command")))
    words = without_hints("\n".join(text for text in texts if text.strip())).strip()
    # `opencode run` puts quotes around an argument.
    inner = words[1:-1]
    return inner if words == f'"{inner}"' and '"' not in inner else words


def runs_of(
    session: Session,
    messages: Sequence[StoredMessage],
    parts_of: PartsOf,
    *,
    parent: str = "",
    since: int = 0,
    position: int = 0,
) -> Iterator[ReadRun]:
    """Yield the runs of a session that changed at a moment or later.

    Args:
        session: the session.
        messages: all its messages, in order.
        parts_of: returns the parts of a message.
        parent: the outcome_id of the run that started the session; "" if none did.
        since: the moment, in milliseconds.
        position: see `ReadRun`.
    """
    reader = _Reader(session, parts_of, parent)
    touched: dict[str, int] = {}
    for exchange in exchanges(session, messages, parts_of):
        touched[exchange.messages[0].id] = exchange.touched
        reader.take(exchange, is_changed=exchange.touched >= since)
    found = [each for each in reader.runs() if touched[each.run.prompt] >= since]
    for place, each in enumerate(found):
        # What follows in this session may have changed before this run did.
        resume_at = min(touched[other.run.prompt] for other in found[place:])
        yield msgspec.structs.replace(each, resume_at=resume_at, position=position)


class _Reader:
    """Hands the messages of a session to a conversation."""

    def __init__(self, session: Session, parts_of: PartsOf, parent: str) -> None:
        self._session = session
        self._parts_of = parts_of
        self._found: list[ReadRun] = []
        self._seen: set[str] = set()
        self._chat = Conversation(NAME, TOOLS)
        self._chat.session, self._chat.folder = session.id, session.folder
        self._chat.repository = session.repository
        self._chat.parent = parent
        self._chat.begun_at = session.begun_at / 1000

    def runs(self) -> list[ReadRun]:
        """Return all runs."""
        return [*self._found, *self._chat.rest(0)]

    def take(self, exchange: Exchange, *, is_changed: bool) -> None:
        """Take a prompt, and the answers to it if they have changed."""
        chat, (prompt, *rest) = self._chat, exchange.messages
        at = seconds_of_millis(as_object(prompt.message.get("time")).get("created"))
        chat.fallback_at = prompt.touched / 1000
        # A fork gives its copies ids of its own, and leaves the times as they are.
        chat.ask(exchange.words, at, start=0, prompt=prompt.id, record=exchange.words)
        self._found += chat.followed(0)
        chat.name = as_text(prompt.message.get("agent")) if self._session.parent else ""
        last: Record = {}
        for stored in rest if is_changed else ():
            if stored.is_answer:
                last = stored.message
                self._answer(stored)
            else:
                chat.ask(_words(self._parts_of(stored.id)), None, start=0)
        if last and not _is_complete(last):
            stopped = SignalKind.INTERRUPTED if exchange.was_stopped else SignalKind.API_FAILED
            chat.break_off(stopped)
        if exchange.is_undone:
            chat.take_back(None)

    def _answer(self, stored: StoredMessage) -> None:
        chat, message = self._chat, stored.message
        time, tokens = as_object(message.get("time")), as_object(message.get("tokens"))
        cache, cost = as_object(tokens.get("cache")), message.get("cost")
        read = (tokens.get("input"), cache.get("read"), cache.get("write"))
        written = (tokens.get("output"), tokens.get("reasoning"))
        chat.count(
            stored.id,
            sum(as_count(each) or 0 for each in read),
            sum(as_count(each) or 0 for each in written),
            usd=cost if isinstance(cost, (int, float)) else None,
            model=as_text(message.get("modelID")),
        )
        chat.place(as_text(as_object(message.get("path")).get("cwd")))
        chat.say(seconds_of_millis(time.get("created")), is_last=False)
        for part in self._parts_of(stored.id):
            if part.get("type") == "tool":
                self._call(part)
        ended, error = seconds_of_millis(time.get("completed")), as_object(message.get("error"))
        is_last = _is_complete(message) and message.get("finish") not in _GOES_ON
        chat.say(ended, is_last=is_last)
        if error:
            chat.see(_kind(error), _said(error), ended)

    def _call(self, part: Record) -> None:
        state, tool = as_object(part.get("state")), as_text(part.get("tool"))
        given, metadata, time = (as_object(state.get(n)) for n in ("input", "metadata", "time"))
        status, text = state.get("status"), as_text(state.get("error")) or _output(state, metadata)
        if tool == _INVALID and status == "completed":
            # What the model called is no tool, or not called so: opencode answers in its place.
            tool, status = as_text(given.get("tool")) or tool, "error"
            text, given = as_text(given.get("error")) or text, {}
        call_id = as_text(part.get("callID"))
        if not call_id or call_id in self._seen:
            call_id = f"{call_id}#{len(self._seen)}"
        self._seen.add(call_id)
        at = seconds_of_millis(time.get("end"))
        self._chat.use(call_id, tool, given, seconds_of_millis(time.get("start")))
        self._chat.name_sub_agent(call_id, as_text(metadata.get("sessionId")))
        is_shell = TOOLS.get(tool) == "shell"
        code = as_status(metadata.get("exit")) if is_shell else None
        if status == "error" and _CANCELLED.match(text):
            self._chat.cancel(call_id, text, at)
        elif status in ("completed", "error"):
            is_stopped = is_shell and code is None and _STOPPED.search(text)
            ok = None if is_stopped else status == "completed"
            self._chat.result(call_id, text, ok=ok, at=at, exit_code=code)


def _output(state: Record, metadata: Record) -> str:
    """Return the output of a call; the full one if the model was given a summary."""
    given, printed = as_text(state.get("output")), as_text(metadata.get("output"))
    return printed if printed and (not given or given.startswith(BEGINNING)) else given


def _is_complete(message: Record) -> bool:
    return bool(as_object(message.get("error"))) or "completed" in as_object(message.get("time"))


def _kind(error: Mapping[str, Any]) -> SignalKind:
    name = error.get("name")
    if name == "MessageAbortedError":
        return SignalKind.INTERRUPTED
    return SignalKind.CRASHED if name in _OWN_ERRORS else SignalKind.API_FAILED


def _said(error: Mapping[str, Any]) -> str:
    return as_text(as_object(error.get("data")).get("message")) or as_text(error.get("name"))
