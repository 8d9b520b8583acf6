"""Counts of the outcomes that capture has published in this process, by origin."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from trackrecord.wire.outcome import CapturedFrom

_OTHER: Final = "other"
_TRACES: Final[CapturedFrom] = "traces"


@dataclass(frozen=True)
class CapturedCounts:
    """The counts at a moment.

    Attributes:
        published: the entries that were published, by source.
        dropped: the entries that were lost, by reason.
    """

    published: dict[str, int]
    dropped: dict[str, int]


class CountedSinks:
    """Counts what sinks take, from any thread.

    Args:
        agents: the names of agents that are counted each; of all others, traces are counted apart.
    """

    def __init__(self, agents: Collection[str] = ()) -> None:
        self._agents = frozenset(agents)
        self._lock = Lock()
        # From 0, so that the first entry is seen as a rise.
        self._published = Counter[str](dict.fromkeys((*agents, _TRACES), 0))
        self._dropped = Counter[str]()

    def note(self, fields: Mapping[str, Any]) -> None:
        """Count an entry that was published."""
        source = fields.get("source")
        if source not in self._agents:
            source = _TRACES if fields.get("captured_from") == _TRACES else _OTHER
        with self._lock:
            self._published[source] += 1

    def note_dropped(self, new: Mapping[str, int]) -> None:
        """Count entries that were lost, by reason."""
        with self._lock:
            self._dropped.update(new)

    def counts(self) -> CapturedCounts:
        """Return the counts as of now."""
        with self._lock:
            return CapturedCounts(dict(self._published), dict(self._dropped))
