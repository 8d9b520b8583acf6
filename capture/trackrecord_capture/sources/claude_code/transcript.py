"""Read the runs of a transcript: one for each prompt, and one for each sub-agent.

Records form a tree: each names the one before it. Where two terminals have resumed one session
their records alternate, and only the tree tells which run a record belongs to.
"""

import math
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from ...agent_run import AgentRun, RunCall, SignalKind
from ...verdict.phrases import goes_on
from ..json_lines import Damage, decoded_lines
from ..json_values import as_text, object_in
from ..moments import seconds_of
from ..raw_json import object_of, text_of
from ..source import Log, ReadRun, Unreadable
from ..sub_agents import with_calls_of_sub_agent
from .calls import TranscriptCall
from .open_run import (
    REWOUND,
    OpenRun,
    ended_call,
    instruction_of,
    is_command,
    is_interruption,
    is_prompt,
    said_in,
    takes_back,
)
from .records import Block, TranscriptRecord, blocks_of, decode_record, message_of

# How many runs can be open at once, and how many records are known to belong to one of them.
_MOST_OPEN: Final = 16
_MOST_KNOWN: Final = 100_000
# How many runs can be taken back after the next prompt has come.
_MOST_RECENT: Final = 8
_MOST_BEGUN: Final = 1000
# A sub-agent's transcript is read for itself, and for the run that started it.
_LARGEST_READ_TWICE: Final = 32 * 1024 * 1024
_LIMIT: Final = "max_turns_reached"
_NOTIFIED: Final = b"<task-notification>"


def read_transcript(log: Log, resume_at: int) -> Iterator[ReadRun | Unreadable]:
    """Yield the runs of a transcript from a position on, and what could not be read."""
    try:
        yield from _Reader(log).read(resume_at)
    except OSError as error:
        yield Unreadable(place="the file", reason=error.strerror or "it cannot be read")


class _Reader:
    """Holds a run back until the next prompt arrives, which may change the verdict on it."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._agent = _sub_agent(log.path)
        # A sub-agent's transcript lies in the folder of its session.
        self._session = log.path.parent.parent.name if self._agent else log.path.stem
        self._name = _agent_type(log.path) if self._agent else ""
        self._open: list[OpenRun] = []
        self._current: OpenRun | None = None
        self._run_of: dict[str, OpenRun] = {}
        self._known: deque[str] = deque()
        self._call_of: dict[str, TranscriptCall] = {}
        self._ready: list[OpenRun] = []
        self._resumed_at = 0
        self._begun: deque[OpenRun] = deque(maxlen=_MOST_BEGUN)
        self._recent: deque[tuple[OpenRun, AgentRun]] = deque(maxlen=_MOST_RECENT)
        self._taken_back: list[OpenRun] = []
        self._leaf = ""
        self._is_torn = False

    def read(self, resume_at: int, until: float = math.inf) -> Iterator[ReadRun | Unreadable]:
        end = self._resumed_at = resume_at
        for line, record in decoded_lines(self._log.path, resume_at, decode_record):
            if line.start >= until:
                break
            end = line.end
            if isinstance(record, Damage):
                for run in self._open:
                    run.lose(is_record=record.is_record)
                if record.unreadable is not None:
                    yield record.unreadable
                continue
            self._take(record, line.start)
            if self._ready or self._taken_back:
                yield from self._finish(line.end)
        self._return_to(self._leaf, None)
        self._ready = list(self._open)
        yield from self._finish(end)
        if self._is_torn:
            # What the last prompt went back to, only the part says that was read earlier.
            yield from _Reader(self._log).read(0, until)

    def _finish(self, position: int) -> Iterator[ReadRun]:
        for run in self._ready:
            # Reading again must meet every run that is still open.
            start = min(other.start for other in (*self._open, run))
            self._open.remove(run)
            is_empty, made = run.is_empty, run.finished(self._session, self._name)
            self._forget(run)
            if not is_empty:
                made = self._with_sub_agents(made)
                self._recent.append((run, made))
                yield ReadRun(run=made, resume_at=start, position=position)
        self._ready = []
        yield from self._amended(position)

    def _amended(self, position: int) -> Iterator[ReadRun]:
        """Yield runs again that were taken back after they had been yielded."""
        start = min((run.start for run in self._open), default=self._resumed_at)
        for run, made in self._recent:
            if run in self._taken_back:
                signs = (*made.signs, REWOUND)
                amended = msgspec.structs.replace(made, signs=signs)
                yield ReadRun(run=amended, resume_at=start, position=position)
        self._taken_back = []

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

    def _forget(self, run: OpenRun) -> None:
        """Let go of a run's calls: its records are still known to belong to it."""
        for call in run.calls:
            self._call_of.pop(call, None)
        run.calls.clear()

    def _take(self, record: TranscriptRecord, start: int) -> None:
        kind = record.kind
        if kind == "last-prompt":
            self._leaf = text_of(record.leaf_uuid)
        elif kind in ("user", "assistant"):
            self._leaf = ""
        if kind == "user":
            self._take_user(record, start)
        elif kind == "system" and text_of(record.subtype) == "api_error":
            run = self._run(record, start)
            if run is not None:
                run.retry(record)
        elif kind == "assistant":
            run = self._run(record, start)
            if run is not None:
                # It goes on in another terminal.
                run.is_rewound = False
                self._call_of.update((call.id, call) for call in run.answer(record))
        elif kind == "attachment" and _NOTIFIED in bytes(record.attachment):
            self._notified(record, object_of(record.attachment).get("prompt"))
        elif kind == "attachment" and self._current is not None and _is_limit(record):
            self._current.give_up("the limit of turns was reached", record)
        self._note(record)

    def _take_user(self, record: TranscriptRecord, start: int) -> None:
        blocks = blocks_of(message_of(record))
        said = said_in(blocks)
        run = self._run(record, start)
        if is_interruption(said):
            if run is not None:
                run.interrupt(record)
        elif takes_back(said):
            if run is not None:
                run.sign(SignalKind.UNDONE, "taken back", seconds_of(text_of(record.timestamp)))
        elif self._is_prompt(record, blocks, said, run):
            self._begin(record, start, said)
        elif run is not None and said.startswith("<bash-"):
            run.take_typed(record, said)
        elif run is not None:
            self._notified(record, said)
            run.results(record, blocks, self._call_of)

    def _notified(self, record: TranscriptRecord, said: object) -> None:
        """Take word of a sub-agent in the background that has ended."""
        called = ended_call(said) if isinstance(said, str) else ""
        call, at = self._call_of.get(called), seconds_of(text_of(record.timestamp))
        if call is not None and at is not None:
            call.sub_agent_ends(at)

    def _is_prompt(
        self, record: TranscriptRecord, blocks: list[Block], said: str, run: OpenRun | None
    ) -> bool:
        if not is_prompt(record, blocks, said):
            return False
        if self._agent or record.is_true("is_sidechain"):
            # What a sub-agent is told later belongs to the same run.
            return run is None or (not self._agent and not text_of(record.parent_uuid))
        return (
            run is None
            or run.key != _key(record)
            or not run.instruction
            or (bool(bytes(record.prompt_source)) and not run.is_empty)
        )

    def _begin(self, record: TranscriptRecord, start: int, said: str) -> None:
        before = self._before(record)
        if before is not None and before.instruction and before.key == _key(record):
            # A fork gives the id of its first prompt to all that it copies.
            before.key, before.is_copy = before.record, True
        can_go_on = before is not None and before.can_go_on and not before.is_copy
        if before is not None and can_go_on and not self._agent and goes_on(said):
            before.go_on(said, before.touch(record))
            self._own(record, before)
            self._current = before
            return
        is_new = not any(other.key == _key(record) for other in self._open)
        run = self._opened(record, start)
        if is_new and not run.parent:
            run.asked_after = _parent(record)
            self._return_to(run.asked_after, run)
            self._begun.append(run)
        run.instruction = instruction_of(said)
        at = run.touch(record)
        if before is not None and before is not run and not run.parent and not before.parent:
            if before.is_empty or is_command(said):
                self._hold_or_drop(before)
            else:
                before.follow(run.instruction, at)
                self._ready.append(before)
        self._shorten()

    def _return_to(self, record: str | None, new: OpenRun | None) -> None:
        """Take back the runs that followed a record to which the person went back.

        Args:
            record: the record behind which the session goes on; "" for its very beginning, None if
                unknown.
            new: the run that begins there; None if nothing was asked there yet.
        """
        if record is None or (new is None and not record):
            return
        origin = self._run_of.get(record)
        if origin is None and new is None:
            return
        taken = [
            run
            for run in self._begun
            if (run.asked_after == record and new is not None)
            or (origin is not None and self._origin(run) is origin)
        ]
        if not taken and record and origin is None and self._resumed_at and self._begun:
            self._is_torn = True
        taken += [run for run in self._begun if run not in taken and self._origin(run) in taken]
        for run in taken:
            if run in self._open:
                run.is_rewound = run.can_be_rewound
            elif any(run is other for other, _ in self._recent) and not run.is_rewound:
                run.is_rewound = True
                self._taken_back.append(run)

    def _origin(self, run: OpenRun) -> OpenRun | None:
        """Return the run behind which another one was asked for."""
        return self._run_of.get(run.asked_after) if run.asked_after else None

    def _hold_or_drop(self, before: OpenRun) -> None:
        """Ignore a command without work of an agent: it says nothing about the run before it."""
        if before.is_empty:
            self._ready.append(before)

    def _opened(self, record: TranscriptRecord, start: int) -> OpenRun:
        is_sub_agent = bool(self._agent) or record.is_true("is_sidechain")
        if self._agent:
            key, parent = self._agent, text_of(record.prompt_id)
        elif is_sub_agent:
            key, parent = _key(record), self._current.key if self._current else ""
        else:
            key, parent = _key(record), ""
        run = next((other for other in self._open if other.key == key), None)
        if run is None:
            run = OpenRun(key, start, parent=parent)
            self._open.append(run)
        if not is_sub_agent or self._agent:
            self._current = run
        self._own(record, run)
        return run

    def _shorten(self) -> None:
        """Bound the number of open runs: the oldest one is dropped."""
        if len(self._open) - len(self._ready) > _MOST_OPEN:
            oldest = next(run for run in self._open if run not in self._ready)
            self._ready.append(oldest)

    def _before(self, record: TranscriptRecord) -> OpenRun | None:
        """Return the run that a prompt follows in its branch of the tree."""
        run = self._run_of.get(text_of(record.parent_uuid))
        if run is None:
            run = self._current
        # A command that only Claude Code itself carried out stands between.
        return run if run in self._open and run not in self._ready else None

    def _run(self, record: TranscriptRecord, start: int) -> OpenRun | None:
        """Return the run that a record belongs to; None in front of the first prompt."""
        if self._agent and self._current is None and record.kind == "assistant":
            return self._opened(record, start)
        run = self._run_of.get(text_of(record.parent_uuid))
        if run is None and (prompt := text_of(record.prompt_id)):
            run = next((other for other in self._open if other.key == prompt), None)
        if run is None or run not in self._open:
            run = self._current
        return run if run in self._open else None

    def _note(self, record: TranscriptRecord) -> None:
        """Remember which run a record belongs to, for those that name it as the one before."""
        if text_of(record.uuid) not in self._run_of:
            run = self._run_of.get(text_of(record.parent_uuid), self._current)
            if run is not None:
                self._own(record, run)

    def _own(self, record: TranscriptRecord, run: OpenRun) -> None:
        uuid = text_of(record.uuid)
        if not uuid:
            return
        self._run_of[uuid] = run
        self._known.append(uuid)
        if len(self._known) > _MOST_KNOWN:
            self._run_of.pop(self._known.popleft(), None)


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


def _is_limit(record: TranscriptRecord) -> bool:
    return _LIMIT.encode() in bytes(record.attachment) and (
        object_of(record.attachment).get("type") == _LIMIT
    )


def _key(record: TranscriptRecord) -> str:
    """Return the id of a prompt; in older versions, which lack it, the record's own."""
    return text_of(record.prompt_id) or text_of(record.uuid)


def _parent(record: TranscriptRecord) -> str | None:
    """Return the id of the record before; "" if there is none, None if nothing is said of it."""
    if bytes(record.parent_uuid) == b"null":
        return ""
    return text_of(record.parent_uuid) or None


def _sub_agent(path: Path) -> str:
    """Return the id of the sub-agent whose transcript this is; "" for a session's own."""
    return path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else ""


def _agent_type(path: Path) -> str:
    """Return the type of a sub-agent, which is in a file next to its transcript."""
    return as_text(object_in(path.with_suffix(".meta.json")).get("agentType"))
