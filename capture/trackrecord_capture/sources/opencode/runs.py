"""Runs from the messages of a session: each prompt with the answers to it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from trackrecord.learning.text.hints import without_hints

from ...agent_run import AgentRun, RunCall, Signal, SignalKind
from ...shell.git import commits_of
from ...verdict.phrases import goes_on
from ..excerpts import excerpt
from ..moments import seconds_of_millis
from ..raw_json import object_of, text_of, value_of
from .calls import call_of, is_refused
from .records import Part, Session, SessionMessage

# A run that never ends must not fill the memory.
MOST_CALLS: Final = 5000
_LONGEST_PROMPT: Final = 32_768
_UNANSWERED: Final = "no answer came any more"
# The agent gave up by itself; every other error is one of the model's API or of the account.
_OWN_ERRORS: Final = frozenset(
    {"ContextOverflowError", "MessageOutputLengthError", "StructuredOutputError", "UnknownError"}
)
_GOES_ON: Final = frozenset({"tool-calls", "unknown"})

PartsOf = Callable[[str], Iterable[Part]]


class StoredMessage(msgspec.Struct, frozen=True):
    """A message as it is stored.

    Attributes:
        id: its id.
        touched: when it was last changed, in milliseconds.
        message: its content.
    """

    id: str
    touched: int
    message: SessionMessage


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A person's prompt, and all messages up to the next one.

    Attributes:
        session: whose messages they are.
        messages: the first is the prompt.
        words: of the prompt.
        next_words: of the next prompt; "" if there is none yet.
        is_last: whether no prompt follows.
        is_undone: whether the person took it back.
        was_stopped: whether the last answer was never completed, though a later prompt got one.
        touched: when anything of it was last changed, in milliseconds.
    """

    session: Session
    messages: tuple[StoredMessage, ...]
    words: str
    next_words: str
    is_last: bool
    is_undone: bool
    was_stopped: bool
    touched: int


def exchanges(
    session: Session, messages: Sequence[StoredMessage], parts_of: PartsOf, reverted_at: int
) -> Iterator[Exchange]:
    """Yield the prompts of a session, each with the messages after it.

    Messages that opencode writes in the person's name (after a compaction, say) begin nothing, and
    neither does a prompt that only says so: the work goes on.

    Args:
        session: the session.
        messages: all of them, in order.
        parts_of: returns the parts of a message.
        reverted_at: when the person took messages back, in milliseconds; 0 if nothing was.
    """
    prompts = [
        (place, words)
        for place, stored in enumerate(messages)
        if stored.message.role == "user" and (words := _words(parts_of(stored.id)))
    ]
    prompts = [each for number, each in enumerate(prompts) if not (number and goes_on(each[1]))]
    undone_from = _undone_from(session, messages)
    for number, (place, words) in enumerate(prompts):
        following = prompts[number + 1] if number + 1 < len(prompts) else None
        stop = following[0] if following else len(messages)
        its_own = tuple(messages[place:stop])
        is_undone = undone_from is not None and undone_from < stop
        changes = [stored.touched for stored in its_own]
        changes += [messages[stop].touched] if following else []
        changes += [reverted_at] if is_undone else []
        if following is None and not _is_told(its_own[-1], parts_of):
            its_own = its_own[:-1] or its_own
        yield Exchange(
            session=session,
            messages=its_own,
            words=words,
            next_words=following[1] if following else "",
            is_last=following is None,
            is_undone=is_undone,
            was_stopped=following is not None and _was_stopped(its_own, messages[stop + 1 :]),
            touched=max(changes),
        )


def _is_told(stored: StoredMessage, parts_of: PartsOf) -> bool:
    """Return whether a message is whole: opencode stores a prompt first, and then its words."""
    return stored.message.role != "user" or bool(_words(parts_of(stored.id)))


def _words(parts: Iterable[Part]) -> str:
    """Return the person's words in a message of the user; "" if there are none."""
    texts = []
    for part in parts:
        if part.type == "text" and not (value_of(part.synthetic) or value_of(part.ignored)):
            texts.append(text_of(part.text))
        elif part.type == "subtask":
            texts.append(text_of(part.prompt) or text_of(part.command))
    words = without_hints("\n".join(text for text in texts if text.strip()))
    return _unquoted(words.strip())


def _unquoted(words: str) -> str:
    """Return a prompt without the quotes that `opencode run` puts around an argument."""
    inner = words[1:-1]
    return inner if words == f'"{inner}"' and '"' not in inner else words


def _was_stopped(own: Sequence[StoredMessage], later: Sequence[StoredMessage]) -> bool:
    """Return whether the agent's process ended in the middle, which leaves no other trace."""
    told = [stored.message for stored in own if stored.message.role == "assistant"]
    goes_on = any(stored.message.role == "assistant" for stored in later)
    return bool(told) and goes_on and not _is_complete(told[-1])


def _is_complete(message: SessionMessage) -> bool:
    return bool(object_of(message.error)) or "completed" in object_of(message.time)


def _undone_from(session: Session, messages: Sequence[StoredMessage]) -> int | None:
    places = (place for place, stored in enumerate(messages) if stored.id == session.reverted)
    return next(places, None)


def run_of(exchange: Exchange, parts_of: PartsOf, parent: str) -> AgentRun:
    """Return the run of one prompt.

    Args:
        exchange: the prompt and the answers to it.
        parts_of: returns the parts of a message.
        parent: the outcome_id of the run that started the session; "" if none did.
    """
    prompt, answers = exchange.messages[0], exchange.messages[1:]
    calls = tuple(_calls(answers, parts_of))
    told = [stored.message for stored in answers if stored.message.role == "assistant"]
    first, last = _span(exchange.messages, calls)
    tokens = [object_of(message.tokens) for message in told]
    return AgentRun(
        agent="opencode",
        session=exchange.session.id,
        prompt=prompt.id,
        captured_from="transcript",
        started_at=first,
        ended_at=last,
        folder=_folder(told) or exchange.session.folder,
        instruction=excerpt(exchange.words, _LONGEST_PROMPT),
        calls=calls,
        signs=(*_signs(answers, calls, parts_of), *_afterwards(exchange, told, calls)),
        is_over=not exchange.is_last or _is_over(told),
        parent=parent,
        name=text_of(prompt.message.agent) if exchange.session.parent else "",
        model=next((name for m in reversed(told) if (name := text_of(m.modelID))), ""),
        tokens_in=sum(_read(each) for each in tokens) if told else None,
        tokens_out=sum(_count(each, "output") + _count(each, "reasoning") for each in tokens)
        if told
        else None,
        usd=_usd(told),
        commits=commits_of(calls),
        # A fork gives its copies ids of its own, and leaves the times as they are.
        record=f"{exchange.words}@{first}",
        is_copy=first * 1000 < exchange.session.begun_at,
    )


def _calls(answers: Sequence[StoredMessage], parts_of: PartsOf) -> Iterator[RunCall]:
    count = 0
    for stored in answers:
        for part in parts_of(stored.id):
            if part.type == "tool" and count < MOST_CALLS:
                count += 1
                yield call_of(part)


def _span(messages: Sequence[StoredMessage], calls: Sequence[RunCall]) -> tuple[float, float]:
    """Return when the prompt was written, and the last sign of life."""
    times = [object_of(stored.message.time) for stored in messages]
    moments = [seconds_of_millis(time.get(n)) for time in times for n in ("created", "completed")]
    moments += [call.started_at for call in calls]
    known = [moment for moment in moments if moment is not None]
    if not known:
        known = [messages[0].touched / 1000]
    first = moments[0] if moments[0] is not None else min(known)
    return first, max(first, *known)


def _is_over(told: Sequence[SessionMessage]) -> bool:
    """Return whether the last answer is complete, without open calls."""
    if not told:
        return False
    last = told[-1]
    is_error = bool(object_of(last.error))
    return is_error or (_is_complete(last) and text_of(last.finish) not in _GOES_ON)


def _signs(
    answers: Sequence[StoredMessage], calls: Sequence[RunCall], parts_of: PartsOf
) -> Iterator[Signal]:
    for place, call in enumerate(calls):
        if is_refused(call):
            yield Signal(kind=SignalKind.REJECTED, says=call.error, at=call.started_at, call=place)
    for stored in answers:
        message = stored.message
        error = object_of(message.error) if message.role == "assistant" else {}
        if error:
            at = seconds_of_millis(object_of(message.time).get("completed"))
            yield Signal(kind=_kind(error), says=_said(error), at=at)
        if message.role == "user" and goes_on(words := _words(parts_of(stored.id))):
            yield Signal(kind=SignalKind.FOLLOWED_BY, says=words)


def _kind(error: dict[str, Any]) -> SignalKind:
    name = error.get("name")
    if name == "MessageAbortedError":
        return SignalKind.INTERRUPTED
    return SignalKind.CRASHED if name in _OWN_ERRORS else SignalKind.API_FAILED


def _said(error: dict[str, Any]) -> str:
    data = error.get("data")
    message = data.get("message") if isinstance(data, dict) else None
    return excerpt(message) if isinstance(message, str) else str(error.get("name", ""))[:128]


def _afterwards(
    exchange: Exchange, told: Sequence[SessionMessage], calls: Sequence[RunCall]
) -> Iterator[Signal]:
    open_ones = [place for place, call in enumerate(calls) if _is_open(call)]
    if told and not _is_complete(told[-1]) and open_ones:
        yield Signal(kind=SignalKind.CUT_OFF, call=open_ones[0])
    elif exchange.was_stopped:
        yield Signal(kind=SignalKind.INTERRUPTED)
    elif told and not _is_complete(told[-1]):
        yield Signal(kind=SignalKind.API_FAILED, says=_UNANSWERED)
    if exchange.is_undone:
        yield Signal(kind=SignalKind.UNDONE)
    if exchange.next_words:
        yield Signal(
            kind=SignalKind.FOLLOWED_BY, says=excerpt(exchange.next_words, _LONGEST_PROMPT)
        )


def _is_open(call: RunCall) -> bool:
    """Return whether a call had not ended when its message was stored last."""
    return call.ok is None and call.duration_ms is None and not (call.result or call.error)


def _folder(told: Sequence[SessionMessage]) -> str:
    folders = (object_of(message.path).get("cwd") for message in told)
    return next((each for each in folders if isinstance(each, str) and each), "")


def _read(tokens: dict[str, Any]) -> int:
    cache = tokens.get("cache")
    cached = cache if isinstance(cache, dict) else {}
    return _count(tokens, "input") + _count(cached, "read") + _count(cached, "write")


def _count(tokens: dict[str, Any], name: str) -> int:
    value = tokens.get(name)
    return max(0, int(value)) if isinstance(value, (int, float)) else 0


def _usd(told: Sequence[SessionMessage]) -> float | None:
    costs = [value_of(message.cost) for message in told]
    known = [cost for cost in costs if isinstance(cost, (int, float)) and cost > 0]
    return float(sum(known)) if known else None
