"""Read the new part of a log, publish it, and only then remember it.

A crash at any moment means that something is read again; the outcomes have the same ids then, and
change nothing.
"""

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import Any, Final

import msgspec

from trackrecord.errors import InvalidOutcome
from trackrecord.learning.text.times import believed_age

from ..agent_run import AgentRun, RunCall
from ..sources.excerpts import LONGEST_RESULT, excerpt
from ..sources.source import Log, ReadRun, Source, Unreadable
from .counts import ReadingCounts
from .repository_news import made_by
from .sink import Sink
from .state import CaptureState, LogPlace

_SAVED: Final = re.compile(r"\b(?:saved|written) (?:to|at):?\s{1,4}([^\n]{1,1000}\.\w{2,5})\b")
_LONGEST_NOTICE: Final = 2000
_LEVELS: Final = 3


def with_saved_outputs(run: AgentRun, log: Path) -> AgentRun:
    """Return a run with the beginning and the end of those outputs of commands.

    Args:
        run: the run.
        log: the file that it was read from.
    """
    saved = {
        place: output
        for place, call in enumerate(run.calls)
        if call.command and (output := _output(call, log))
    }
    if not saved:
        return run
    calls = (
        msgspec.structs.replace(call, result=saved[place]) if place in saved else call
        for place, call in enumerate(run.calls)
    )
    return msgspec.structs.replace(run, calls=tuple(calls))


def _output(call: RunCall, log: Path) -> str:
    notice = call.result[:_LONGEST_NOTICE]
    found = _SAVED.search(notice) if "saved" in notice or "written" in notice else None
    for path in _places(found[1], log) if found else ():
        with suppress(OSError):
            return _ends_of(path)
    return ""


def _places(named: str, log: Path) -> Iterator[Path]:
    """Yield where a file may lie that a log names: beside it, whatever became of the folder."""
    name = PureWindowsPath(named)
    inside = Path(name.parent.name) / name.name
    if ".." not in inside.parts:
        for folder in (log.with_suffix(""), *log.parents[:_LEVELS]):
            path = folder / inside
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                yield path


def _ends_of(path: Path) -> str:
    with path.open("rb") as file:
        text = file.read(LONGEST_RESULT)
        end = max(file.tell(), path.stat().st_size - LONGEST_RESULT)
        file.seek(end)
        text += file.read(LONGEST_RESULT)
    return excerpt(text.decode(errors="replace"))


# A run that has not ended and has been silent for so long will say no more.
SILENT_S: Final = 3600.0
# Outcomes after which the place is kept, so that a crash does not mean to begin anew.
_KEEP_EVERY: Final = 500
_VERDICT: Final = (
    "success", "outcome_source", "grounds", "failure_mode", "failure_details",
)  # fmt: skip

OutcomeOf = Callable[[AgentRun], dict[str, Any] | None]
Progress = Callable[[int], None]


class LogReading(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of reading logs.

    Attributes:
        outcome_of: makes the fields of an outcome of a run; None for a run that is none.
        with_automated: whether runs count that a program started.
        everything: whether logs are read from their start, although nothing in them is new.
        progress: told how many bytes of the log have been read.
    """

    outcome_of: OutcomeOf
    with_automated: bool = True
    everything: bool = False
    progress: Progress = lambda _position: None


class FoundOutcome(ReadRun, frozen=True, kw_only=True):
    """The outcome of a run in a log, before anything is remembered or published.

    A run that has been silent for long has ended here.

    Attributes:
        fields: those of its outcome; None if it is left out, or refused.
        refused: why no outcome could be made of it; "" if one could, or it is left out.
    """

    fields: dict[str, Any] | None
    refused: str = ""


Found = FoundOutcome | Unreadable


def find_outcomes(source: Source, log: Log, resume_at: int, reading: LogReading) -> Iterator[Found]:
    """Yield the outcomes of a log from a position on; an error in one log does not stop others."""
    try:
        for found in source.read(log, resume_at):
            yield found if isinstance(found, Unreadable) else _outcome(found, reading, log.path)
    except OSError as error:
        yield Unreadable(place="the file", reason=error.strerror or "it cannot be read")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        reason = f"its format is not known ({type(error).__name__})"
        yield Unreadable(place="the file", reason=reason)


def _outcome(found: ReadRun, reading: LogReading, log: Path) -> FoundOutcome:
    run, fields, refused = with_saved_outputs(found.run, log), None, ""
    if not run.is_over and _is_silent(run.ended_at):
        # A run that has been silent for long has ended, whatever its log says.
        run = msgspec.structs.replace(run, is_over=True)
    if not run.automated or reading.with_automated:
        try:
            fields = reading.outcome_of(run)
        except InvalidOutcome as error:
            refused = str(error)
    return FoundOutcome(
        run=run,
        fields=fields,
        refused=refused,
        resume_at=found.resume_at,
        position=found.position,
    )


def read_and_publish(
    source: Source,
    log: Log,
    state: CaptureState,
    sink: Sink,
    reading: LogReading,
    found: Iterable[Found] | None = None,
) -> ReadingCounts:
    """Publish the new part of a log, and remember how far it has been read.

    Args:
        source: the agent's adapter.
        log: the log, as `Source.logs` found it.
        state: what has been read so far.
        sink: takes the outcomes.
        reading: how to read.
        found: the outcomes from `start_of` on, where they were found already.

    Raises:
        ServerUnavailable: the outcomes cannot be delivered; reading again goes on from there.
        StoreUnfit: the state cannot be kept.
    """
    return _Reader(source, log, state, sink, reading, found).read()


def start_of(source: Source, log: Log, state: CaptureState, *, everything: bool = False) -> int:
    """Return the position from which a log is to be read.

    Raises:
        StoreUnfit: the state cannot be read.
    """
    with contextlib.suppress(OSError):
        if not everything and (place := state.place_of(source.name, log)) is not None:
            return _resume_of(place, log)
    return 0


def has_news(source: Source, log: Log, state: CaptureState) -> bool:
    """Return whether reading a log would find anything that was not published yet.

    Raises:
        StoreUnfit: the state cannot be read.
    """
    with contextlib.suppress(OSError):
        place = state.place_of(source.name, log)
        return place is None or not _is_known(place, log)
    return True


@dataclass
class _Reader:
    _source: Source
    _log: Log
    _state: CaptureState
    _sink: Sink
    _reading: LogReading
    _found: Iterable[Found] | None
    _counts: ReadingCounts = field(default_factory=ReadingCounts)
    _resume_at: int = 0
    _goes_on_since: float | None = None
    _since_kept: int = 0
    _has_read: bool = False

    def read(self) -> ReadingCounts:
        try:
            place = self._state.place_of(self._source.name, self._log)
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            self._counts.note_bad(self._log.path, Unreadable(place="the file", reason=reason))
            return self._counts
        if place is not None and not self._reading.everything:
            if _is_known(place, self._log):
                self._counts.unchanged = 1
                return self._counts
            self._resume_at = _resume_of(place, self._log)
        self._counts.logs = 1
        found = self._found
        if found is None:
            found = find_outcomes(self._source, self._log, self._resume_at, self._reading)
        for each in found:
            self._take(each)
        # A log of which nothing could be read is tried again the next time.
        self._keep(is_whole=self._has_read or not self._counts.bad)
        return self._counts

    def _take(self, found: Found) -> None:
        if isinstance(found, Unreadable):
            self._counts.note_bad(self._log.path, found)
            return
        self._has_read = True
        self._reading.progress(found.position)
        self._publish(found)
        if self._goes_on_since is None:
            self._resume_at = found.resume_at
        if not found.run.is_over:
            ended_at = found.run.ended_at
            self._goes_on_since = min(ended_at, self._goes_on_since or ended_at)
        self._since_kept += 1
        if self._since_kept >= _KEEP_EVERY:
            self._keep(is_whole=False)

    def _publish(self, found: FoundOutcome) -> None:
        run, fields = found.run, found.fields
        if found.refused:
            self._counts.note_refused(found.refused)
            return
        if fields is None:
            self._counts.left_out += 1
            return
        fields["outcome_id"] = self._state.told_as(self._source.name, run)
        if not fields["outcome_id"]:
            self._counts.copied += 1
            return
        try:
            self._sink.publish(fields if run.is_over else _without_verdict(fields))
        except InvalidOutcome as error:
            self._counts.note_refused(str(error))
            return
        self._counts.runs += 1
        if run.commits:
            self._state.note_made(made_by(run, fields))

    def _keep(self, *, is_whole: bool) -> None:
        """Keep the place, after everything before it is safe."""
        dropped = self._sink.settle()
        if dropped:
            self._counts.note_refused("neither Redis nor the spool had room", dropped)
        self._since_kept = 0
        # Reading that has not come to the end, or lost something, must not pass for a whole one.
        version = self._log.version if is_whole and not dropped else -1
        place = LogPlace(version, self._resume_at, self._goes_on_since)
        # A log that has gone meanwhile has no place to be kept.
        with contextlib.suppress(OSError):
            self._state.keep_place(self._source.name, self._log, place)


def _resume_of(place: LogPlace, log: Log) -> int:
    # A file that only grows cannot be shorter than it was; this one was written anew.
    return 0 if log.version < place.version else place.resume_at


def _is_known(place: LogPlace, log: Log) -> bool:
    """Return whether nothing is new, and no run in the log has fallen silent meanwhile."""
    since = place.goes_on_since
    has_fallen_silent = since is not None and _is_silent(since)
    return place.version == log.version and not has_fallen_silent


def _is_silent(since: float) -> bool:
    return believed_age(time.time() - since) > SILENT_S


def _without_verdict(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of a run that goes on, without a verdict."""
    kept = {name: each for name, each in fields.items() if name not in _VERDICT}
    return kept | {"success": None}
