"""Everything that is live, put together from the settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from trackrecord.process.machines import this_machine
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord_producers.publishing.publisher import Publisher

from ..history.capture_counts import CountedSinks
from ..history.counts import ReadingCounts
from ..history.reading import LogReading, read_and_publish
from ..history.sink import SpoolingSink
from ..history.state import CaptureState
from ..history.thrown_away import read_repositories
from ..outcome import outcome_of
from ..projects import RunProjects, run_projects
from ..sources.register import known_sources
from ..sources.source import Log, Source
from ..sources.tool_words import tool_words
from .live import Live
from .watching import LiveReader


def live_of(settings: DaemonSettings, captured: CountedSinks | None = None) -> Live:
    """Build the live capture, ready to be started.

    Args:
        settings: the daemon's settings.
        captured: counts what is published.
    """
    projects = run_projects(settings.capture, settings.home)
    return Live(
        settings,
        known_sources(),
        partial(_reading, settings, projects, captured),
        projects.of,
    )


@contextmanager
def _reading(
    settings: DaemonSettings, projects: RunProjects, captured: CountedSinks | None
) -> Iterator[LiveReader]:
    """Open the reader of logs that publishes their new parts; the thread that opens it uses it."""
    publisher = Publisher(lambda: settings)
    reading = LogReading(
        outcome_of=partial(
            outcome_of,
            rules=settings.capture,
            projects=projects,
            tool_words=tool_words(),
            machine=this_machine(),
        ),
        with_automated=settings.capture.programs,
    )
    with CaptureState(settings.home) as state:
        sink = SpoolingSink(publisher, captured)

        def read(source: Source, log: Log) -> str | None:
            return _problem(read_and_publish(source, log, state, sink, reading))

        try:
            yield LiveReader(read, partial(read_repositories, state, sink))
        finally:
            publisher.close()


def _problem(counts: ReadingCounts) -> str | None:
    """Return in one line what could not be read or published."""
    if counts.named:
        path, bad = counts.named[0]
        return f"{path.name}, {bad.place}: {bad.reason}"
    return counts.reasons[0] if counts.reasons else None
