"""The calls for the benchmark: a snapshot of the rates, those before it, and the gate."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trackrecord.beside import awaited
from trackrecord.resources.checks import Moment, limit_of, moment_of
from trackrecord.resources.project_store import open_project, read_project

if TYPE_CHECKING:
    from trackrecord.queries.benchmark import BenchmarkRun, Gate

_log = logging.getLogger("trackrecord")
_FEW = 10


def benchmark_run(*, since: Moment | None = None, project: str | None = None) -> BenchmarkRun:
    """Compute a snapshot of the project's rates, append it to the history, and return it.

    Args:
        since: count only outcomes received from this moment on; all when not given.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment = moment_of(since)
    with read_project(project) as here:
        from trackrecord.changes.benchmark import take_snapshot

        return take_snapshot(
            here.connection, here.settings, here.project, since=moment, warn=_log.warning
        )


def benchmark_runs(
    *, at: Moment | None = None, limit: int = _FEW, project: str | None = None
) -> list[BenchmarkRun]:
    """Return the last runs of the benchmark, oldest first, each with what changed since before.

    Args:
        at: only runs up to this moment.
        limit: the maximum number of runs to return.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment, limit = moment_of(at), limit_of(limit)
    with open_project(project) as here:
        from trackrecord.queries.benchmark import read_runs
        from trackrecord.queries.project_rows import project_row
        from trackrecord.store.database.engine import reading

        found = read_runs(here.settings, here.project, at=moment, warn=_log.warning)[-limit:]
        if not found:
            with reading(here.engine) as connection:
                project_row(connection, here.project)
        return found


def benchmark_gate(
    checks: Iterable[str] = (), *, at: Moment | None = None, project: str | None = None
) -> Gate:
    """Return whether the last run of the benchmark is as good as the thresholds demand.

    Args:
        checks: the names of the checks to apply; all of them when not given.
        at: judge the last run up to this moment.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment = moment_of(at)
    with open_project(project) as here:
        from trackrecord.queries.benchmark import judge_last_run

        return judge_last_run(here.settings, here.project, checks, at=moment, warn=_log.warning)


abenchmark_run = awaited(benchmark_run)
abenchmark_runs = awaited(benchmark_runs)
abenchmark_gate = awaited(benchmark_gate)
