"""The trial of hints: what became of failures that were answered, beside those that were not.

At each failure of which something is known a hash decides whether it is told (a micro-randomised
trial: Qian, Walton, Collins, Klasnja, Lanza, Nahum-Shani, Rabbi, Russell, Walton, Yoo, Murphy, The
micro-randomized trial for developing digital interventions, Psychological Methods 2021). The pooled
effect is that of weighted and centred least squares (Boruvka, Almirall, Witkiewitz, Murphy, JASA
113, 2018): each point weighs the inverse of the probability of its arm, kinds of hints have
intercepts of their own, and the standard error is the sandwich with sessions as clusters.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, fsum, isfinite, sqrt
from typing import Final

import msgspec

from .effect.comparison import ArmMean, Measure, fewest_tasks
from .effect.sequence import ALPHA, Interval, interval_around, tasks_for
from .moments.calls import PASSED, RAN, TriedCall, TriedRun, keys_of

# Until so many points each hint is given in half of the cases: 35 points of difference show then.
EVEN_UNTIL: Final = 130
_EVEN: Final = 0.5
_LATER: Final = 0.8
# The difference that a hint at the failure can be hoped to make.
WORTH_KNOWING: Final = 0.35
# What the sequence is narrowest for: a normal mixture is at its narrowest where its information is
# about 8.5 for 1 in 20; after `EVEN_UNTIL` points, half of them withheld, that is this many
# standard deviations. Set by the design of the trial, whatever the data.
_TUNED_TO: Final = 2.0 * sqrt(8.5 / EVEN_UNTIL)
_SOON: Final = 5
_MOST_CALLS: Final = 10
_MOST_BEHIND: Final = 25
# A hook is answered when the call has ended, and clocks are rounded.
_SLACK_S: Final = 0.001
_SHRUNK_WITH: Final = 4.0


def probability_of(points: int) -> float:
    """Return the probability with which a hint is given after so many points of the trial."""
    return _EVEN if points < EVEN_UNTIL else _LATER


class TrialHint(msgspec.Struct, frozen=True, kw_only=True):
    """A hint of the trial, whether the agent was given it or not.

    Attributes:
        session: the session.
        agent: which of its agents; "" for the main one.
        entry: what the hint is about.
        kind: what it tells.
        at: when, seconds since the epoch.
        is_given: whether the agent was given it.
        probability: with which it was given.
        key: the name by which the failing call is known.
        check: the kind of check that it is about; "" for none.
        tool: the tool that failed, with its first words.
    """

    session: str
    agent: str = ""
    entry: str
    kind: str
    at: float
    is_given: bool
    probability: float
    key: str = ""
    check: str = ""
    tool: str = ""

    @property
    def is_random(self) -> bool:
        """Return whether its arm was left to chance."""
        return 0.0 < self.probability < 1.0


class Aftermath(msgspec.Struct, frozen=True):
    """The calls after a failure in its session, in figures.

    Attributes:
        repeated: whether the same call failed again.
        resumed: whether this kind of check ran, or the tool worked, within five calls.
        calls: how many calls it took until then, ten at most.
        success: the verdict on the run; None without one.
    """

    repeated: bool
    resumed: bool
    calls: int
    success: bool | None = None


@dataclass(frozen=True)
class TrialPoint:
    """A hint of the trial with what became of the failure."""

    hint: TrialHint
    aftermath: Aftermath


MEASURES: Final[Mapping[str, Callable[[Aftermath], float | None]]] = {
    "resumed": lambda each: float(each.resumed),
    "repeated": lambda each: float(each.repeated),
    "calls": lambda each: float(each.calls),
    "verdict": lambda each: float(each.success is not None),
    "success": lambda each: None if each.success is None else float(each.success),
}
SHARES: Final = frozenset(MEASURES) - {"calls"}


@dataclass(frozen=True)
class HintComparison:
    """Failures that were answered beside those that were not.

    Attributes:
        measure: "resumed", "repeated", "calls", "verdict" or "success".
        given: the points with the hint.
        withheld: those without.
        difference: with - without; None where there is only one arm.
        interval: its confidence sequence at this moment.
        spread: the standard deviation of what is measured.
    """

    measure: str
    given: ArmMean
    withheld: ArmMean
    difference: float | None = None
    interval: Interval = Interval()  # noqa: RUF009 - frozen
    spread: float = 0.0


@dataclass(frozen=True)
class HintedRun:
    """A run in which a hint was left to chance.

    Attributes:
        outcome: the row of its outcome.
        entry: what the hint was about.
        is_given: whether the agent was given it.
    """

    outcome: int
    entry: str
    is_given: bool


@dataclass(frozen=True)
class HintEffect:
    """The effect of hints.

    Attributes:
        overall: each measure over all points.
        points: how many hints were left to chance.
        waiting: those of which the session is not on record yet.
        needed: how many more points show a difference of 35 in four of five projects.
        behind: the runs of the newest points, the newest first.
    """

    overall: tuple[HintComparison, ...] = ()
    points: int = 0
    waiting: int = 0
    needed: int = 0
    behind: tuple[HintedRun, ...] = ()


def hint_effect_of(
    hints: Iterable[TrialHint],
    runs: Iterable[TriedRun],
    success: Mapping[int, bool | None] | None = None,
) -> HintEffect:
    """Return what hints did; a function of both sets.

    Args:
        hints: of one project, in any order; those that were not left to chance do not count.
        runs: of the same project, in the order of their ends.
        success: the verdicts by the rows of outcomes.
    """
    distinct = {(each.session, each.agent, each.entry): each for each in hints if each.is_random}
    if not distinct:
        return HintEffect()
    sessions: defaultdict[str, list[TriedRun]] = defaultdict(list)
    wanted = {each.session for each in distinct.values()}
    for run in runs:
        if run.session in wanted:
            sessions[run.session].append(run)
    points, behind = [], []
    for _, hint in sorted(distinct.items(), key=lambda item: item[0]):
        own = _run_of(hint, sessions.get(hint.session, ()))
        found = aftermath_of(hint, sessions.get(hint.session, ()), success or {})
        if own is not None and found is not None:
            points.append(TrialPoint(hint, found))
            behind.append((hint.at, HintedRun(own.outcome, hint.entry, hint.is_given)))
    behind.sort(key=lambda each: each[0], reverse=True)
    overall = tuple(compare_points(points, name) for name in MEASURES)
    wait = len(distinct) - len(points)
    newest = tuple(run for _, run in behind[:_MOST_BEHIND])
    return HintEffect(overall, len(distinct), wait, _needed(overall[0]), newest)


def _run_of(hint: TrialHint, runs: Sequence[TriedRun]) -> TriedRun | None:
    """Return the run of its session in which a hint fell."""
    return next((run for run in runs if run.ended_at >= hint.at - _SLACK_S), None)


def aftermath_of(
    hint: TrialHint, runs: Sequence[TriedRun], success: Mapping[int, bool | None]
) -> Aftermath | None:
    """Return what became of a failure; None while its session is not on record.

    Args:
        hint: what was told, or was not.
        runs: the runs of its session, in order.
        success: the verdicts by the rows of outcomes.
    """
    own = _run_of(hint, runs)
    if own is None:
        return None
    later = [
        call
        for run in runs
        for call in run.calls
        if call.at > hint.at - _SLACK_S and (call.failed or call.ran or call.checks)
    ]
    calls = _MOST_CALLS
    for place, call in enumerate(later[: _MOST_CALLS - 1], start=1):
        if _overcomes(call, hint):
            calls = place
            break
    return Aftermath(
        repeated=any(call.failed and hint.key in keys_of(call) for call in later),
        resumed=calls <= _SOON,
        calls=calls,
        success=success.get(own.outcome),
    )


def _overcomes(call: TriedCall, hint: TrialHint) -> bool:
    if hint.check:
        return any(
            check.kind == hint.check and check.state in (PASSED, RAN) for check in call.checks
        )
    return call.ran and call.tool == hint.tool


def compare_points(points: Sequence[TrialPoint], measure: str) -> HintComparison:
    """Compare points with a hint and points without, in one measure.

    Args:
        points: in any order.
        measure: a name of `MEASURES`.
    """
    value = MEASURES[measure]
    rows = [
        _Row(point, float(found))
        for point in points
        if (found := value(point.aftermath)) is not None
    ]
    given, withheld = (_arm(row for row in rows if row.is_given is arm) for arm in (True, False))
    if not (given.tasks and withheld.tasks):
        return HintComparison(measure, given, withheld)
    for name in ("value", "treatment"):
        _centre(rows, name)
    information = fsum(row.weight * row.treatment**2 for row in rows)
    if not information > 0.0:
        return HintComparison(measure, given, withheld)
    difference = fsum(row.weight * row.treatment * row.value for row in rows) / information
    standard_error, spread = _errors(rows, difference, information)
    interval = Interval()
    if _are_enough(measure, given, withheld):
        interval = interval_around(difference, standard_error, spread, ALPHA, _TUNED_TO)
    return HintComparison(measure, given, withheld, difference, interval, spread)


class _Row:
    """A point in the least squares: its weight, its centred treatment and value."""

    __slots__ = ("is_given", "kind", "raw", "session", "treatment", "value", "weight")

    def __init__(self, point: TrialPoint, value: float) -> None:
        hint = point.hint
        self.is_given, self.kind, self.session = hint.is_given, hint.kind, hint.session
        self.weight = 0.5 / (hint.probability if hint.is_given else 1.0 - hint.probability)
        self.treatment = 0.5 if hint.is_given else -0.5
        self.raw = self.value = value


def _centre(rows: Sequence[_Row], name: str) -> None:
    """Take the weighted mean of its kind from each row."""
    sums: defaultdict[str, list[float]] = defaultdict(list)
    weights: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        sums[row.kind].append(row.weight * getattr(row, name))
        weights[row.kind].append(row.weight)
    means = {kind: fsum(sums[kind]) / fsum(weights[kind]) for kind in sums}
    for row in rows:
        setattr(row, name, getattr(row, name) - means[row.kind])


def _errors(rows: Sequence[_Row], difference: float, information: float) -> tuple[float, float]:
    """Return the standard error with sessions as clusters, and the spread of the residuals.

    The residuals of few sessions are shrunk towards the spread of all, as those of tasks are: five
    of five do not look like certainty.
    """
    residuals = [row.value - difference * row.treatment for row in rows]
    total = fsum(row.weight for row in rows)
    variance = (
        fsum(row.weight * each**2 for row, each in zip(rows, residuals, strict=True))
        / total
        * len(rows)
        / max(1, len(rows) - 2)
    )
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for row, each in zip(rows, residuals, strict=True):
        scores[row.session].append(row.weight * row.treatment * each)
    clusters = len(scores)
    clustered = fsum(fsum(each) ** 2 for each in scores.values()) * clusters / max(1, clusters - 1)
    naive = variance * fsum((row.weight * row.treatment) ** 2 for row in rows)
    shrunk = (clusters * clustered + _SHRUNK_WITH * naive) / (clusters + _SHRUNK_WITH)
    return sqrt(shrunk) / information, sqrt(variance)


def _are_enough(measure: str, given: ArmMean, withheld: ArmMean) -> bool:
    of_share = Measure(measure, lambda _run: None, share=measure in SHARES)
    needed = fewest_tasks(of_share, given, withheld)
    return given.tasks >= needed[0] and withheld.tasks >= needed[1]


def _arm(rows: Iterable[_Row]) -> ArmMean:
    found = list(rows)
    if not found:
        return ArmMean()
    total = fsum(row.weight for row in found)
    return ArmMean(len(found), fsum(row.weight * row.raw for row in found) / total)


def _needed(resumed: HintComparison) -> int:
    """Return how many more points show a difference of 35 in four of five projects."""
    known = resumed.given.tasks + resumed.withheld.tasks
    spread = resumed.spread or 0.5
    withheld = 1.0 - probability_of(known)
    wanted = tasks_for(WORTH_KNOWING, spread, withheld, tuned_to=_TUNED_TO)
    return max(0, ceil(wanted) - known)


def hint_conclusion(found: HintEffect) -> list[str]:
    """Return what is known of hints, in sentences; none while no hint was left to chance."""
    if not found.points:
        return []
    resumed = found.overall[0]
    counted = resumed.given.tasks + resumed.withheld.tasks
    lines = [
        f"{found.points} hints at failures were left to chance, {counted} in sessions on record."
    ]
    difference, interval = resumed.difference, resumed.interval
    if difference is not None and isfinite(interval.high - interval.low):
        lines.append(
            f"Work went on within {_SOON} calls in {_share(resumed.given)} with the hint, in "
            f"{_share(resumed.withheld)} without it: {100 * difference:+.0f} points (interval "
            f"{100 * interval.low:+.0f} to {100 * interval.high:+.0f}){_verdict(interval)}."
        )
    else:
        lines.append("Too few to say whether they help.")
    if found.needed:
        lines.append(
            f"About {found.needed} more until a difference of {100 * WORTH_KNOWING:.0f} points "
            "would show in four of five projects; a smaller one needs many more."
        )
    return lines


def _share(arm: ArmMean) -> str:
    return f"{100 * arm.mean:.0f}% of {arm.tasks}"


def _verdict(interval: Interval) -> str:
    if interval.is_above_zero:
        return "; they help"
    return "; they hurt" if interval.is_below_zero else ", which includes 0"
