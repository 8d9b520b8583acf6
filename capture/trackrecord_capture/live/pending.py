"""Logs that are about to be read: each as soon as nothing is written to it any more."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from trackrecord.settings.service_settings import HookSettings

from ..sources.source import Log, Source

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
