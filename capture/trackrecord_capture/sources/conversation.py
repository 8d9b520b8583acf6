"""The runs of one session, made of what its log tells in order: prompts, calls, results, the end.

Most agents record a session as a list of messages. Their adapters decode the messages, and hand
each thing that happened to a `Conversation`, which holds a run back until the next prompt is there:
it is part of what is known of a run.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from trackrecord.learning.text.hints import without_hints

from ..agent_run import AgentRun, Signal, SignalKind, run_outcome_id
from ..shell.git import commits_of
from ..verdict.phrases import goes_on
from .excerpts import LONGEST_RESULT, excerpt
from .json_values import as_count
from .open_calls import LOST, LOST_EDITS, OpenCall, open_call
from .source import ReadRun

LONGEST_PROMPT: Final = 32_768
LONGEST_SAYS: Final = 1024
_MOST_SIGNS: Final = 1000


@dataclass(slots=True, eq=False)
class Turn:
    """A run as far as it is known; see `AgentRun` for what is not told here.

    Where it names no session, folder, branch, name, parent or model, the `Conversation` does.

    Attributes:
        start: from which position of the log on it can be read again.
        last_at: when there was a sign of life of it.
        words: what the person asked.
        calls: its calls by their ids, in order.
        tokens: the tokens that were read and written for each answer.
        usd: the cost of each answer.
        has_worked: whether anything happened in it.
    """

    prompt: str
    start: int
    started_at: float | None = None
    last_at: float | None = None
    words: str = ""
    session: str = ""
    record: str = ""
    folder: str = ""
    branch: str = ""
    name: str = ""
    parent: str = ""
    calls: dict[str, OpenCall] = field(default_factory=dict)
    signs: list[Signal] = field(default_factory=list)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    usd: dict[str, float] = field(default_factory=dict)
    model: str = ""
    automated: bool = False
    is_copy: bool = False
    is_over: bool = False
    has_worked: bool = False

    def touch(self, at: float | None) -> None:
        """Take a sign of life."""
        if at is not None:
            self.started_at = at if self.started_at is None else self.started_at
            self.last_at = at if self.last_at is None else max(self.last_at, at)

    def sign(
        self, kind: SignalKind, says: str = "", at: float | None = None, call: int | None = None
    ) -> None:
        """Note a piece of evidence; see `Signal`."""
        if len(self.signs) < _MOST_SIGNS:
            most = LONGEST_PROMPT if kind is SignalKind.FOLLOWED_BY else LONGEST_SAYS
            self.signs.append(Signal(kind=kind, says=excerpt(says, most), at=at, call=call))


# A run that never ends must not fill the memory.
MOST_CALLS: Final = 20_000
_LONGEST_NAME: Final = 128
_LONGEST_ID: Final = 256
_REFUSED: Final = re.compile(r"did not allow|declined|rejected", re.IGNORECASE)
_UNANSWERED: Final = "no answer came any more"
_REMINDER: Final = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)


def persons_words(text: str) -> str:
    """Return what a person wrote, without the reminders and the hints that are added to it."""
    words = without_hints(_REMINDER.sub("", text[: 4 * LONGEST_PROMPT]))
    return words.strip()[:LONGEST_PROMPT]


class Conversation:
    """A session, filled in by an adapter; its runs are taken out by the reader.

    Args:
        agent: the agent's name.
        tools: what its tools do; see `CodingAgent`.

    Attributes:
        turn: the run that has begun last; without an id of its prompt if none has.
        session: the session's id.
        folder: the folder that it works in.
        repository: the address of the repository.
        branch: the branch.
        name: the name or the type of a sub-agent.
        parent: the id of the prompt in the same session that started this one as a sub-agent, or
            the outcome_id of the run; "" if none did.
        model: the model, unless an answer names another one.
        automated: whether a program started it.
        fallback_at: a moment for logs that name none.
        begun_at: when the session began, None if unknown: what is older was copied into it.
    """

    def __init__(self, agent: str, tools: Mapping[str, str]) -> None:
        self._agent = agent
        self._tools = tools
        # What is told in front of the first prompt belongs to no run.
        self.turn = Turn("", 0, is_over=True)
        # It has ended, and the words of the next prompt are not there yet.
        self._before: Turn | None = None
        self._held: list[Turn] = []
        self._calls: dict[str, OpenCall] = {}
        self.session = ""
        self.folder = ""
        self.repository = ""
        self.branch = ""
        self.name = ""
        self.parent = ""
        self.model = ""
        self.automated = False
        self.fallback_at = 0.0
        self.begun_at: float | None = None

    def begin(self, prompt: str, at: float | None, *, start: int) -> None:
        """Begin a run, whose words may come later; the one before it has ended.

        Args:
            prompt: the prompt's id.
            at: when, seconds since the epoch.
            start: from which position of the log on the run can be read again.
        """
        before = self.turn
        has_told = before.prompt and (before.has_worked or before.signs)
        if has_told and (before.words or before.calls):
            if self._before is not None:
                self._held.append(self._before)
            before.is_over = True
            self._before = before
        self._calls = {}
        self.turn = Turn(prompt, start, at, at)

    def ask(
        self, words: str, at: float | None, *, start: int, prompt: str = "", record: str = ""
    ) -> None:
        """Take a person's prompt, which begins a run unless it only tells the agent to go on.

        Args:
            words: what the person wrote; without any, nothing begins.
            at: when, seconds since the epoch.
            start: from which position of the log on the run can be read again.
            prompt: the prompt's id; where the log has none, its position stands for it.
            record: what a copy has in common with it, where copies get ids of their own.
        """
        words = persons_words(words)
        if not words or self._has_gone_on(words, at):
            return
        prompt = excerpt(prompt, _LONGEST_ID)
        if not self.turn.prompt or self.turn.words:
            self.begin(prompt or f"at-{start}", at, start=start)
        turn, before = self.turn, self._before
        # Some ids are unique in their session alone.
        turn.words = words
        turn.record = f"{record or prompt}@{at}" if (record or prompt) and at else ""
        self._before = None
        if before is not None:
            before.sign(SignalKind.FOLLOWED_BY, words, at)
            self._held.append(before)

    def _has_gone_on(self, words: str, at: float | None) -> bool:
        """Take words that only tell the agent to go on; return whether they do."""
        turn: Turn | None = self.turn
        if not self.turn.words and not self.turn.calls:
            turn = self._before  # the one that has just begun is a part of it
        if turn is None or not turn.words or not goes_on(words):
            return False
        self._before = None if turn is self._before else self._before
        self.turn = turn
        self._calls.update(turn.calls)
        self.go_on(words, at)
        return True

    def go_on(self, words: str, at: float | None) -> None:
        """Take words that only tell the agent to go on with the run."""
        self._close()
        self.turn.is_over = False
        self.turn.sign(SignalKind.FOLLOWED_BY, words, at)

    def _close(self) -> None:
        """Expect no more of the calls that go on."""
        for call in self.turn.calls.values():
            call.is_open = False

    def place(self, folder: str = "", parent: str = "") -> None:
        """Note the folder that the run works in, and the run that started it, if it says so."""
        self.turn.folder = self.turn.folder or folder
        self.turn.parent = self.turn.parent or parent

    def lose(self, *, is_record: bool) -> None:
        """Note that a part of the log cannot be read, which may have told how calls ended.

        Args:
            is_record: whether it may also have told of a call.
        """
        self._close()
        if is_record:
            is_over = self.turn.is_over
            call = self.call(self.use(f"#{LOST}-{len(self.turn.calls)}", LOST, None, None))
            if call is not None:
                call.edits, call.is_open = LOST_EDITS, False
            self.turn.is_over = is_over

    def say(self, at: float | None, *, is_last: bool) -> None:
        """Take words of the agent; with the last ones it ends its turn."""
        self._seen(at).is_over = is_last

    def use(
        self,
        call_id: str,
        tool: str,
        arguments: Any,  # noqa: ANN401 - decoded JSON
        at: float | None,
        *,
        actor: str = "agent",
    ) -> str:
        """Take a call of a tool; one that is told of again is the same one. Return its id."""
        turn = self._seen(at)
        turn.is_over = turn.is_over and actor != "agent"
        call_id = excerpt(call_id, _LONGEST_ID) or f"#{len(turn.calls)}"
        if call_id not in turn.calls and len(turn.calls) < MOST_CALLS:
            call = open_call(call_id, tool, self._tools.get(tool, ""), arguments, at)
            call.actor = actor
            turn.calls[call_id] = self._calls[call_id] = call
        return call_id

    def call(self, call_id: str) -> OpenCall | None:
        """Return a call of the run; None if there is none of this id."""
        return self._calls.get(excerpt(call_id, _LONGEST_ID))

    def drop(self, call_id: str) -> None:
        """Leave out a call that is replaced by the calls that it made."""
        self.turn.calls.pop(call_id, None)

    def forget(self, turn: Turn) -> None:
        """Let go of the calls of a run that was read."""
        for call_id in turn.calls:
            self._calls.pop(call_id, None)
        turn.calls.clear()

    def name_sub_agent(self, call_id: str, agent_id: str) -> None:
        """Note which sub-agent a call started."""
        call = self._calls.get(call_id)
        if call is not None and call.sub_agent is not None and call.sub_agent.starts and agent_id:
            call.sub_agent = msgspec.structs.replace(call.sub_agent, id=agent_id)

    def result(
        self,
        call_id: str,
        text: str,
        *,
        ok: bool | None,
        at: float | None = None,
        exit_code: int | None = None,
        duration_ms: float | None = None,
    ) -> None:
        """Take the result of a call; an exit status other than 0 is a failure.

        What an earlier result has told already stays.
        """
        self._seen(at)
        call = self.call(call_id)
        if call is None:
            return
        call.is_open = False
        if call.ok is None:
            call.ok = ok if exit_code is None or ok is None else exit_code == 0
        if call.exit_code is None:
            call.exit_code = exit_code
        call.result = call.result or excerpt(text, LONGEST_RESULT)
        if duration_ms is None and at is not None and call.started_at is not None:
            duration_ms = max(0.0, round((at - call.started_at) * 1000, 1))
        if call.duration_ms is None:
            call.duration_ms = duration_ms

    def cancel(self, call_id: str, says: str, at: float | None = None) -> None:
        """Note that a call did not come to an end: the person did not allow it, or stopped it."""
        if _REFUSED.search(says[:LONGEST_SAYS]):
            self.refuse(call_id, says, at)
        else:
            self.result(call_id, says, ok=None, at=at)

    def refuse(self, call_id: str, says: str, at: float | None = None) -> None:
        """Note that the person did not allow a call."""
        turn, call = self._seen(at), self.call(call_id)
        if call is None or (call.is_cancelled and call.error):
            return
        call.is_open, call.is_cancelled, call.edits = False, True, ()
        call.error = excerpt(says, LONGEST_SAYS)
        place = list(turn.calls).index(call.id) if call.id in turn.calls else None
        turn.sign(SignalKind.REJECTED, says, at, place)

    def end(self, at: float | None) -> None:
        """Note that the turn ended."""
        self._seen(at).is_over = True

    def see(self, kind: SignalKind, says: str = "", at: float | None = None) -> None:
        """Note what was seen of how the run went; it is over by that."""
        turn = self._seen(at)
        turn.is_over = True
        if not any(sign.kind is kind and sign.says == says for sign in turn.signs):
            turn.sign(kind, says, at)

    def break_off(self, otherwise: SignalKind | None) -> None:
        """Note that the agent's process ended in the middle.

        Args:
            otherwise: what is seen of it if no call was going on; None if nothing is.
        """
        turn = self.turn
        calls = enumerate(turn.calls.values())
        place = next((place for place, call in calls if call.is_open), None)
        kind = otherwise if place is None else SignalKind.CUT_OFF
        if kind is not None:
            says = _UNANSWERED if kind is SignalKind.API_FAILED else ""
            turn.sign(kind, says, turn.last_at, place)
        self._close()

    def take_back(self, at: float | None) -> None:
        """Note that the person took back what was changed last."""
        turn = self.turn
        if self._before is not None and not turn.calls:
            turn = self._before
        turn.sign(SignalKind.UNDONE, "taken back", at)

    def count(
        self,
        answer: str,
        read: int | None,
        written: int | None,
        *,
        usd: float | None = None,
        model: str = "",
    ) -> None:
        """Take the tokens of one answer of the model; those told of again are the same ones."""
        turn = self.turn
        turn.model = excerpt(model, _LONGEST_NAME) or turn.model
        answer = answer or f"#{len(turn.tokens)}"
        if read is not None or written is not None:
            turn.tokens[answer] = (read or 0, written or 0)
        if usd is not None and usd > 0:
            turn.usd[answer] = usd

    def count_usage(
        self, answer: str, usage: Mapping[str, Any], names: str, *, model: str = ""
    ) -> None:
        """Take the tokens of one answer, by the names of what was written and of all that was read.

        Args:
            answer: the answer's id.
            usage: the counts by their names.
            names: the name of what was written, and behind it those of what was read.
            model: the model; "" if unknown.
        """
        written, *read = map(as_count, map(usage.get, names.split()))
        self.count(answer, sum(n or 0 for n in read) if usage else None, written, model=model)

    def is_shell(self, call_id: str) -> bool:
        """Return whether a call is a command's."""
        call = self.call(call_id)
        return call is not None and call.action == "shell"

    def followed(self, position: int) -> Iterator[ReadRun]:
        """Yield the runs after which another prompt has come, once each."""
        held, self._held = self._held, []
        yield from (self.read(turn, position) for turn in held)

    def rest(self, position: int) -> Iterator[ReadRun]:
        """Yield the runs that are still held back, the last one included."""
        yield from self.followed(position)
        for turn in (self._before, self.turn):
            if turn is not None and turn.prompt and (turn.words or turn.calls):
                yield self.read(turn, position)

    def _seen(self, at: float | None) -> Turn:
        self.turn.has_worked = True
        self.turn.touch(at)
        return self.turn

    def read(self, turn: Turn, position: int) -> ReadRun:
        """Return a run as far as it is known, read up to a position of the log."""
        calls = tuple(call.finished() for call in turn.calls.values())
        started = turn.started_at if turn.started_at is not None else self.fallback_at
        tokens = turn.tokens.values()
        run = AgentRun(
            agent=self._agent,
            session=turn.session or self.session,
            prompt=turn.prompt,
            captured_from="transcript",
            started_at=started,
            ended_at=max(started, turn.last_at or started),
            folder=turn.folder or self.folder,
            repository=self.repository,
            branch=turn.branch or self.branch,
            instruction=turn.words,
            calls=calls,
            signs=tuple(turn.signs),
            is_over=turn.is_over,
            parent=turn.parent or self._parent(),
            name=turn.name or self.name,
            model=turn.model or self.model,
            tokens_in=sum(each[0] for each in tokens) if turn.tokens else None,
            tokens_out=sum(each[1] for each in tokens) if turn.tokens else None,
            usd=sum(turn.usd.values()) if turn.usd else None,
            commits=commits_of(calls),
            automated=turn.automated or self.automated,
            record=turn.record,
            is_copy=turn.is_copy or (self.begun_at is not None and started < self.begun_at),
        )
        return ReadRun(run=run, resume_at=turn.start, position=position)

    def _parent(self) -> str:
        if not self.parent or ":" in self.parent:
            return self.parent
        return run_outcome_id(self._agent, self.session, self.parent)
