"""A thread that reads agents' logs, soon after hooks noted that something ended.

Notes are removed after what they told of was published, so a process that is killed goes on where
it was. A session that ended without a hook, as an interrupted one does, is found by its log.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog

from trackrecord.errors import ServerUnavailable
from trackrecord.learning.text.times import believed_age
from trackrecord.settings.daemon_settings import HookSettings

from ..agents.hook_state import note_error
from ..agents.installed import read_installed
from ..history.reading import SILENT_S
from ..sources.source import Log, Source
from .notes import EndNote, notes_folder, waiting_notes

_RETRY_S = 30.0
_MOST_TRIES = 5


class Pending(msgspec.Struct):
    """One log that something ended in.

    Attributes:
        source: the agent's adapter.
        log: the log as it was seen last.
        since: when it was asked for first, by the monotonic clock.
        changed: when it was seen to change last.
        notes: the notes that asked for it; removed once it has been read.
        not_before: when it may be tried again, after it could not be read.
        tries: how often it could not.
    """

    source: Source
    log: Log
    since: float
    changed: float
    notes: set[Path]
    not_before: float = 0.0
    tries: int = 0


class Settling:
    """Waits until a log has settled: agents write them after they have called a hook.

    Args:
        rules: how long is waited.
    """

    def __init__(self, rules: HookSettings) -> None:
        self._rules = rules
        self._pending: dict[Path, Pending] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def ask(self, source: Source, log: Log, notes: Iterable[Path], now: float) -> None:
        """Ask for a log to be read; several questions for one log are one reading."""
        known = self._pending.get(log.path)
        if known is None:
            known = Pending(source=source, log=log, since=now, changed=now, notes=set())
            self._pending[log.path] = known
        if new := set(notes) - known.notes:
            known.notes |= new
            known.changed = now
            known.tries, known.not_before = 0, 0.0

    def knows(self, note: Path) -> bool:
        """Return whether a note for this log is queued already."""
        return any(note in each.notes for each in self._pending.values())

    def settled(self, now: float) -> Iterator[Pending]:
        """Yield the logs that can be read now."""
        for pending in list(self._pending.values()):
            if now < pending.not_before:
                continue
            log = next(iter(pending.source.logs([pending.log.path])), pending.log)
            if (log.version, log.size) != (pending.log.version, pending.log.size):
                pending.log, pending.changed = log, now
            is_still = now - pending.changed >= self._rules.settle_s
            if is_still or now - pending.since >= self._rules.settle_max_s:
                yield pending

    def done(self, pending: Pending) -> None:
        """Forget a log that was read, or given up."""
        self._pending.pop(pending.log.path, None)

    def failed(self, pending: Pending, now: float, *, is_its_fault: bool = True) -> bool:
        """Try a log again later; return whether it was given up instead.

        Args:
            pending: the log.
            now: by the monotonic clock.
            is_its_fault: whether it may never be readable; else it is tried until it is read.
        """
        pending.tries += is_its_fault
        pending.not_before = now + _RETRY_S
        if pending.tries < _MOST_TRIES:
            return False
        self.done(pending)
        return True


Read = Callable[[Source, Log], str | None]
"""Reads what is new in a log and publishes it; returns when it is safe, with what went wrong."""


class LiveReader(NamedTuple):
    """The readers of the thread that watches.

    Attributes:
        read: reads a log.
        read_repositories: publishes what repositories say of earlier runs.
    """

    read: Read
    read_repositories: Callable[[], object]


_log = structlog.get_logger(__name__)
_EVERY_S: Final = 1.0
_STOP_S: Final = 10.0
_AFTER_TROUBLE_S: Final = 5.0
_TICK_NS: Final = 100_000_000


class Watching:
    """Watches the notes of a home; `start` and `stop` it.

    Args:
        home: trackrecord's home.
        rules: when logs are read.
        sources: the adapters, by the agent's name.
        reading: opens what reads a log, in the thread that will use it, and closes it there.
    """

    def __init__(
        self,
        home: Path,
        rules: HookSettings,
        sources: Mapping[str, Source],
        reading: Callable[[], AbstractContextManager[LiveReader]],
    ) -> None:
        self._home = home
        self._rules = rules
        self._sources = sources
        self._reading = reading
        self._settling = Settling(rules)
        self._stopping = threading.Event()
        self._catching_up = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: dict[Path, tuple[int, bool]] = {}
        self._folder_changed = -1
        self._next_search = 0.0

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._run, name="watching", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the log that is being read, and end."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_STOP_S)

    def catch_up(self) -> None:
        """Look for sessions that ended without a hook, soon."""
        self._catching_up.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with self._reading() as reader:
                    while not self._stopping.wait(_EVERY_S):
                        self._step(reader)
            except Exception as error:  # noqa: BLE001 - a thread's end would go unnoticed
                self._say_closed(error)
                self._stopping.wait(_AFTER_TROUBLE_S)

    def _say_closed(self, error: Exception) -> None:
        """Report that nothing can be read, as while the state cannot be opened."""
        _log.error("sessions cannot be read", error=type(error).__name__)
        for name in read_installed(self._home):
            note_error(self._home, name, f"its sessions cannot be read: {error}")

    def _step(self, reader: LiveReader) -> None:
        """Look once; what goes wrong, as a folder that cannot be listed, may be over next time."""
        try:
            self._look(reader, time.monotonic())
        except Exception as error:  # noqa: BLE001 - the next notes have to be read
            _log.warning("hooks cannot be read", error=type(error).__name__)
            self._folder_changed = -1
            self._stopping.wait(_AFTER_TROUBLE_S)

    def _look(self, reader: LiveReader, now: float) -> None:
        is_time = now >= self._next_search or self._catching_up.is_set()
        if is_time:
            self._catching_up.clear()
            self._next_search = now + self._rules.catch_up_s
            self._search(now)
        self._take_notes(now)
        for pending in self._settling.settled(now):
            if self._stopping.is_set():
                return
            self._read(pending, reader.read)
            is_time = True
        if is_time:
            reader.read_repositories()

    def _take_notes(self, now: float) -> None:
        """Look at the folder, if anything in it has changed."""
        try:
            changed = notes_folder(self._home).stat().st_mtime_ns
        except OSError:
            return
        if changed == self._folder_changed:
            return
        # Two changes may have one time: what was changed just now is looked at again.
        is_over = not 0 <= time.time_ns() - changed <= _TICK_NS
        self._folder_changed = changed if is_over else -1
        new: dict[EndNote | None, list[Path]] = {}
        for path, note in waiting_notes(self._home):
            if not self._settling.knows(path):
                told = note and msgspec.structs.replace(note, event="", folder="", at=0.0)
                new.setdefault(told, []).append(path)
        for told, paths in new.items():
            self._take(told, paths, now)

    def _take(self, note: EndNote | None, paths: Sequence[Path], now: float) -> None:
        """Read the session that notes point to, however many notes there are."""
        source = None if note is None else self._sources.get(note.agent)
        if note is None or source is None:
            _remove(paths)
            return
        logs = list(self._logs_of(note, source))
        if not logs:
            # It may not be written yet, or never be; what is written later is found by searching.
            note_error(self._home, note.agent, "no log was found of a session that has ended")
            _remove(paths)
        for log in logs:
            self._settling.ask(source, log, paths, now)

    def _logs_of(self, note: EndNote, source: Source) -> Iterator[Log]:
        """Find the logs of a session, within the folders of its agent alone."""
        places = self._places(source, note.home)
        if note.transcript:
            path = Path(note.transcript)
            if any(_is_within(path, place) for place in places):
                yield from source.logs([path])
                # The logs of its sub-agents lie beside it, in a folder of its name.
                if (beside := path.with_suffix("")) != path and beside.is_dir():
                    yield from filter(self._is_new, source.logs([beside]))
                return
        found = list(source.logs(places))
        named = [log for log in found if note.session and note.session in log.path.name]
        yield from named or [log for log in found if self._is_new(log)]

    def _places(self, source: Source, home: str = "") -> list[Path]:
        installed = read_installed(self._home).get(source.name)
        own = [Path(each) for each in (home, installed.folder if installed else "") if each]
        return list(dict.fromkeys((*source.homes(), *own)))

    def _search(self, now: float) -> None:
        """Find the logs of installed agents that have changed since the installation."""
        for name, installed in read_installed(self._home).items():
            source = self._sources.get(name)
            if source is None:
                continue
            try:
                for log in source.logs(self._places(source)):
                    if self._is_new(log) and _changed_at(log.path) >= installed.at:
                        self._settling.ask(source, log, (), now)
            except OSError as error:
                note_error(self._home, name, f"its logs cannot be searched: {error.strerror}")

    def _is_new(self, log: Log) -> bool:
        """Return whether there may be something new in a log.

        A run that goes on is read once more when it has been silent for long: it says no more.
        """
        version, was_silent = self._seen.get(log.path, (None, False))
        return version != log.version or (not was_silent and _is_silent(log.path))

    def _read(self, pending: Pending, read: Read) -> None:
        name, log = pending.source.name, pending.log
        was_silent = _is_silent(log.path)
        try:
            problem = read(pending.source, log)
        except Exception as error:  # noqa: BLE001 - one log must not keep the others from being read
            is_its_fault = not isinstance(error, ServerUnavailable)
            is_given_up = self._settling.failed(
                pending, time.monotonic(), is_its_fault=is_its_fault
            )
            says = f"{log.path.name} cannot be read ({type(error).__name__}: {error})"
            note_error(self._home, name, says)
            _log.warning("a session cannot be read", agent=name, error=type(error).__name__)
            if not is_given_up:
                return
        else:
            if problem:
                note_error(self._home, name, problem)
        self._seen[log.path] = log.version, was_silent
        self._settling.done(pending)
        _remove(pending.notes)


def _changed_at(path: Path) -> float:
    """Return when a log changed last; for a database also its write-ahead log."""
    changed = 0.0
    for each in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            changed = max(changed, each.stat().st_mtime)
    return changed


def _is_silent(path: Path) -> bool:
    return believed_age(time.time() - _changed_at(path)) > SILENT_S


def _is_within(path: Path, place: Path) -> bool:
    try:
        return path.resolve().is_relative_to(place.resolve())
    except (OSError, ValueError):
        return False


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()
