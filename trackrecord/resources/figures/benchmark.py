"""The benchmark of a project's process: its runs, each a snapshot of rates, and the gate."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trackrecord.learning.outcomes.gate import CHECKS, HISTORY_KEPT, GateCheck, judge
from trackrecord.learning.outcomes.rates import Snapshot, changes
from trackrecord.resources.access.project_store import open_project, read_project
from trackrecord.resources.declaration.checks import Limit, Moment, moment_of
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from trackrecord.settings.daemon_settings import DaemonSettings
    from trackrecord.store.advice.benchmark_history import BenchmarkHistory

_log = logging.getLogger("trackrecord")


class BenchmarkSnapshot(Snapshot, Answer, frozen=True, kw_only=True):
    """A project's rates as of one moment; a rate without a denominator is null.

    Attributes:
        project: whose rates.
    """

    _first = ("project",)

    project: str


class BenchmarkRun(BenchmarkSnapshot, frozen=True, kw_only=True):
    """A run of the benchmark, and what changed since the one before it.

    Attributes:
        changes: the change of each rate since the run before; null where one of the two has none.
    """

    changes: dict[str, float | None]


class Gate(Answer, frozen=True, kw_only=True):
    """The judgement of a project's last run.

    Attributes:
        project: whose run.
        passed: whether every check passed.
        at: when the run was made; null when there is none to judge.
        outcomes: how many outcomes counted in it.
        checks: each threshold, applied.
    """

    project: str
    passed: bool
    at: Instant | None
    outcomes: int
    checks: tuple[GateCheck, ...]
    _last: Snapshot | None

    @property
    def last(self) -> Snapshot | None:
        """The run; None when there is none to judge."""
        return self._last

    @property
    def is_of_earlier_version(self) -> bool:
        """Whether the run does not say how retries and limits are spread over tasks."""
        return self._last is not None and self._last.retries is None

    @property
    def without_data(self) -> list[str]:
        """The checks that the run has no data for."""
        return [check.name for check in self.checks if check.value is None]


def read_benchmark(settings: DaemonSettings, project: str) -> list[BenchmarkRun]:
    """Return the runs that are kept of a project, oldest first."""
    snapshots = _history(settings, project).snapshots()
    before = [None, *snapshots]
    return [
        BenchmarkRun.taken(taken, project=project, changes=dict(changes(earlier, taken)))
        for earlier, taken in zip(before, snapshots, strict=False)
    ]


def judge_last_run(settings: DaemonSettings, project: str, names: Iterable[str]) -> Gate:
    """Return whether the last run is as good as the thresholds demand.

    Args:
        settings: the thresholds, and where the history is.
        project: whose run.
        names: the checks to apply; none for all of them.
    """
    runs = read_benchmark(settings, project)
    last = runs[-1] if runs else None
    checks = judge(settings.benchmark, last, tuple(names) or CHECKS)
    return Gate(
        project=project,
        passed=all(check.passed for check in checks),
        at=None if last is None else last.at,
        outcomes=0 if last is None else last.outcomes,
        checks=checks,
        _last=last,
    )


def _history(settings: DaemonSettings, project: str) -> BenchmarkHistory:
    from trackrecord.store.advice.benchmark_history import BenchmarkHistory

    return BenchmarkHistory(settings.home, project, warn=_log.warning)


BENCHMARK = Resource("benchmark", "Measure how a project's work goes, and gate a build on it.")


@BENCHMARK.offers(
    "POST /benchmark/runs",
    rests_on=("outcomes",),
    command="run",
    permission="write",
    status=201,
    option_help={
        "since": "Count only outcomes received from this moment on.  [default: all on record]"
    },
)
def benchmark_run(*, since: Moment | None = None, project: str | None = None) -> BenchmarkSnapshot:
    """Compute a snapshot of the project's rates, and append it to the history.

    Args:
        since: count only outcomes received from this moment on; all when not given.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.store.patterns.process_rates import read_snapshot

        start, rules = moment_of(since), it.settings.rules
        taken = read_snapshot(it.connection, it.project_id, rules, now=time.time(), since=start)
        _history(it.settings, it.project).append(taken, keep=HISTORY_KEPT)
        return BenchmarkSnapshot.taken(taken, project=it.project)


@BENCHMARK.offers(
    "GET /benchmark/runs",
    command="report",
    sorting=sorting_of("runs", "at", at="at", outcomes="outcomes", rate="success_rate"),
)
def benchmark_runs(*, limit: Limit = 10, project: str | None = None) -> list[BenchmarkRun]:
    """Return the last runs of the benchmark, oldest first, each with what changed since before.

    Args:
        limit: the maximum number of runs to return.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        found = read_benchmark(it.settings, it.project)[-limit:]
        if not found:
            _ = it.project_id
        return found


@BENCHMARK.offers("GET /benchmark/gate", command="gate")
def benchmark_gate(checks: Iterable[str] = (), *, project: str | None = None) -> Gate:
    """Return whether the last run of the benchmark is as good as the thresholds demand.

    Args:
        checks: the names of the checks to apply; all of them when not given.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with open_project(project) as here:
        return judge_last_run(here.settings, here.project, checks)
