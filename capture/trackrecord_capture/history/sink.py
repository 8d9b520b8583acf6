"""The destination of a reading's outcomes: nothing is forgotten before it is safe there."""

from collections import Counter
from typing import Any, Final, Protocol

from trackrecord.errors import ServerUnavailable
from trackrecord_producers.publishing.publisher import Publisher

from .counts import CountedSinks

_WAITING_AT_ONCE: Final = 200
_FLUSH_S: Final = 10.0
_MOST_FLUSHES: Final = 60


class Sink(Protocol):
    """Takes outcomes."""

    def publish(self, fields: dict[str, Any]) -> None:
        """Take one outcome, which may still be on its way afterwards.

        Raises:
            InvalidOutcome: it is not an outcome; the message repeats nothing of its content.
            ServerUnavailable: it cannot be delivered.
        """
        ...

    def settle(self) -> int:
        """Wait until all earlier outcomes are safe; return how many of them were dropped after all.

        Raises:
            ServerUnavailable: they cannot be delivered.
        """
        ...


class SpoolingSink:
    """Publishes through a publisher, which spools what Redis does not take.

    Waits for the publisher instead of filling its queue, which drops what it has no room for.

    Args:
        publisher: takes the outcomes.
        captured: counts those that are lost.
    """

    def __init__(self, publisher: Publisher, captured: CountedSinks | None = None) -> None:
        self._publisher = publisher
        self._captured = captured or CountedSinks()
        self._waiting = 0
        self._dropped = Counter(publisher.drops.by_reason())

    def publish(self, fields: dict[str, Any]) -> None:
        """Hand an outcome to the publisher; wait while too many of them are on their way."""
        self._publisher.publish(fields, is_safe=True)
        self._waiting += 1
        if self._waiting >= _WAITING_AT_ONCE:
            self._wait()

    def settle(self) -> int:
        """Wait until everything is in Redis or in the spool; return the number of dropped outcomes.

        Raises:
            ServerUnavailable: neither Redis nor the spool took it in time.
        """
        self._wait()
        dropped = Counter(self._publisher.drops.by_reason())
        new, self._dropped = dropped - self._dropped, dropped
        self._captured.note_dropped(new)
        return new.total()

    def _wait(self) -> None:
        for _ in range(_MOST_FLUSHES):
            self._publisher.flush(_FLUSH_S)
            if not self._publisher.stats().waiting:
                self._waiting = 0
                return
        message = "neither Redis nor the spool takes outcomes; `trackrecord status` tells more"
        raise ServerUnavailable(message)
