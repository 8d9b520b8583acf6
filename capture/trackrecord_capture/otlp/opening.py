"""The buffer of traces, put together from the settings."""

import sqlite3
from functools import partial

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import StoreUnfit
from trackrecord_producers.publisher import Publisher

from ..history.sink import SpoolingSink
from ..outcome import outcome_of
from .codex_turns import turn_of
from .trace_buffer import TraceBuffer
from .trace_store import traces_file


def traces_of(settings: DaemonSettings) -> TraceBuffer:
    """Return the buffer of traces, ready to be started.

    Raises:
        OSError: the home cannot be written.
        StoreUnfit: the file with the traces cannot be used.
    """
    path = traces_file(settings.home)
    publisher = Publisher(lambda: settings)
    try:
        return TraceBuffer(
            path,
            partial(outcome_of, rules=settings.capture),
            SpoolingSink(publisher),
            rules=settings.traces,
            turn_of=turn_of,
            on_close=publisher.close,
        )
    except sqlite3.Error as error:
        message = f"{path} cannot be used ({error}); move it away to begin a new one"
        raise StoreUnfit(message) from None
