"""The effect of advice in words, for someone who can count."""

from math import ceil, isfinite, isinf
from typing import Final

from ...numbers.percent import percent
from .comparison import FEWEST, WORTH_KNOWING, ArmMean, Comparison, EffectReport, fewest_tasks
from .sequence import Interval

VERDICTS: Final = {
    "too few": "too few tasks",
    "outcomes missing": "outcomes are missing",
    "no effect seen": "no effect seen",
    "helps": "it helps",
    "hurts": "it hurts",
}
# From so many repeats for each task on, tasks recur rather than that they are tried again.
_MOSTLY_REPEATS: Final = 2
# From here on the decimals of an amount say nothing.
_LARGE: Final = 100
_UNITS: Final = {"duration": " s"}


def mean_text(comparison: Comparison, arm: ArmMean) -> str:
    """Return the mean of one arm: "83% (342 of 412)", or "12.3 s"."""
    if not arm.tasks:
        return "-"
    if comparison.measure.share:
        return f"{percent(arm.mean, 1)}% ({round(arm.total)} of {arm.tasks})"
    return f"{_amount(arm.mean)}{_UNITS.get(comparison.measure.name, '')} ({arm.tasks} tasks)"


def difference_text(comparison: Comparison) -> str:
    """Return the difference: "+12 points", or "-3.1 s"; "-" without one."""
    if comparison.difference is None:
        return "-"
    unit = " points" if comparison.measure.share else _UNITS.get(comparison.measure.name, "")
    return _signed(comparison, comparison.difference) + unit


def interval_text(comparison: Comparison) -> str:
    """Return the interval: "+1 to +23"; "-" without one."""
    interval: Interval = comparison.interval
    if comparison.difference is None or not isfinite(interval.high - interval.low):
        return "-"
    return f"{_signed(comparison, interval.low)} to {_signed(comparison, interval.high)}"


def _amount(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= _LARGE else f"{value:.2f}"


def _signed(comparison: Comparison, value: float) -> str:
    if comparison.measure.share:
        return f"{100 * value:+.0f}"
    return f"{value:+.0f}" if abs(value) >= _LARGE else f"{value:+.2f}"


def conclusion(report: EffectReport) -> list[str]:
    """Return the conclusion, in sentences."""
    given, withheld = report.tasks
    success = report.success
    if success is None or not given + withheld:
        return [
            "Nothing was handed to a task that ended: pass task_id= to rankings() or context()."
        ]
    if not withheld:
        nothing = f"{given} tasks ended with advice and none without: nothing can be compared."
        return [nothing, "`trackrecord effect --enable` withholds advice from one task in ten."]
    lines = [_verdict(success, report.open)]
    if success.verdict not in ("too few", "outcomes missing"):
        lines.append(
            "The intervals hold however often you look: one in twenty projects, at most, ever sees "
            "one that misses the truth."
        )
    if report.needed:
        lines.append(
            f"About {report.needed} more tasks until a difference of "
            f"{percent(WORTH_KNOWING, 1)} points would show in four of five projects."
        )
        if report.repeats > _MOSTLY_REPEATS * (given + withheld):
            lines.append(
                f"{report.repeats} requests were for a task_id that had been handed advice before, "
                "or withheld it. Each task_id counts once, so few that recur never show an effect: "
                "give each piece of work an id of its own, such as nightly-build-2026-05-04."
            )
    return lines


def _verdict(success: Comparison, waiting: tuple[int, int]) -> str:
    arms = f"{_succeeded(success.given)} with advice, {_succeeded(success.withheld)} without"
    match success.verdict:
        case "helps":
            return f"Advice helps: {arms}: {_range(success)}."
        case "hurts":
            return f"Advice hurts: {arms}: {_range(success)}."
        case "outcomes missing":
            return (
                f"Nothing can be said: {_lacking(success.given, waiting[0])} with advice and "
                f"{_lacking(success.withheld, waiting[1])} without lack an outcome, and what is "
                "missing may be all the difference. Report the outcome of every task."
            )
        case "no effect seen":
            return f"No effect seen: {arms}: {_range(success)}, which includes 0."
        case _:
            return _too_few(success)


def _lacking(arm: ArmMean, waiting: int) -> str:
    return f"{waiting} of {arm.tasks + waiting} tasks"


def _range(comparison: Comparison) -> str:
    return f"{difference_text(comparison)} (interval {interval_text(comparison)})"


def _succeeded(arm: ArmMean) -> str:
    return f"{round(arm.total)} of {arm.tasks} tasks succeeded ({percent(arm.mean, 1)}%)"


def _too_few(success: Comparison) -> str:
    given, withheld = success.given.tasks, success.withheld.tasks
    needed: tuple[float, float] = FEWEST, FEWEST
    if given and withheld:
        needed = fewest_tasks(success.measure, success.given, success.withheld)
    if isinf(max(needed)):
        side = min(given, withheld)
        return f"Nothing can be said while all tasks end alike: {side} on the smaller side so far."
    return (
        f"Too few tasks to say anything: {ceil(needed[0])} with and {ceil(needed[1])} without "
        f"advice are needed among tasks of the same kind, and there are {given} and {withheld}."
    )
