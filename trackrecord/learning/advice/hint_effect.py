"""The trial of hints: what became of failures that were answered, beside those that were not.

At each failure of which something is known a hash decides whether it is told (a micro-randomised
trial: Qian et al., The micro-randomized trial for developing digital interventions, Psychological
Methods 2021). Failures are compared within the kind of the hint and the probability with which it
was given (Mantel and Haenszel).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, isfinite, sqrt
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from .effect.comparison import ArmMean, Comparison, Measure, fewest_tasks
from .effect.sequence import ALPHA, Interval, interval_around, tasks_for
from .estimates.effects import NO_EFFECT, EffectRun, effects_of
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
# A hook is answered when the call has ended, and clocks are rounded.
_SLACK_S: Final = 0.001
# The standard deviation of a share of a half.
_SPREAD: Final = 0.5


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


class TrialPoint(NamedTuple):
    """A hint of the trial with what became of the failure in its session.

    Attributes:
        hint: the hint.
        resumed: whether this kind of check ran, or the tool worked, within five calls.
        repeated: whether the same call failed again.
    """

    hint: TrialHint
    resumed: bool
    repeated: bool


HintMeasure = Literal["resumed", "repeated"]
_MEASURES: Final[Mapping[HintMeasure, Measure]] = {
    name: Measure(name, lambda _run: None, share=True) for name in get_args(HintMeasure)
}


@dataclass(frozen=True)
class HintEffect:
    """The effect of hints.

    Attributes:
        overall: each measure over all points.
        points: how many hints were left to chance.
        waiting: those of which the session is not on record yet.
        needed: how many more points show a difference of 35 in four of five projects.
    """

    overall: tuple[Comparison, ...] = ()
    points: int = 0
    waiting: int = 0
    needed: int = 0


def hint_effect_of(hints: Iterable[TrialHint], runs: Iterable[TriedRun]) -> HintEffect:
    """Return what hints did; a function of both sets.

    Args:
        hints: of one project, in any order; those that were not left to chance do not count.
        runs: of the same project, in the order of their ends.
    """
    distinct = {(each.session, each.agent, each.entry): each for each in hints if each.is_random}
    if not distinct:
        return HintEffect()
    sessions = runs_by_session(runs, {each.session for each in distinct.values()})
    points = [
        found
        for _, hint in sorted(distinct.items(), key=lambda item: item[0])
        if (found := point_of(hint, sessions[hint.session])) is not None
    ]
    overall = tuple(compare_points(points, name) for name in _MEASURES)
    return HintEffect(overall, len(distinct), len(distinct) - len(points), _needed(overall[0]))


def runs_by_session(
    runs: Iterable[TriedRun], sessions: Iterable[str]
) -> Mapping[str, Sequence[TriedRun]]:
    """Return the runs of each of some sessions, in the order in which they come."""
    found: dict[str, list[TriedRun]] = {session: [] for session in sessions}
    for run in runs:
        if run.session in found:
            found[run.session].append(run)
    return found


def point_of(hint: TrialHint, runs: Sequence[TriedRun]) -> TrialPoint | None:
    """Return what became of a failure; None while its session is not on record.

    Args:
        hint: what was told, or was not.
        runs: the runs of its session, in order.
    """
    since = hint.at - _SLACK_S
    if not any(run.ended_at >= since for run in runs):
        return None
    later = [
        call
        for run in runs
        for call in run.calls
        if call.at > since and (call.failed or call.ran or call.checks)
    ]
    return TrialPoint(
        hint,
        resumed=any(_overcomes(call, hint) for call in islice(later, _SOON)),
        repeated=any(call.failed and hint.key in keys_of(call) for call in later),
    )


def _overcomes(call: TriedCall, hint: TrialHint) -> bool:
    if hint.check:
        return any(
            check.kind == hint.check and check.state in (PASSED, RAN) for check in call.checks
        )
    return call.ran and call.tool == hint.tool


def compare_points(points: Sequence[TrialPoint], measure: HintMeasure) -> Comparison:
    """Compare points with a hint and points without, in one measure.

    Args:
        points: in any order.
        measure: what is compared.
    """
    given, withheld = (_arm(points, measure, is_given=arm) for arm in (True, False))
    found = effects_of(
        EffectRun(
            f"{each.hint.kind} {each.hint.probability}",
            ("given",) if each.hint.is_given else (),
            1.0,
            getattr(each, measure),
        )
        for each in points
    ).get("given", NO_EFFECT)
    compared = _MEASURES[measure]
    if not found.is_known:
        return Comparison(compared, given, withheld)
    interval, needed = Interval(), fewest_tasks(compared, given, withheld)
    if given.tasks >= needed[0] and withheld.tasks >= needed[1]:
        interval = interval_around(found.difference, found.error, _SPREAD, ALPHA, _TUNED_TO)
    return Comparison(compared, given, withheld, found.difference, interval)


def _arm(points: Sequence[TrialPoint], measure: HintMeasure, *, is_given: bool) -> ArmMean:
    found = [getattr(each, measure) for each in points if each.hint.is_given is is_given]
    return ArmMean(len(found), sum(found) / len(found)) if found else ArmMean()


def _needed(resumed: Comparison) -> int:
    """Return how many more points show a difference of 35 in four of five projects."""
    known = resumed.given.tasks + resumed.withheld.tasks
    withheld = 1.0 - probability_of(known)
    wanted = tasks_for(WORTH_KNOWING, _SPREAD, withheld, tuned_to=_TUNED_TO)
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
