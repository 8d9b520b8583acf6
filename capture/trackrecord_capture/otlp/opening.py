"""The buffer of traces, put together from the settings."""

import sqlite3
from functools import partial

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import StoreUnfit
from trackrecord_producers.publishing.publisher import Publisher

from ..history.capture_counts import CountedSinks
from ..history.sink import SpoolingSink
from ..outcome import outcome_of
from ..projects import run_projects
from .recorded_prompts import recorded_prompt
from .trace_buffer import TraceBuffer
from .trace_status import traces_file


def traces_of(settings: DaemonSettings, captured: CountedSinks | None = None) -> TraceBuffer:
    """Return the buffer of traces, ready to be started.

    Args:
        settings: the daemon's settings.
        captured: counts what is published.

    Raises:
        OSError: the home cannot be written.
        StoreUnfit: the file with the traces cannot be used.
    """
    path = traces_file(settings.home)
    publisher = Publisher(lambda: settings)
    projects = run_projects(settings.capture, settings.home)
    try:
        return TraceBuffer(
            path,
            partial(outcome_of, rules=settings.capture, projects=projects),
            SpoolingSink(publisher, captured),
            rules=settings.traces,
            prompt_of=recorded_prompt,
            on_close=publisher.close,
        )
    except sqlite3.Error as error:
        message = f"{path} cannot be used ({error}); move it away to begin a new one"
        raise StoreUnfit(message) from None
