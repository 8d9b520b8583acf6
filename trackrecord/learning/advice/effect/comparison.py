"""Compare tasks that were given advice with tasks that were not, and tell the effect in words."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, fsum, inf, isfinite, isinf, sqrt
from typing import Final, Literal

from ...numbers.percent import percent
from ..runs.runs import Run
from .sequence import ALPHA, Interval, interval_around, tasks_for
from .trials import Trial, Trials

Verdict = Literal["too few", "outcomes missing", "no effect seen", "helps", "hurts"]

# Below this many tasks in either arm nothing is said: an asymptotic interval needs some, and of
# successes or failures that are rare so many more that tasks·rate·(1 − rate) is 10, by the rate of
# the arm or by that of both.
FEWEST: Final = 20
_FEWEST_BY_VARIANCE: Final = 10.0
# What an arm's variance is shrunk with: as much as so many tasks of the variance of both arms say,
# so that five successes of five do not look like certainty.
_SHRUNK_WITH: Final = 4.0


@dataclass(frozen=True)
class Measure:
    """A measure of tasks that is compared.

    Attributes:
        name: what it is called.
        value: a run's value; None where it was not reported.
        more_is_better: whether a higher value is the better one.
        share: whether it is a share of tasks, and not an amount.
    """

    name: str
    value: Callable[[Run], float | None]
    more_is_better: bool = False
    share: bool = False


SUCCESS: Final = Measure("success", lambda run: float(run.success), more_is_better=True, share=True)
MEASURES: Final = (
    SUCCESS,
    Measure("errors", lambda run: run.error_count),
    Measure("retries", lambda run: run.retry_count),
    Measure("duration", lambda run: None if run.duration_ms is None else run.duration_ms / 1000),
    Measure("tokens", lambda run: run.tokens),
)


@dataclass(frozen=True)
class ArmMean:
    """One arm of a comparison.

    Attributes:
        tasks: its tasks.
        mean: the mean of their values; 0 without tasks.
    """

    tasks: int = 0
    mean: float = 0.0

    @property
    def total(self) -> float:
        """The sum of its values."""
        return self.tasks * self.mean


@dataclass(frozen=True)
class Comparison:
    """Tasks with advice compared with tasks without.

    Attributes:
        measure: what was compared.
        given: the tasks with advice.
        withheld: the tasks without.
        difference: with − without, compared within strata; None where no stratum has both.
        interval: the confidence sequence of the difference at this moment.
        spread: the standard deviation within strata.
        has_gaps: whether one arm lacks outcomes more often than the other, which may be all that
            the difference shows.
    """

    measure: Measure
    given: ArmMean
    withheld: ArmMean
    difference: float | None = None
    interval: Interval = Interval()  # noqa: RUF009 - frozen
    spread: float = 0.0
    has_gaps: bool = False

    @property
    def verdict(self) -> Verdict:
        """Return the conclusion: harm needs no more evidence than help."""
        if self.difference is None or isinf(self.interval.low):
            return "too few"
        if self.has_gaps:
            return "outcomes missing"
        if self.interval.is_above_zero:
            return "helps" if self.measure.more_is_better else "hurts"
        if self.interval.is_below_zero:
            return "hurts" if self.measure.more_is_better else "helps"
        return "no effect seen"


@dataclass
class _Cell:
    """The values of one stratum: those given advice, and those that were not."""

    given: list[float]
    withheld: list[float]


def compare(trials: Iterable[Trial], measure: Measure, alpha: float = ALPHA) -> Comparison:
    """Compare both arms; a function of the set of trials.

    Strata are weighed as Mantel and Haenszel do, by given·withheld ÷ (given + withheld): a stratum
    that has one arm only says nothing about the difference.

    Args:
        trials: in any order.
        measure: what is compared.
        alpha: the share of sequences that may ever miss the truth.
    """
    cells: dict[object, _Cell] = {}
    for trial in trials:
        value = measure.value(trial.run)
        if value is not None:
            cell = cells.setdefault(trial.stratum, _Cell([], []))
            (cell.given if trial.is_given else cell.withheld).append(float(value))
    compared = [cell for cell in cells.values() if cell.given and cell.withheld]
    given = _arm(value for cell in compared for value in cell.given)
    withheld = _arm(value for cell in compared for value in cell.withheld)
    if not compared:
        return Comparison(measure, given, withheld)
    return _compared(measure, given, withheld, compared, alpha)


def _compared(
    measure: Measure, given: ArmMean, withheld: ArmMean, cells: list[_Cell], alpha: float
) -> Comparison:
    of_given, of_withheld = _variances(cells)
    weights = [
        len(cell.given) * len(cell.withheld) / (len(cell.given) + len(cell.withheld))
        for cell in cells
    ]
    total = fsum(weights)
    difference = (
        fsum(
            weight * (_mean(cell.given) - _mean(cell.withheld))
            for weight, cell in zip(weights, cells, strict=True)
        )
        / total
    )
    variance = (
        fsum(
            weight**2 * (of_given / len(cell.given) + of_withheld / len(cell.withheld))
            for weight, cell in zip(weights, cells, strict=True)
        )
        / total**2
    )
    spread = sqrt((of_given + of_withheld) / 2)
    needed = fewest_tasks(measure, given, withheld)
    if given.tasks < needed[0] or withheld.tasks < needed[1]:
        return Comparison(measure, given, withheld, difference, Interval(), spread)
    interval = interval_around(difference, sqrt(variance), spread, alpha)
    return Comparison(measure, given, withheld, difference, interval, spread)


def fewest_tasks(measure: Measure, given: ArmMean, withheld: ArmMean) -> tuple[float, float]:
    """Return how many tasks each arm must have for a conclusion."""
    if not measure.share:
        return FEWEST, FEWEST
    tasks = given.tasks + withheld.tasks
    both = (given.total + withheld.total) / tasks
    return _fewest(given.mean, both), _fewest(withheld.mean, both)


def _fewest(rate: float, both: float) -> float:
    variance = max(rate * (1.0 - rate), both * (1.0 - both))
    return _FEWEST_BY_VARIANCE / variance if variance > 0.0 else inf


def _variances(cells: list[_Cell]) -> tuple[float, float]:
    """Return the variances of both arms within strata, each shrunk towards that of both."""
    given, freedom_given = _squares(cell.given for cell in cells)
    withheld, freedom_withheld = _squares(cell.withheld for cell in cells)
    freedom = freedom_given + freedom_withheld
    both = (given + withheld) / freedom if freedom else 0.0
    return (
        (given + _SHRUNK_WITH * both) / (freedom_given + _SHRUNK_WITH),
        (withheld + _SHRUNK_WITH * both) / (freedom_withheld + _SHRUNK_WITH),
    )


def _squares(cells: Iterable[list[float]]) -> tuple[float, int]:
    """Return the sum of squares around the means of cells, and its degrees of freedom."""
    squares, freedom = [], 0
    for values in cells:
        mean = _mean(values)
        squares += [(value - mean) ** 2 for value in values]
        freedom += len(values) - 1
    return fsum(squares), freedom


def _arm(values: Iterable[float]) -> ArmMean:
    found = list(values)
    return ArmMean(len(found), _mean(found)) if found else ArmMean()


def _mean(values: list[float]) -> float:
    return fsum(values) / len(values)


# The difference in success that a user would want to know about.
WORTH_KNOWING: Final = 0.1


@dataclass(frozen=True)
class EffectReport:
    """The effect of advice.

    Attributes:
        overall: each measure compared over all tasks; those that nobody reported are missing.
        kinds: success by kind of task.
        tasks: the tasks that ended and count: with and without advice.
        open: tasks without an outcome yet: with and without advice.
        empty: tasks that nothing would have been handed to.
        holdout: the share of tasks that was withheld advice last; 0 while none is.
        needed: how many more tasks show a difference of ten points in four of five projects; None
            while no task is withheld, 0 when they are there.
        repeats: exposures of tasks that had been handed something before; a task counts once.
    """

    overall: tuple[Comparison, ...] = ()
    kinds: Mapping[str, Comparison] | None = None
    tasks: tuple[int, int] = (0, 0)
    open: tuple[int, int] = (0, 0)
    empty: int = 0
    holdout: float = 0.0
    needed: int | None = None
    repeats: int = 0

    @property
    def success(self) -> Comparison | None:
        """Return the comparison of success; None without a task."""
        return self.overall[0] if self.overall else None


def effect_of(trials: Trials) -> EffectReport:
    """Return what advice did.

    Args:
        trials: the tasks that were assigned.
    """
    ended = trials.ended
    given = sum(trial.is_given for trial in ended)
    has_gaps = trials.lack_unequally
    overall = [replace(compare(ended, measure), has_gaps=has_gaps) for measure in MEASURES]
    success = overall[0]
    holdout = ended[-1].exposure.holdout if ended else 0.0
    return EffectReport(
        overall=tuple(each for each in overall if each is success or each.given.tasks),
        kinds={kind: replace(each, has_gaps=has_gaps) for kind, each in _by_kind(ended).items()},
        tasks=(given, len(ended) - given),
        open=trials.open,
        empty=trials.empty,
        holdout=holdout,
        needed=_still_needed(success, holdout),
        repeats=trials.repeats,
    )


def _by_kind(trials: tuple[Trial, ...]) -> dict[str, Comparison]:
    kinds: dict[str, list[Trial]] = {}
    for trial in trials:
        kinds.setdefault(trial.kind, []).append(trial)
    # Each kind's sequence has its share of what may go wrong.
    alpha = 0.05 / max(1, len(kinds))
    return {kind: compare(kinds[kind], SUCCESS, alpha) for kind in sorted(kinds)}


def _still_needed(success: Comparison, holdout: float) -> int | None:
    if not 0.0 < holdout < 1.0:
        return None
    known = success.given.tasks + success.withheld.tasks
    spread = success.spread if success.spread > 0.0 else 0.5
    wanted = max(
        tasks_for(WORTH_KNOWING, spread, holdout),
        _fewest_of_both(success, holdout),
    )
    return max(0, wanted - known)


def _fewest_of_both(success: Comparison, holdout: float) -> int:
    needed: tuple[float, float] = FEWEST, FEWEST
    if success.given.tasks and success.withheld.tasks:
        needed = fewest_tasks(success.measure, success.given, success.withheld)
    given, withheld = (each if isfinite(each) else FEWEST for each in needed)
    return ceil(max(given / (1.0 - holdout), withheld / holdout))


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
