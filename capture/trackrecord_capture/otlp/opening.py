"""The buffer of traces, put together from the settings."""

from functools import partial
from pathlib import Path

from trackrecord.daemon_settings import DaemonSettings
from trackrecord_producers.publisher import Publisher

from ..history.sink import SpoolingSink
from ..outcome import outcome_of
from .codex_turns import turn_of
from .trace_buffer import TraceBuffer


def traces_of(settings: DaemonSettings) -> TraceBuffer:
    """Return the buffer of traces, ready to be started.

    Raises:
        OSError: the home cannot be written.
        sqlite3.Error: the file with the traces cannot be opened.
    """
    publisher = Publisher(lambda: settings)
    return TraceBuffer(
        traces_file(settings.home),
        partial(outcome_of, rules=settings.capture),
        SpoolingSink(publisher),
        rules=settings.traces,
        turn_of=turn_of,
        on_close=publisher.close,
    )


def traces_file(home: Path) -> Path:
    """Return the file that keeps the traces."""
    return home / "traces.db"
