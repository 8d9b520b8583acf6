"""The gate: whether a project's process is as good as it has to be."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..numbers.checks import require, require_ratio
from ..numbers.tolerance import ratio_above
from .rates import Snapshot

CHECKS: Final = ("rejection_rate", "retry_count", "hard_limit_hits")
MOST_KEPT: Final = 100_000


@dataclass(frozen=True)
class BenchmarkRules:
    """Thresholds of the gate, each of which still passes, and how many runs are kept.

    Attributes:
        rejection_rate_max: highest share of rejected reviews with which the gate passes.
        retry_count_max: highest average number of retries per task with which the gate passes.
        hard_limit_hits_max: highest average number of hard limits hit per task with which the gate
            passes.
        history_max: number of benchmark runs kept for a project; the oldest are dropped first.
    """

    rejection_rate_max: float = 0.3
    retry_count_max: float = 3.0
    hard_limit_hits_max: float = 5.0
    history_max: int = 100

    def __post_init__(self) -> None:
        require_ratio("rejection_rate_max", self.rejection_rate_max)
        for name in ("retry_count_max", "hard_limit_hits_max"):
            value = getattr(self, name)
            require(0 <= value <= 2**53, f"{name} must be 0 or more, not {value}")
        require(
            1 <= self.history_max <= MOST_KEPT,
            f"history_max must lie in 1..{MOST_KEPT}, not {self.history_max}",
        )


@dataclass(frozen=True)
class GateCheck:
    """One threshold, applied.

    Attributes:
        name: the name of the rate.
        value: its value; None when there was no data.
        threshold: the bound that it was compared with.
        operator: how the value is compared with the threshold, as "<=".
        passed: whether the value keeps to the threshold; no data is not a pass.
    """

    name: str
    value: float | None
    threshold: float
    operator: str
    passed: bool


def judge(
    rules: BenchmarkRules, snapshot: Snapshot | None, names: Iterable[str] = CHECKS
) -> tuple[GateCheck, ...]:
    """Compare a snapshot with the thresholds; without outcomes in it, nothing passes."""
    return tuple(_check(rules, snapshot, name) for name in CHECKS if name in set(names))


def _check(rules: BenchmarkRules, snapshot: Snapshot | None, name: str) -> GateCheck:
    value: float | None = None if snapshot is None else getattr(snapshot, name)
    threshold: float = getattr(rules, f"{name}_max")
    passed = value is not None and not ratio_above(value, threshold)
    return GateCheck(name, value, threshold, "<=", passed)
