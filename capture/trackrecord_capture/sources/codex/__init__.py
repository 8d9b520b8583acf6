"""Codex: the rollouts that its command line writes, one for each thread."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from ...agent_run import AgentRun
from ..declaration import CodingAgent
from ..json_lines import Damage, decoded_lines
from ..log_files import LogFiles, home_of
from ..source import Log, ReadRun, RecordedPrompt, Unreadable
from ..sub_agents import with_sub_agents
from .calls import TOOLS
from .installation import HOME_VARIABLE, NAME, CodexHooks
from .thread import RolloutRecord, Thread, decode_record, first_record, made_at, read_thread
from .turns import Turns

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
            for found in _read(log, resume_at, Turns(thread)):
                yield _completed(found, thread) if isinstance(found, ReadRun) else found
    except OSError as error:
        yield Unreadable(place="the file", reason=error.strerror or "it cannot be read")


def _read(log: Log, resume_at: int, turns: Turns) -> Iterator[ReadRun | Unreadable]:
    """Yield each turn once the next prompt is there, which may change the verdict on it."""
    end = resume_at
    for line, record in decoded_lines(log.path, resume_at, _decoded):
        end = line.end
        if isinstance(record, Damage):
            turns.lose(is_record=record.is_record)
            if record.unreadable is not None:
                yield record.unreadable
        elif record is not None and record.payload is not None:
            turns.take(record, record.payload, line.start)
            yield from turns.chat.followed(end)
    turns.break_off()
    yield from turns.chat.rest(end)


def _completed(found: ReadRun, thread: Thread) -> ReadRun:
    """Return a run with what its thread and those of its sub-agents tell."""
    run = found.run
    if thread.parent:
        run = msgspec.structs.replace(run, parent=run.parent or thread.parent_run())
    else:
        calls = with_sub_agents(run.calls, lambda thread_id: _work_of(thread, thread_id))
        run = msgspec.structs.replace(run, calls=calls)
    record = ""
    if made_at(run.prompt) is None:
        # Turns without such an id stay in a fork what they were, and are written at another time.
        own = next((call.id for call in run.calls if call.id), str(run.started_at))
        record = f"{run.instruction}@{own}"
    return msgspec.structs.replace(found, run=msgspec.structs.replace(run, record=record))


def _work_of(thread: Thread, thread_id: str) -> list[AgentRun]:
    """Return the runs of a sub-agent of a thread; none if they cannot be read whole."""
    path = thread.rollout_of(thread_id)
    try:
        size = path.stat().st_size if path is not None else 0
        first = first_record(path) if path is not None and size <= _LARGEST_READ_TWICE else None
    except OSError:
        return []
    if path is None or first is None or read_thread(path, first).parent != thread.id:
        return []
    read = list(read_rollout(Log(path=path, size=size, version=size), 0))
    runs = [each.run for each in read if isinstance(each, ReadRun)]
    return runs if len(runs) == len(read) else []


def _decoded(line: bytes) -> RolloutRecord | None:
    """Return a line's record; None if nothing of it is used.

    Raises:
        ValueError: it is not a line of a rollout.
        RecursionError: it is nested too deeply.
    """
    return None if _UNUSED.search(line, 0, _HEAD) else decode_record(line)


# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0
_MOST_TURNS: Final = 10_000


def _homes() -> Sequence[Path]:
    home = home_of(HOME_VARIABLE, ".codex")
    return (home / "sessions", home / "archived_sessions")


# Rollouts of older sessions are compressed.
_ROLLOUTS: Final = LogFiles(
    name=NAME,
    pattern="rollout-*.jsonl*",
    homes=_homes,
    read_log=read_rollout,
    is_session=lambda path: path.suffix in (".jsonl", ".zst"),
    begins_with_time=True,
)


def _turn_at(session: str, at: float) -> RecordedPrompt:
    """Return the turn that went on at a moment.

    What is told of a turn may be stamped a moment before the turn is recorded; but while a turn
    goes on, nothing is of the next one.
    """
    paths = (path for home in _homes() for path in home.rglob(f"rollout-*{session}.jsonl*"))
    path = next(paths, None)
    found = RecordedPrompt()
    ended_at = 0.0
    for log in _ROLLOUTS.logs([path] if path is not None else []):
        for read in islice(_ROLLOUTS.read(log), _MOST_TURNS):
            if not isinstance(read, ReadRun):
                continue
            run = read.run
            is_next = ended_at <= at < run.started_at <= at + _SLACK_S
            if run.started_at <= at or is_next:
                found = RecordedPrompt(run.prompt, run.folder, run.repository)
                ended_at = run.ended_at if run.is_over else float("inf")
    return found


AGENT: Final = CodingAgent(
    label="Codex",
    source=_ROLLOUTS,
    tools=TOOLS,
    tried="0.171.0",
    hooks=CodexHooks(),
    home_variable=HOME_VARIABLE,
    recorded_prompt=_turn_at,
)
