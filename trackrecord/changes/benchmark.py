"""A run of the benchmark: a snapshot of a project's rates, appended to its history."""

import time

from sqlalchemy import Connection

from trackrecord.benchmark_history import BenchmarkHistory
from trackrecord.daemon_settings import DaemonSettings
from trackrecord.queries.benchmark import BenchmarkRun, Warn
from trackrecord.queries.project_rows import project_row
from trackrecord.store.patterns.process_rates import read_snapshot


def take_snapshot(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    *,
    since: float | None,
    warn: Warn,
) -> BenchmarkRun:
    """Compute a snapshot of a project's rates, and append it to the history.

    Args:
        connection: a reading transaction.
        settings: the rules, and where the history is.
        project: whose rates.
        since: count only outcomes received from this moment on; None for all.
        warn: is called with one line about a history that was set aside.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    taken = read_snapshot(
        connection,
        project_row(connection, project),
        settings.rules,
        now=time.time(),
        since=since,
    )
    BenchmarkHistory(settings.home, project, warn=warn).append(
        taken, keep=settings.benchmark.history_max
    )
    return BenchmarkRun(project, taken)
