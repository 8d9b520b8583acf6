"""A Codex thread: the first line of its rollout, and the run that started it.

The lines of a Codex rollout: `{"timestamp", "type", "payload"}`.
"""

import re
import uuid
from pathlib import Path
from typing import Any, Final

import msgspec

from trackrecord.wire.storable import decoded

from ...agent_run import run_outcome_id
from ..json_lines import Damage, decoded_lines, read_lines
from ..json_values import as_object, as_text
from ..moments import seconds_of

Record = dict[str, Any]


class RolloutRecord(msgspec.Struct, gc=False):
    """One line of a rollout."""

    type: str = ""
    timestamp: str = ""
    payload: Record | None = None


_decoder = msgspec.json.Decoder(RolloutRecord)


def decode_record(text: bytes) -> RolloutRecord:
    """Decode a line.

    Raises:
        ValueError: it is not a line of a rollout.
        RecursionError: it is nested too deeply.
    """
    return decoded(text, _decoder)


# Surfaces where no person asks: `codex exec`, other programs, and Codex's own upkeep.
_PROGRAMS: Final = frozenset({"exec", "mcp", "internal", "memory_consolidation", "compact"})
_TURN_ID: Final = re.compile(rb'"turn_id"\s*:\s*"([0-9A-Za-z_-]{1,128})"')
_THREAD_ID: Final = re.compile(r"[0-9A-Za-z_-]{1,128}")
_UUID_VERSION_OF_TIME: Final = 7
# Two clocks of one machine, read one after the other.
_SLACK_S: Final = 5.0


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """The properties that all turns of a thread share.

    Attributes:
        id: the thread's id.
        started_at: seconds since the epoch.
        folder: the folder that it began in.
        repository: the address of the repository's remote; "" if unknown.
        branch: the branch; "" if unknown.
        name: the role or the nickname of a sub-agent; "" if it is none.
        parent: the id of the thread that started this one as a sub-agent; "" if none did.
        path: where its rollout is.
        automated: whether a program started it.
        is_own: whether Codex started it for itself: to review, to name or to remember.
    """

    id: str
    started_at: float
    path: Path
    folder: str = ""
    repository: str = ""
    branch: str = ""
    name: str = ""
    parent: str = ""
    automated: bool = False
    is_own: bool = False

    def is_inherited(self, turn_id: str) -> bool:
        """Return whether a turn was copied from the thread that this one was forked from.

        Both ids hold the time when they were made.
        """
        made = made_at(turn_id)
        return made is not None and made < self.started_at - _SLACK_S

    def rollout_of(self, thread_id: str) -> Path | None:
        """Return the rollout of another thread; None if there is none, or several."""
        if not _THREAD_ID.fullmatch(thread_id):
            return None
        found = _rollouts_of_folder(self.path, thread_id)
        return found[0] if len(found) == 1 else None

    def parent_run(self) -> str:
        """Return the outcome_id of the run that started this thread; "" if none is found.

        Older rollouts name only the thread: its own rollout says in which turn it was.
        """
        if not _THREAD_ID.fullmatch(self.parent):
            return ""
        wanted, turn = self.id.encode(), b""
        for rollout in _rollouts_of_folder(self.path, self.parent):
            try:
                for line in read_lines(rollout):
                    text = line.text or b""
                    if b'"turn_context"' in text[:200] or b'"task_started"' in text[:200]:
                        found = _TURN_ID.search(text)
                        turn = found[1] if found else turn
                    elif turn and wanted in text:
                        return run_outcome_id("codex", self.parent, turn.decode())
            except OSError:
                continue
        return ""


def read_thread(path: Path, record: RolloutRecord) -> Thread:
    """Return the thread that the first line of a rollout describes."""
    payload = record.payload or {}
    thread_id = as_text(payload.get("id")) or path.stem
    git, source = as_object(payload.get("git")), payload.get("source")
    return Thread(
        id=thread_id,
        started_at=made_at(thread_id) or seconds_of(record.timestamp) or 0.0,
        folder=as_text(payload.get("cwd")),
        repository=as_text(git.get("repository_url")),
        branch=as_text(git.get("branch")),
        name=as_text(payload.get("agent_role"))
        or as_text(payload.get("agent_nickname"))
        or _kind(source),
        parent=as_text(payload.get("parent_thread_id")) or _parent_thread(source),
        path=path,
        automated=_surface(source) in _PROGRAMS,
        is_own=_is_own(source),
    )


def _surface(source: Any) -> str:  # noqa: ANN401 - decoded JSON
    if isinstance(source, dict):
        return _kind(source) or str(next(iter(source), ""))
    return as_text(source)


def _sub_agent(source: Any) -> Any:  # noqa: ANN401 - decoded JSON
    if not isinstance(source, dict):
        return None
    return next(
        (source[name] for name in ("subagent", "sub_agent", "subAgent") if name in source), None
    )


def _is_own(source: Any) -> bool:  # noqa: ANN401 - decoded JSON
    """Return whether neither a person nor a program nor a call of the model's started a thread."""
    kind = _sub_agent(source)
    return kind is not None and "thread_spawn" not in as_object(kind)


def _kind(source: Any) -> str:  # noqa: ANN401 - decoded JSON
    """Return the kind of a sub-agent: "review", or the role of one that was spawned."""
    kind = _sub_agent(source)
    if isinstance(kind, dict):
        spawned = as_object(kind.get("thread_spawn"))
        names = spawned.get("agent_role"), spawned.get("agent_nickname"), kind.get("other")
        return next(filter(None, map(as_text, names)), "")
    return as_text(kind)


def _parent_thread(source: Any) -> str:  # noqa: ANN401 - decoded JSON
    spawned = as_object(as_object(_sub_agent(source)).get("thread_spawn"))
    return as_text(spawned.get("parent_thread_id"))


def made_at(some_id: str) -> float | None:
    """Return when an id was made, if it holds its time; else None."""
    try:
        parsed = uuid.UUID(some_id)
    except ValueError:
        return None
    return (parsed.int >> 80) / 1000 if parsed.version == _UUID_VERSION_OF_TIME else None


def _rollouts_of_folder(path: Path, thread: str) -> list[Path]:
    top = next((each for each in path.parents if each.name == "sessions"), path.parent)
    return sorted(top.rglob(f"rollout-*-{thread}.jsonl*"))


def first_record(path: Path) -> RolloutRecord | None:
    """Return the first line of a rollout; None if it is not there or cannot be read.

    Raises:
        OSError: the file cannot be read.
    """
    records = (record for _, record in decoded_lines(path, 0, decode_record))
    return next((record for record in records if not isinstance(record, Damage)), None)
