"""A worker without wake-ups: it reconnects to Redis, or learns without them.

Kombu waits for ever on a connection that is gone without a word, as a firewall or a host that lost
its power leaves it: the worker reads nothing more, while wake-ups wait.

A Redis whose memory is full takes no wake-ups, but lets entries be read and acknowledged, which
makes room.
"""

from typing import Any, Final

import structlog
from celery import bootsteps, current_app
from celery.worker import state
from celery.worker.consumer import Tasks

from trackrecord.redis.problems import memory_is_full

from ..job_table import DRAIN

_log = structlog.get_logger(__name__)

_CHECK_EVERY_S: Final = 5.0


class StallNotice(bootsteps.StartStopStep):
    """Raise a connection error in the worker's loop when it has stalled: Celery then reconnects."""

    requires = (Tasks,)

    def __init__(self, consumer: Any, **options: Any) -> None:  # noqa: ANN401 - Celery's signature
        super().__init__(consumer, **options)
        self._check: Any = None
        self._connection: Any = None
        self._is_making_room = False
        self._taken_before: int | None = None

    def start(self, consumer: Any) -> None:  # noqa: ANN401 - as above
        """Look every few seconds, for as long as this connection lasts."""
        self._taken_before = None
        # On a connection of its own, which others' silence does not concern.
        self._connection = consumer.app.connection_for_write()
        self._check = consumer.timer.call_repeatedly(_CHECK_EVERY_S, self._look, (consumer,))

    def stop(self, consumer: Any) -> None:  # noqa: ANN401, ARG002 - as above
        """Look no more."""
        if self._check is not None:
            self._check.cancel()
            self._check = None
            self._connection.release()

    def _look(self, consumer: Any) -> None:  # noqa: ANN401 - as above
        """Compare with the last look: idle, wake-ups waiting, and none taken in between."""
        waiting, has_room = self._ask()
        if not has_room and not self._is_making_room:
            self._is_making_room = True
            consumer.pool.apply_async(
                learn_without_wake_up, callback=self._made_room, error_callback=self._made_room
            )
        if state.reserved_requests or not waiting:
            self._taken_before = None
            return
        taken = sum(state.total_count.values())
        if taken == self._taken_before:
            _log.warning("worker_stalled", effect="the worker connects to Redis anew")
            message = "wake-ups are waiting, and this worker reads none"
            raise ConnectionError(message)
        self._taken_before = taken

    def _ask(self) -> tuple[int, bool]:
        """Return how many wake-ups wait, and whether Redis has room.

        Raises:
            ConnectionError: Redis cannot be reached, which the worker has not noticed yet.
        """
        client = self._connection.default_channel.client
        return int(client.llen(DRAIN)), not memory_is_full(client)  # beat always sends a drain

    def _made_room(self, _answer: object) -> None:
        self._is_making_room = False


def learn_without_wake_up() -> None:
    """Learn what waits, in a process of the pool."""
    current_app.tasks[DRAIN]()
