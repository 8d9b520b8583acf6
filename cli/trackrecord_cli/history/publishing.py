"""The sink of an import: outcomes go to Redis batch by batch, and are counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from trackrecord_producers.publishing.checked_outcomes import CheckedOutcome

if TYPE_CHECKING:
    from ..publishing import Publication

_BATCH = 200
_BATCH_BYTES = 4 * 1024 * 1024


class PublicationSink:
    """Takes the outcomes of an import; see `trackrecord_capture.history.sink.Sink`.

    Args:
        publication: publishes them.
        max_bytes: the largest outcome that is allowed.
    """

    def __init__(self, publication: Publication, *, max_bytes: int) -> None:
        self._publication = publication
        self._max_bytes = max_bytes
        self._batch: list[CheckedOutcome] = []
        self._bytes = 0
        self.projects: Counter[str] = Counter()

    def publish(self, fields: dict[str, Any]) -> None:
        """Take one outcome; batches of them go to Redis.

        Raises:
            InvalidOutcome: it is not an outcome; the message repeats nothing of its content.
            ServerUnavailable: Redis went away.
        """
        from trackrecord_producers.bodies.body import build_wire_body

        outcome_id, body = build_wire_body(fields, max_bytes=self._max_bytes)
        self._batch.append(CheckedOutcome(fields["project"], outcome_id, body))
        self._bytes += len(body)
        self.projects[fields["project"]] += 1
        if len(self._batch) >= _BATCH or self._bytes >= _BATCH_BYTES:
            self.settle()

    def settle(self) -> int:
        """Send everything that was accepted, without dropping any of it.

        Raises:
            ServerUnavailable: Redis went away.
        """
        self._publication.publish(self._batch)
        self._batch, self._bytes = [], 0
        return 0
