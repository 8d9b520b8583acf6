"""A worker that reads no wake-ups although some are waiting connects to Redis anew.

Kombu stops reading when as many wake-ups as the worker may hold are neither done nor acknowledged.
If Redis goes away at the moment in which they should be acknowledged, they stay so for ever: the
worker reads nothing more, not even that its connection is gone.
"""

from typing import Any, Final

import structlog
from celery import bootsteps
from celery.worker import state
from celery.worker.consumer import Tasks

_log = structlog.get_logger(__name__)

_CHECK_EVERY_S: Final = 5.0


class NoticeStall(bootsteps.StartStopStep):
    """Raise a connection error in the worker's loop when it has stalled: Celery then reconnects."""

    requires = (Tasks,)

    def __init__(self, consumer: Any, **options: Any) -> None:  # noqa: ANN401 - Celery's signature
        super().__init__(consumer, **options)
        self._check: Any = None
        self._taken_before: int | None = None

    def start(self, consumer: Any) -> None:  # noqa: ANN401 - as above
        """Look every few seconds, for as long as this connection lasts."""
        self._taken_before = None
        self._check = consumer.timer.call_repeatedly(_CHECK_EVERY_S, self._look, (consumer,))

    def stop(self, consumer: Any) -> None:  # noqa: ANN401, ARG002 - as above
        """Look no more."""
        if self._check is not None:
            self._check.cancel()
            self._check = None

    def _look(self, consumer: Any) -> None:  # noqa: ANN401 - as above
        """Compare with the last look: idle, wake-ups waiting, and none taken in between."""
        if state.reserved_requests or not _waiting(consumer):
            self._taken_before = None
            return
        taken = sum(state.total_count.values())
        if taken == self._taken_before:
            _log.warning("worker_stalled", effect="the worker connects to Redis anew")
            message = "wake-ups are waiting, and this worker reads none"
            raise ConnectionError(message)
        self._taken_before = taken


def _waiting(consumer: Any) -> int:  # noqa: ANN401 - as above
    """Return how many wake-ups are waiting; asks on a connection of its own.

    Raises:
        ConnectionError: Redis cannot be reached, which the worker has not noticed yet.
    """
    with consumer.app.connection_for_write() as connection:
        client = connection.default_channel.client
        return sum(int(client.llen(queue)) for queue in consumer.app.amqp.queues)
