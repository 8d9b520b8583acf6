"""The benchmark of a project's process: its runs, each a snapshot of rates, and the gate."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from trackrecord.benchmark_history import BenchmarkHistory
from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.outcomes.gate import CHECKS, GateCheck, judge
from trackrecord.learning.outcomes.rates import Snapshot, changes
from trackrecord.times import iso

Warn = Callable[[str], None]


@dataclass(frozen=True)
class BenchmarkRun:
    """A snapshot of a project's rates, and the one before it.

    Attributes:
        project: whose rates.
        snapshot: the rates.
        before: the snapshot of the run before; None for the first one.
    """

    project: str
    snapshot: Snapshot
    before: Snapshot | None = None

    @property
    def changes(self) -> dict[str, float | None]:
        """The change of each rate since the run before."""
        return dict(changes(self.before, self.snapshot))

    def to_document(self) -> dict[str, Any]:
        """Return the snapshot as a JSON object."""
        snapshot = self.snapshot
        moments = {"at": iso(snapshot.at), "since": iso(snapshot.since)}
        return {"project": self.project, **asdict(snapshot), **moments}


@dataclass(frozen=True)
class Gate:
    """The judgement of a project's last run.

    Attributes:
        project: whose run.
        last: the run; None when there is none to judge.
        checks: each threshold, applied.
    """

    project: str
    last: Snapshot | None
    checks: tuple[GateCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def is_of_earlier_version(self) -> bool:
        """Whether the run does not say how retries and limits are spread over tasks."""
        return self.last is not None and self.last.retries is None

    @property
    def without_data(self) -> list[str]:
        """The checks that the run has no data for."""
        return [check.name for check in self.checks if check.value is None]

    def to_document(self) -> dict[str, Any]:
        """Return the judgement as a JSON object."""
        return {
            "project": self.project,
            "passed": self.passed,
            "at": None if self.last is None else iso(self.last.at),
            "outcomes": 0 if self.last is None else self.last.outcomes,
            "checks": [asdict(check) for check in self.checks],
        }


def read_runs(
    settings: DaemonSettings, project: str, *, warn: Warn, at: float | None = None
) -> list[BenchmarkRun]:
    """Return the runs that are kept of a project, oldest first; only those up to a moment."""
    snapshots = _history(settings, project, warn).snapshots()
    if at is not None:
        snapshots = [snapshot for snapshot in snapshots if snapshot.at <= at]
    before = [None, *snapshots]
    return [
        BenchmarkRun(project, taken, earlier)
        for earlier, taken in zip(before, snapshots, strict=False)
    ]


def judge_last_run(
    settings: DaemonSettings,
    project: str,
    names: Iterable[str],
    *,
    warn: Warn,
    at: float | None = None,
) -> Gate:
    """Return whether the last run is as good as the thresholds demand.

    Args:
        settings: the thresholds, and where the history is.
        project: whose run.
        names: the checks to apply; none for all of them.
        warn: is called with one line about a history that was set aside.
        at: judge the last run up to this moment.
    """
    runs = read_runs(settings, project, warn=warn, at=at)
    last = runs[-1].snapshot if runs else None
    return Gate(project, last, judge(settings.benchmark, last, tuple(names) or CHECKS))


def _history(settings: DaemonSettings, project: str, warn: Warn) -> BenchmarkHistory:
    return BenchmarkHistory(settings.home, project, warn=warn)
