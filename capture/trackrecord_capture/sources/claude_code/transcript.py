"""Read the runs of a transcript: one for each prompt, and one for each sub-agent."""

import math
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from ...agent_run import AgentRun, RunCall, Signal, SignalKind, run_outcome_id
from ...verdict.phrases import goes_on
from ..conversation import LONGEST_SAYS, Conversation
from ..excerpts import excerpt
from ..json_lines import Damage, decoded_lines
from ..json_values import as_object, as_text, object_from, object_in
from ..source import Log, ReadRun, Unreadable
from ..sub_agents import with_calls_of_sub_agent
from .calls import NAME, TOOLS, end_sub_agent, take_call, take_result
from .records import Record, blocks_of, id_of, key_of, moment_of
from .tree import RecordTree, TranscriptRun
from .words import ended_call, is_interruption, is_prompt, printed_in, said_in, takes_back, typed_in

# How many runs can be taken back after the next prompt has come.
_MOST_RECENT: Final = 8
# A sub-agent's transcript is read for itself, and for the run that started it.
_LARGEST_READ_TWICE: Final = 32 * 1024 * 1024
_USAGE: Final = "output_tokens input_tokens cache_creation_input_tokens cache_read_input_tokens"
_LIMIT: Final = "max_turns_reached"
_SYNTHETIC: Final = "<synthetic>"
_REWOUND: Final = Signal(kind=SignalKind.UNDONE, says="the person went back to before it")
# 128 and the signal: a hangup, an interrupt, a kill, a request to end.
_KILLED: Final = frozenset({129, 130, 137, 143})


def read_transcript(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of a transcript from a position on, and what could not be read."""
    try:
        yield from _Reader(log, resume_at).read()
    except OSError as error:
        yield Unreadable(place="the file", reason=error.strerror or "it cannot be read")


class _Reader:
    """Holds a run back until the next prompt arrives, which may change the verdict on it."""

    def __init__(self, log: Log, resume_at: int) -> None:
        self._log = log
        self._resumed_at = resume_at
        self._agent = _sub_agent(log.path)
        self._chat = Conversation(NAME, TOOLS)
        # A sub-agent's transcript lies in the folder of its session.
        self._chat.session = log.path.parent.parent.name if self._agent else log.path.stem
        self._chat.name = _agent_type(log.path) if self._agent else ""
        self._tree = RecordTree(self._agent, is_whole=not resume_at)
        self._recent: deque[tuple[TranscriptRun, AgentRun]] = deque(maxlen=_MOST_RECENT)
        self._leaf = ""

    def read(self) -> Iterator[ReadRun | Unreadable]:
        tree, end = self._tree, self._resumed_at
        for line, record in decoded_lines(self._log.path, self._resumed_at, object_from):
            end = line.end
            if isinstance(record, Damage):
                self._lose(is_record=record.is_record)
                if record.unreadable is not None:
                    yield record.unreadable
                continue
            self._take(record, line.start)
            if tree.ready or tree.rewound:
                yield from self._finish(end)
        if self._leaf:
            tree.return_to(self._leaf, is_asked=False)
        tree.ready = list(tree.open)
        yield from self._finish(end)
        if tree.is_torn:
            # What the last prompt went back to, only the part says that was read earlier.
            yield from _Reader(self._log, 0).read()

    def _lose(self, *, is_record: bool) -> None:
        for run in self._tree.open:
            self._chat.turn, run.awaits_answer = run, False
            self._chat.lose(is_record=is_record)

    def _finish(self, position: int) -> Iterator[ReadRun]:
        tree = self._tree
        for run in tree.ready:
            # Reading again must meet every run that is still open.
            start = min(other.start for other in (*tree.open, run))
            tree.open.remove(run)
            if not run.is_empty:
                made = self._with_sub_agents(self._finished(run))
                self._recent.append((run, made))
                yield ReadRun(run=made, resume_at=start, position=position)
            # Its records are still known to belong to it.
            self._chat.forget(run)
        tree.ready = []
        start = min((run.start for run in tree.open), default=self._resumed_at)
        for run, made in self._recent:
            if run in tree.rewound:
                made = msgspec.structs.replace(made, signs=(*made.signs, _REWOUND))
                yield ReadRun(run=made, resume_at=start, position=position)
        tree.rewound = []

    def _finished(self, run: TranscriptRun) -> AgentRun:
        self._break_off(run, SignalKind.API_FAILED)
        if run.failure is not None:
            run.signs.insert(0, run.failure)
        if run.is_rewound:
            run.signs.append(_REWOUND)
        if run.parent:
            session = run.session or self._chat.session
            run.parent = run_outcome_id(NAME, session, run.parent)
        return self._chat.read(run, 0).run

    def _break_off(self, run: TranscriptRun, otherwise: SignalKind | None) -> None:
        """Note that the agent's process ended in the middle, if it did."""
        if any(sign.kind is SignalKind.INTERRUPTED for sign in run.signs):
            return
        calls, is_awaited = list(run.calls.values()), run.awaits_answer
        if is_awaited and calls[-1:] and calls[-1].exit_code in _KILLED:
            # Closing the terminal ends the command first, and then the agent.
            last = calls[-1]
            last.is_open, last.ok, last.exit_code, last.error = True, None, None, ""
        self._chat.turn, run.awaits_answer = run, False
        is_unanswered = is_awaited and not run.is_over and run.failure is None
        self._chat.break_off(otherwise if is_unanswered else None)

    def _with_sub_agents(self, run: AgentRun) -> AgentRun:
        """Return a run with what its sub-agents did while it waited for them."""
        if self._agent or not any(call.sub_agent and call.sub_agent.id for call in run.calls):
            return run
        calls = tuple(self._with_sub_agent(run, call) for call in run.calls)
        return msgspec.structs.replace(run, calls=calls)

    def _with_sub_agent(self, run: AgentRun, call: RunCall) -> RunCall:
        agent = call.sub_agent
        if agent is None or not agent.id or not agent.starts or not _was_alone(run, call):
            return call
        path = self._log.path.with_suffix("") / "subagents" / f"agent-{agent.id}.jsonl"
        try:
            facts = path.stat()
        except OSError:
            return call
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST_READ_TWICE:
            return call
        log = Log(path=path, size=facts.st_size, version=facts.st_size)
        runs = (each.run for each in read_transcript(log, 0) if isinstance(each, ReadRun))
        return with_calls_of_sub_agent(call, (inner for run in runs for inner in run.calls))

    def _take(self, record: Record, start: int) -> None:
        kind, tree = record.get("type"), self._tree
        if kind == "last-prompt":
            self._leaf = as_text(record.get("leafUuid"))
        elif kind == "user":
            self._leaf = ""
            self._take_user(record, start)
        elif kind == "assistant":
            self._leaf = ""
            if (run := tree.run_of(record, start)) is not None:
                self._answer(run, record)
        elif kind == "system" and as_text(record.get("subtype")) == "api_error":
            if (run := tree.run_of(record, start)) is not None:
                self._fail(run, record, as_text(as_object(record.get("error")).get("message")))
        elif kind == "attachment":
            self._attached(record, as_object(record.get("attachment")))
        tree.note(record)

    def _attached(self, record: Record, attachment: Record) -> None:
        current = self._tree.current
        if current is not None and attachment.get("type") == _LIMIT:
            at = self._go_on(current, record)
            self._chat.see(SignalKind.CRASHED, "the limit of turns was reached", at)
        else:
            self._notified(record, as_text(attachment.get("prompt")))

    def _take_user(self, record: Record, start: int) -> None:
        blocks = blocks_of(as_object(record.get("message")))
        said, run = said_in(blocks), self._tree.run_of(record, start)
        if is_interruption(said):
            if run is not None:
                self._interrupt(run, record)
        elif takes_back(said):
            if run is not None:
                run.sign(SignalKind.UNDONE, "taken back", moment_of(record))
        elif is_prompt(record, blocks, said) and not self._tree.has_begun(record, run):
            self._ask(record, start, said)
        elif run is not None and said.startswith("<bash-"):
            self._typed(run, record, said)
        elif run is not None:
            self._notified(record, said)
            self._results(run, record, blocks)

    def _ask(self, record: Record, start: int, said: str) -> None:
        tree, before = self._tree, self._tree.before(record)
        if before is not None and before.words and before.prompt == key_of(record):
            # A fork gives the id of its first prompt to all that it copies.
            before.prompt, before.is_copy = before.record, True
        if before is not None and self._can_go_on(before) and goes_on(said):
            self._break_off(before, None)
            self._chat.go_on(said, self._go_on(before, record))
            tree.own(record, before)
            tree.current = before
            return
        run = tree.begin(record, start, said)
        at = self._go_on(run, record)
        if before is not None and tree.is_followed(before, run, said):
            self._break_off(before, SignalKind.API_FAILED)
            before.is_over = True
            before.sign(SignalKind.FOLLOWED_BY, run.words, at)
        tree.shorten()

    def _can_go_on(self, run: TranscriptRun) -> bool:
        return run.has_answered and not (run.is_copy or run.parent or self._agent)

    def _go_on(self, run: TranscriptRun, record: Record) -> float | None:
        """Go on with a run; take the fields that every record has, and return its time."""
        at = moment_of(record)
        self._chat.turn = run
        run.touch(at)
        run.folder = run.folder or as_text(record.get("cwd"))
        run.branch = run.branch or as_text(record.get("gitBranch"))
        if run.parent and not self._chat.name:
            run.name = run.name or as_text(record.get("attributionAgent"))
        if not run.session:
            run.session, run.record = as_text(record.get("sessionId")), id_of(record)
            run.is_copy = "forkedFrom" in record
            run.automated = as_text(record.get("entrypoint")).startswith("sdk")
        return at

    def _answer(self, run: TranscriptRun, record: Record) -> None:
        """Take a record of the model's answer, one part of it with the usage of the whole."""
        at, message = self._go_on(run, record), as_object(record.get("message"))
        # It goes on in another terminal.
        run.is_rewound = False
        if record.get("isApiErrorMessage") is True:
            self._fail(run, record, said_in(blocks_of(message)))
            run.is_over = True
        elif message.get("model") != _SYNTHETIC:
            run.has_answered, run.awaits_answer, run.failure = True, False, None
            if message.get("stop_reason") == "refusal":
                self._fail(run, record, "refused")
            self._chat.say(at, is_last=message.get("stop_reason") not in (None, "tool_use"))
            usage, model = as_object(message.get("usage")), as_text(message.get("model"))
            self._chat.count_usage(as_text(message.get("id")), usage, _USAGE, model=model)
            for block in blocks_of(message):
                if block.get("type") == "tool_use":
                    take_call(self._chat, block, at, as_text(record.get("cwd")))

    def _fail(self, run: TranscriptRun, record: Record, says: str) -> None:
        """Note that the model's API failed; an answer that comes later makes up for it."""
        at = self._go_on(run, record)
        says = excerpt(says, LONGEST_SAYS)
        run.failure = Signal(kind=SignalKind.API_FAILED, says=says, at=at)

    def _results(self, run: TranscriptRun, record: Record, blocks: list[Record]) -> None:
        """Take the results of calls, wherever in the transcript those were made."""
        chat, at = self._chat, self._go_on(run, record)
        run.awaits_answer = True
        for block in blocks:
            call = chat.call(as_text(block.get("tool_use_id")))
            if block.get("type") == "tool_result" and call is not None:
                take_result(chat, call, block, record, at)

    def _typed(self, run: TranscriptRun, record: Record, said: str) -> None:
        """Take a command that the person ran beside the agent, or what it printed."""
        chat, at = self._chat, self._go_on(run, record)
        if command := typed_in(said):
            given = {"command": command}
            run.typed = chat.use(id_of(record), "Bash", given, at, actor="user")
            if (call := chat.call(run.typed)) is not None:
                call.folder, call.is_open = as_text(record.get("cwd")), False
        if printed := printed_in(said):
            chat.result(run.typed, printed, ok=None, at=at)

    def _interrupt(self, run: TranscriptRun, record: Record) -> None:
        """Note that the person stopped it; the call that ran then was not refused but stopped."""
        at, last = self._go_on(run, record), len(run.calls) - 1
        refused: int | None = None
        if run.signs and run.signs[-1].kind is SignalKind.REJECTED and run.signs[-1].call == last:
            refused = run.signs.pop().call
        # A plan that a fresh session carries out is on record as refused, too.
        if refused is None or list(run.calls.values())[refused].tool != "ExitPlanMode":
            run.sign(SignalKind.INTERRUPTED, "", at, refused)
        run.is_over = True

    def _notified(self, record: Record, said: str) -> None:
        """Take word of a sub-agent in the background that has ended."""
        call, at = self._chat.call(ended_call(said)), moment_of(record)
        if call is not None and at is not None:
            end_sub_agent(call, at)


def _was_alone(run: AgentRun, call: RunCall) -> bool:
    """Return whether a sub-agent ended with its call, or while its run did nothing else."""
    end = call.sub_agent.ended_at if call.sub_agent is not None else None
    start = call.started_at
    if end is None:
        return True
    if start is None or not math.isfinite(end):
        return False
    others = (each for each in run.calls if each is not call)
    return not any((each.started_at or 0.0) < end and _ended_at(each) > start for each in others)


def _ended_at(call: RunCall) -> float:
    """Return when a call and the sub-agent that it started had ended; infinite if unknown."""
    if call.sub_agent is not None and call.sub_agent.ended_at is not None:
        return call.sub_agent.ended_at
    if call.started_at is None or call.duration_ms is None:
        return math.inf
    return call.started_at + call.duration_ms / 1000


def _sub_agent(path: Path) -> str:
    """Return the id of the sub-agent whose transcript this is; "" for a session's own."""
    return path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else ""


def _agent_type(path: Path) -> str:
    """Return the type of a sub-agent, which is in a file next to its transcript."""
    return as_text(object_in(path.with_suffix(".meta.json")).get("agentType"))
