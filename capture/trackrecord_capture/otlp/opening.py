"""The buffer of traces, put together from the settings."""

import sqlite3
from functools import partial
from typing import Final

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import StoreUnfit
from trackrecord_producers.publisher import Publisher

from ..history.sink import SpoolingSink
from ..outcome import outcome_of
from .trace_buffer import TraceBuffer

_FILE: Final = "traces.db"


class OpenTraces(TraceBuffer):
    """The buffer of a home, and the publisher that its outcomes go through.

    Args:
        settings: the daemon's settings.

    Raises:
        StoreUnfit: the file of the buffer cannot be used.
        OSError: the home cannot be made.
    """

    def __init__(self, settings: DaemonSettings) -> None:
        path = settings.home / _FILE
        self._publisher = Publisher(lambda: settings)
        try:
            super().__init__(
                path,
                partial(outcome_of, rules=settings.capture),
                SpoolingSink(self._publisher),
            )
        except sqlite3.Error as error:
            message = f"{path} cannot be used ({error}); move it away to begin a new one"
            raise StoreUnfit(message) from None

    def close(self) -> None:
        """Stop publishing; what waits is kept on disk, what was published is delivered."""
        super().close()
        self._publisher.close()
