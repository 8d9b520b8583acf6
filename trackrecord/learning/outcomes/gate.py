"""The gate: whether a project's process is as good as it has to be.

An average alone would let one task pass that retried a hundred times among fifty that did not, so
the worst task is judged, too, and the share of the tasks that are over the limit of a single one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..numbers.checks import require, require_ratio
from ..numbers.tolerance import ratio_above
from .rates import MOST_COUNTED, Snapshot, Spread, TaskCount

_RATES: Final = ("rejection_rate", "retry_count", "hard_limit_hits")
_WORST: Final = {"worst_retry_count": "retries", "worst_hard_limit_hits": "limit_hits"}
# The check of the worst task, which has the limit that these tasks are over.
_OVER: Final = {
    "over_retry_count": "worst_retry_count",
    "over_hard_limit_hits": "worst_hard_limit_hits",
}
CHECKS: Final = (*_RATES, *_WORST, *_OVER)
# Benchmark runs of a project; the oldest are dropped first.
HISTORY_KEPT: Final = 100


@dataclass(frozen=True)
class BenchmarkRules:
    """Thresholds of the gate, inclusive.

    Attributes:
        rejection_rate_max: highest share of rejected reviews with which the gate passes.
        retry_count_max: highest average number of retries per task with which the gate passes.
        hard_limit_hits_max: highest average number of hard limits hit per task with which the gate
            passes.
        worst_retry_count_max: highest number of retries of a single task with which the gate
            passes.
        worst_hard_limit_hits_max: highest number of hard limits hit by a single task with which the
            gate passes.
        over_retry_count_max: highest share of tasks with more retries than a single task may have
            with which the gate passes.
        over_hard_limit_hits_max: highest share of tasks that hit more hard limits than a single
            task may with which the gate passes.
    """

    rejection_rate_max: float = 0.3
    retry_count_max: float = 3.0
    hard_limit_hits_max: float = 5.0
    worst_retry_count_max: float = 3.0
    worst_hard_limit_hits_max: float = 5.0
    over_retry_count_max: float = 0.0
    over_hard_limit_hits_max: float = 0.0

    def __post_init__(self) -> None:
        for name in ("rejection_rate_max", "over_retry_count_max", "over_hard_limit_hits_max"):
            require_ratio(name, getattr(self, name))
        for name in ("retry_count_max", "hard_limit_hits_max"):
            value = getattr(self, name)
            require(0 <= value <= 2**53, f"{name} must be 0 or more, not {value}")
        for name in ("worst_retry_count_max", "worst_hard_limit_hits_max"):
            value = getattr(self, name)
            require(
                0 <= value <= MOST_COUNTED, f"{name} must lie in 0..{MOST_COUNTED}, not {value}"
            )


@dataclass(frozen=True)
class GateCheck:
    """One threshold, applied.

    Attributes:
        name: the name of the check, which is that of a rate where a rate is judged.
        value: its value; None when there was no data.
        threshold: the bound that it was compared with.
        operator: how the value is compared with the threshold, as "<=".
        passed: whether the value keeps to the threshold; no data is not a pass.
        tasks: the worst of the tasks that are over the limit of a single task, worst first.
    """

    name: str
    value: float | None
    threshold: float
    operator: str
    passed: bool
    tasks: tuple[TaskCount, ...] = ()


def judge(
    rules: BenchmarkRules, snapshot: Snapshot | None, names: Iterable[str] = CHECKS
) -> tuple[GateCheck, ...]:
    """Compare a snapshot with the thresholds; without outcomes in it, nothing passes."""
    return tuple(_check(rules, snapshot, name) for name in CHECKS if name in set(names))


def _check(rules: BenchmarkRules, snapshot: Snapshot | None, name: str) -> GateCheck:
    value: float | None
    tasks: tuple[TaskCount, ...] = ()
    if name in _RATES:
        value = None if snapshot is None else getattr(snapshot, name)
    else:
        limit: float = getattr(rules, f"{_OVER.get(name, name)}_max")
        spread = _spread(snapshot, _OVER.get(name, name))
        value = spread.share_over(limit) if name in _OVER else spread.highest
        tasks = spread.worst_over(limit)
    threshold: float = getattr(rules, f"{name}_max")
    passed = value is not None and not ratio_above(value, threshold)
    return GateCheck(name, value, threshold, "<=", passed, tasks)


def _spread(snapshot: Snapshot | None, name: str) -> Spread:
    """Return the spread that the worst task is taken from; without any in the run it is empty."""
    spread: Spread | None = None if snapshot is None else getattr(snapshot, _WORST[name])
    return spread or Spread()
