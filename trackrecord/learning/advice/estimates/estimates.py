"""Estimates: the rate of success of every procedure, pattern and kind of task of a project.

The levels, from the most to the least specific: a procedure at one kind of task, the procedure at
any task, the kind of task, the project. A procedure's prior is the rate that its tasks have
otherwise, a kind's is that of the project. Runs and successes are counted for each of them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import groupby
from math import exp2, fsum
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from ...competences.episodes.actors import USER
from ...competences.episodes.signatures import signature_of
from ...competences.record import typical_order
from ...numbers.decay import decayed
from ...numbers.percent import percent
from ...numbers.speakers import is_enough, tells_alone
from ...numbers.tolerance import ratio_at_least
from ..runs.attempts import TaskAttempt, attempts_of, without_order
from ..runs.runs import Run
from ..tasks.kinds import Kinds, find_kinds
from .effects import (
    NO_EFFECT,
    Effect,
    EffectRun,
    effect_in_kind,
    effects_of,
    surely_better,
    within_kinds,
)
from .posterior import DecayedTally, Posterior, TallySum, base_rate, cautious_mean, posterior_of

# The best way of doing a task changes with the code and the services that it meets: evidence weighs
# half after 80 newer runs of four ways, after more where there are more ways.
_RUNS_OF_A_WAY: Final = 20.0
_LEAST_RUNS: Final = 80.0

_Key = TypeVar("_Key", int, str)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A run with its weight and derived values.

    Attributes:
        run: the run.
        weight: how much it counts for its age, 0..1.
        kind: the position of its kind of task.
        procedure: the signature of its procedure; "" if it used no tools.
    """

    run: Run
    weight: float
    kind: int
    procedure: str

    @property
    def said(self) -> tuple[str, float, bool]:
        """Return its task, its weight, and whether it reached its goal."""
        return self.run.task_id, self.weight, self.run.success


@dataclass(frozen=True)
class RunCounts:
    """The counts over the runs of a project.

    Attributes:
        kinds: the kinds of task.
        total: all runs.
        by_kind: the runs of each kind of task, by position.
        by_procedure: the runs of each procedure; those without tools under "".
        by_procedure_and_kind: the same by procedure, then by kind.
        by_pattern: the runs that touch each pattern.
        by_pattern_and_kind: the same by pattern, then by kind.
    """

    kinds: Kinds
    total: DecayedTally
    by_kind: Mapping[int, DecayedTally]
    by_procedure: Mapping[str, DecayedTally]
    by_procedure_and_kind: Mapping[str, Mapping[int, DecayedTally]]
    by_pattern: Mapping[str, DecayedTally]
    by_pattern_and_kind: Mapping[str, Mapping[int, DecayedTally]]


def procedure_of(run: Run) -> str:
    """Return the signature of a run's procedure, the set of its tools; "" without tools."""
    return signature_of(run.order)


def weighed(runs: Iterable[Run], kinds: Kinds, now: float, half_life_days: float) -> list[Weighed]:
    """Return each run once with its weight, in the order in which they ended.

    Evidence weighs half after so many days, and after so many newer runs of its kind of task that
    each way of doing it could be tried `_RUNS_OF_A_WAY` times. Sums over it do not depend on the
    order of delivery: runs that ended at one moment weigh the same.
    """
    ordered = distinct(runs)
    positions = kinds.positions(ordered)
    newer: Counter[int] = Counter()
    ages: dict[tuple[int, float], int] = {}
    ways: defaultdict[int, set[tuple[str, ...]]] = defaultdict(set)
    for run, kind in zip(reversed(ordered), reversed(positions), strict=True):
        ages.setdefault((kind, run.ended_at), newer[kind])
        newer[kind] += 1
        ways[kind].add(tuple(run.patterns) or (procedure_of(run),))
    half_lives = {kind: max(_LEAST_RUNS, _RUNS_OF_A_WAY * len(ways[kind])) for kind in ways}
    found = [
        Weighed(
            run,
            decayed(1.0, now - run.ended_at, half_life_days)
            * exp2(-ages[kind, run.ended_at] / half_lives[kind]),
            kind,
            procedure_of(run),
        )
        for run, kind in zip(ordered, positions, strict=True)
    ]
    return sorted(found, key=lambda each: (each.run.ended_at, each.weight))


def distinct(runs: Iterable[Run]) -> list[Run]:
    """Return each run once, in the order in which they ended."""
    return sorted({run.outcome: run for run in runs}.values(), key=attrgetter("ended_at"))


def count(each_weighed: Iterable[Weighed], kinds: Kinds) -> RunCounts:
    """Count runs."""
    total = TallySum()
    by_kind: dict[int, TallySum] = defaultdict(TallySum)
    procedures, patterns = _ByLabel(), _ByLabel()
    for each in each_weighed:
        total.add(*each.said)
        by_kind[each.kind].add(*each.said)
        procedures.add(each.procedure, each)
        for slug in dict.fromkeys(each.run.patterns):
            patterns.add(slug, each)
    tallies = _tallies(by_kind)
    return RunCounts(kinds, total.tally(), tallies, *procedures.tallies(), *patterns.tallies())


class _ByLabel:
    """The runs of each procedure, or of each pattern: all of them, and by kind of task."""

    def __init__(self) -> None:
        self._whole: dict[str, TallySum] = defaultdict(TallySum)
        self._cells: dict[str, dict[int, TallySum]] = defaultdict(lambda: defaultdict(TallySum))

    def add(self, label: str, each: Weighed) -> None:
        """Count one run."""
        self._whole[label].add(*each.said)
        self._cells[label][each.kind].add(*each.said)

    def tallies(self) -> tuple[dict[str, DecayedTally], dict[str, dict[int, DecayedTally]]]:
        """Return the counts by label, and by label and kind."""
        cells = {label: _tallies(found) for label, found in sorted(self._cells.items())}
        return _tallies(self._whole), cells


def _tallies(sums: Mapping[_Key, TallySum]) -> dict[_Key, DecayedTally]:
    return {key: sums[key].tally() for key in sorted(sums)}


def usual_orders(runs: Sequence[Run]) -> dict[str, tuple[str, ...]]:
    """Return the tools of each procedure in the order that its successful runs mostly used.

    Where none succeeded, all its runs count; of equally frequent orders, the first one by name.
    """
    seen: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    worked: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for run in runs:
        procedure = procedure_of(run)
        seen[procedure][run.order] += 1
        if run.success:
            worked[procedure][run.order] += 1
    return {
        name: typical_order(worked.get(name) or orders) for name, orders in sorted(seen.items())
    }


def recipes_among(orders: Mapping[str, Sequence[str]], runs: Sequence[Run]) -> frozenset[str]:
    """Return the procedures that can be recommended: most of their successes kept to their order.

    Args:
        orders: the tools of each procedure in the order that its successful runs mostly used.
        runs: the runs of all of them.
    """
    won: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for run in runs:
        if run.success:
            procedure = procedure_of(run)
            # Several calls of one tool in a row are one.
            calls = groupby(step.tool for step in run.steps if step.actor != USER)
            won[procedure] += 1
            kept[procedure] += tuple(tool for tool, _ in calls) == tuple(orders[procedure])
    return frozenset(
        procedure
        for procedure, count in won.items()
        if orders[procedure] and 2 * kept[procedure] > count
    )


_NONE: Final = DecayedTally()
_UNPLACED: Final = TaskAttempt(None, 0, is_after_success=False)
_PROCEDURES: Final = "procedures"
_PATTERNS: Final = "patterns"
# An entry is recommended if the odds are three to one that it does better than is done otherwise:
# this is a quarter of a normal distribution, as a share of the 5% that an interval leaves out.
_QUARTER: Final = 0.674 / 1.645


class Level(StrEnum):
    """The levels that an estimate can come from, most specific first."""

    PROCEDURE_IN_KIND = "procedure in kind"
    PROCEDURE = "procedure"
    PATTERN_IN_KIND = "pattern in kind"
    PATTERN = "pattern"
    KIND = "kind"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Estimate:
    """An expected success rate, and the part of it that is the subject's own doing.

    Attributes:
        level: the most specific level that has runs.
        tally: the runs of that level.
        usual: the rate that such tasks have otherwise, which is expected without a run.
        posterior: the rate of success.
        order_key: the rate by which things are put in order, in which few runs never lead.
        drawn: the rate as draws have it, whose prior has seen what faded of the tally.
        effect: the difference to what such tasks do otherwise.
        is_surely_better: whether that is above 0 by more than chance, however many were tested.
    """

    level: Level
    tally: DecayedTally
    usual: float
    posterior: Posterior
    order_key: float
    drawn: Posterior
    effect: Effect = NO_EFFECT
    is_surely_better: bool = False

    @property
    def is_worth_recommending(self) -> bool:
        """Return whether it is probably better than other runs of such tasks.

        Where nothing else was tried at such tasks: whether it does no worse than is expected.
        """
        if not self.effect.is_known:
            return ratio_at_least(self.posterior.mean, self.usual)
        below = self.effect.difference - self.effect.low
        return self.effect.difference - _QUARTER * below > 0.0

    @property
    def is_harmful(self) -> bool:
        """Return whether it is almost certainly worse than other runs of such tasks."""
        return self.effect.is_known and self.effect.high < 0.0

    @property
    def is_above(self) -> bool:
        """Return whether it is probably better by at least a point, enough to mention it."""
        return (
            self.effect.is_known
            and self.is_worth_recommending
            and percent(max(0.0, self.effect.difference), 1) >= 1
        )


_IN_KIND: Final = {
    Level.PROCEDURE: Level.PROCEDURE_IN_KIND,
    Level.PATTERN: Level.PATTERN_IN_KIND,
}


@dataclass(frozen=True)
class Effects:
    """The effects of procedures, or of patterns.

    Attributes:
        overall: by label, at all tasks.
        in_kinds: the same at each kind of task alone, by position; nothing where all tasks are of
            one kind.
        better: the labels that such tasks surely go better with, each with the position of a kind
            of task, or None for all tasks.
    """

    overall: Mapping[str, Effect] = field(default_factory=dict)
    in_kinds: Mapping[int, Mapping[str, Effect]] = field(default_factory=dict)
    better: frozenset[tuple[str, int | None]] = frozenset()

    def of(self, label: str, kind: int | None = None) -> Effect:
        """Return the effect of a label: at all tasks, or at a kind of task where that is known."""
        effect = self.overall.get(label, NO_EFFECT)
        part = self.in_kinds.get(kind, {}).get(label) if kind is not None else None
        return effect if part is None else effect_in_kind(effect, part)

    def is_surely_better(self, label: str, kind: int | None = None) -> bool:
        """Return whether such tasks surely go better with a label than otherwise.

        What was found at all tasks holds at a kind of task if nothing there speaks against it.
        """
        if self.of(label, kind).low <= 0.0:
            return False
        return (label, kind) in self.better or (label, None) in self.better


@dataclass(frozen=True)
class Estimates:
    """The estimates of a project.

    Attributes:
        counts: what was counted.
        of_procedures: the effects of procedures.
        of_patterns: the effects of patterns.
        kind_of_runs: the position of the kind of task of each run, by the row of its outcome.
        told: what of the procedures and of the patterns some of the speakers alone tell.
    """

    counts: RunCounts
    of_procedures: Effects
    of_patterns: Effects
    kind_of_runs: Mapping[int, int]
    told: Mapping[str, "SpeakerParts"] = field(default_factory=dict)

    @property
    def kinds(self) -> Kinds:
        """The kinds of task."""
        return self.counts.kinds

    @cached_property
    def project(self) -> Estimate:
        """The rate of all tasks."""
        total = self.counts.total
        posterior = posterior_of(total, 0.5, strength=1.0)
        return Estimate(Level.PROJECT, total, posterior.mean, posterior, posterior.mean, posterior)

    def is_outranked(self, subject: str, label: str) -> bool:
        """Return whether several tell something together at the tasks of what one alone tells.

        Args:
            subject: "procedures" or "patterns".
            label: the procedure or the pattern.
        """
        return subject in self.told and label in self.told[subject].outranked

    def kind(self, position: int) -> Estimate:
        """Return the rate of a kind of task; the project's if it has no runs."""
        tally = self.counts.by_kind.get(position, _NONE)
        if not tally.runs:
            return self.project
        total = self.counts.total
        return _estimate(Level.KIND, tally, base_rate(total.without(tally)), base_rate(total))

    def procedure(self, signature: str, kind: int | None = None) -> Estimate:
        """Return the rate of a procedure, also of one that was never seen.

        Args:
            signature: its tools, sorted and joined.
            kind: the position of the kind of task it is meant for; None for the tasks it was
                used for.
        """
        found = self._found(
            Level.PROCEDURE,
            self.counts.by_procedure_and_kind.get(signature, {}),
            self.counts.by_procedure.get(signature, _NONE),
            self.of_procedures.of(signature, kind),
            kind,
        )
        is_better = self.of_procedures.is_surely_better(signature, kind)
        return replace(self._as_told(_PROCEDURES, signature, found), is_surely_better=is_better)

    def pattern(self, slug: str, kind: int | None = None) -> Estimate:
        """Return the rate of the runs that touch a pattern, also of one without runs.

        Args:
            slug: the pattern.
            kind: the position of a kind of task; None for the tasks that touched it.
        """
        found = self._found(
            Level.PATTERN,
            self.counts.by_pattern_and_kind.get(slug, {}),
            self.counts.by_pattern.get(slug, _NONE),
            self.of_patterns.of(slug, kind),
            kind,
        )
        is_better = self.of_patterns.is_surely_better(slug, kind)
        return replace(self._as_told(_PATTERNS, slug, found), is_surely_better=is_better)

    def _as_told(self, subject: str, label: str, found: Estimate) -> Estimate:
        """Return an estimate that what others do at other tasks speaks not against."""
        usual = self.told[subject].usual.get(label) if subject in self.told else None
        if usual is None or found.effect.is_known:
            return found
        return replace(found, usual=min(found.usual, usual))

    def goes_worse_with(self, slug: str) -> bool | None:
        """Return whether tasks almost certainly go worse with a pattern than such tasks otherwise.

        What is recommended at some kind of task does not go worse. None where nothing else was
        tried at such tasks, so that there is nothing to compare.
        """
        whole = self.pattern(slug)
        if not whole.effect.is_known:
            return None
        kinds = self.counts.by_pattern_and_kind.get(slug, {})
        return whole.is_harmful and not any(self.pattern(slug, kind).is_above for kind in kinds)

    def _found(
        self,
        level: Level,
        cells: Mapping[int, DecayedTally],
        whole: DecayedTally,
        effect: Effect,
        kind: int | None,
    ) -> Estimate:
        total = self.counts.total
        if kind is None:
            if not whole.runs:
                return self.project
            return _estimate(level, whole, self._expected(cells, whole), base_rate(total), effect)
        here = cells.get(kind, _NONE)
        usual, of_kind = self._rate_without(kind, here, whole), self.kind(kind)
        if here.runs:
            return _estimate(_IN_KIND[level], here, usual, of_kind.posterior.mean, effect)
        if not whole.runs:
            return of_kind
        # Of this kind of task nothing was seen yet.
        return replace(_estimate(level, _NONE, usual, of_kind.posterior.mean, effect), tally=whole)

    def _rate_without(self, kind: int, part: DecayedTally, whole: DecayedTally) -> float:
        """Return the rate of a kind of task without the estimated part, so that it counts once.

        Args:
            kind: the position of the kind of task.
            part: what is estimated, of this kind.
            whole: the same, of all kinds.
        """
        rest = self.counts.by_kind.get(kind, _NONE).without(part)
        return posterior_of(rest, base_rate(self.counts.total.without(whole))).mean

    def _expected(self, cells: Mapping[int, DecayedTally], whole: DecayedTally) -> float:
        """Return the rate that the tasks of these runs have in the other runs of their kinds."""
        expected = fsum(
            tally.decayed_runs * self._rate_without(kind, tally, whole)
            for kind, tally in cells.items()
        )
        runs = fsum(tally.decayed_runs for tally in cells.values())
        return expected / runs if runs > 0.0 else base_rate(self.counts.total.without(whole))


def _estimate(
    level: Level,
    tally: DecayedTally,
    usual: float,
    common: float,
    effect: Effect = NO_EFFECT,
) -> Estimate:
    """Return an estimate.

    In an order all start from the same prior: few runs at easy tasks must not lead. In a draw each
    starts from what faded of its own, or what was bad long ago would be tried for ever.

    Args:
        level: whose runs are counted.
        tally: these runs.
        usual: the rate that such tasks have otherwise, which is expected without a run.
        common: the rate that all things that are put in one order are expected to have.
        effect: the difference to what such tasks do otherwise.
    """
    faded = DecayedTally(
        decayed_runs=tally.runs - tally.decayed_runs,
        decayed_successes=tally.successes - tally.decayed_successes,
    )
    return Estimate(
        level,
        tally,
        usual,
        posterior_of(tally, usual),
        cautious_mean(tally, common),
        posterior_of(tally, posterior_of(faded, common).mean),
        effect,
    )


def estimate(runs: Iterable[Run], *, now: float, half_life_days: float) -> Estimates:
    """Return the estimates of a project.

    Args:
        runs: its runs, in any order; a run that stands there twice counts once.
        now: the moment to answer for, seconds since the epoch.
        half_life_days: days after which a run counts half.
    """
    runs = distinct(runs)
    kinds = find_kinds(runs)
    found = weighed(runs, kinds, now, half_life_days)
    attempts = attempts_of(runs)
    attempts |= dict.fromkeys(without_order(runs, attempts), _UNPLACED)
    trials = {
        _PROCEDURES: _by_kind(found, attempts, lambda each: (each.procedure,), kinds.other),
        _PATTERNS: _by_kind(found, attempts, lambda each: each.run.patterns, kinds.other),
    }
    told = {
        _PROCEDURES: _told(found, lambda each: (each.procedure,)),
        _PATTERNS: _told(found, lambda each: each.run.patterns),
    }
    effects = {
        (subject, kind): _confirmed(
            within_kinds(part) if kind is None else effects_of(part), told[subject]
        )
        for subject, parts in trials.items()
        for kind, part in parts
    }
    # All are tested together: what is said of procedures and of patterns stands in one prompt.
    better = surely_better(effects.items())
    of_procedures, of_patterns = (
        Effects(
            effects[subject, None],
            {
                kind: each
                for (of, kind), each in effects.items()
                if of == subject and kind is not None
            },
            frozenset((label, kind) for (of, kind), label in better if of == subject),
        )
        for subject in trials
    )
    return Estimates(
        count(found, kinds),
        of_procedures,
        of_patterns,
        {each.run.outcome: each.kind for each in found},
        told,
    )


class SpeakerParts(NamedTuple):
    """The procedures, or the patterns, that only some of the speakers report.

    Attributes:
        alone: what one alone tells, of kinds of task that others work on, too.
        unlike: what all tell but one alone, of these: there is nobody else to compare it with.
        outranked: that of kinds of task of which several tell something together.
        usual: of what not all speakers tell, how often the other runs of those who do succeed.
    """

    alone: frozenset[str]
    unlike: frozenset[str]
    outranked: frozenset[str]
    usual: Mapping[str, float]


def _told(
    found: Sequence[Weighed], labels_of: Callable[[Weighed], tuple[str, ...]]
) -> SpeakerParts:
    workers: defaultdict[int, set[str]] = defaultdict(set)
    tellers: defaultdict[str, set[str]] = defaultdict(set)
    seen_in: defaultdict[str, set[int]] = defaultdict(set)
    runs: Counter[tuple[int, str]] = Counter()
    runs_with: Counter[tuple[str, int, str]] = Counter()
    # Decayed runs and successes, by speaker and by label.
    total: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    own: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for each in found:
        workers[each.kind].add(each.run.speaker)
        labels = set(labels_of(each))
        for sums in (total[each.run.speaker], *(own[label] for label in labels)):
            sums[0] += each.weight
            sums[1] += each.weight * each.run.success
        runs[each.kind, each.run.speaker] += 1
        for label in labels:
            runs_with[label, each.kind, each.run.speaker] += 1
            tellers[label].add(each.run.speaker)
            seen_in[label].add(each.kind)
    alone = frozenset(
        label
        for label, kinds in seen_in.items()
        if any(tells_alone(tellers[label], workers[kind]) for kind in kinds)
    )
    unlike = frozenset(
        label
        for label, kinds in seen_in.items()
        for workers_there in (set().union(*(workers[kind] for kind in kinds)),)
        if tells_alone(
            {
                speaker
                for kind in kinds
                for speaker in workers[kind]
                if runs[kind, speaker] > runs_with[label, kind, speaker]
            },
            workers_there,
        )
    )
    together = {
        kind for label, kinds in seen_in.items() if is_enough(tellers[label]) for kind in kinds
    }
    outranked = frozenset(label for label in alone if not together.isdisjoint(seen_in[label]))
    usual = {}
    for label, speakers in tellers.items():
        if len(speakers) < len(total):
            tried, won = (
                max(0.0, fsum(total[each][place] for each in speakers) - own[label][place])
                for place in (0, 1)
            )
            usual[label] = base_rate(DecayedTally(decayed_runs=tried, decayed_successes=won))
    return SpeakerParts(alone, unlike, outranked, usual)


_Parts = list[tuple[int | None, list[EffectRun]]]


def _by_kind(
    found: Sequence[Weighed],
    attempts: Mapping[int, TaskAttempt],
    labels_of: Callable[[Weighed], tuple[str, ...]],
    no_kind: int,
) -> _Parts:
    """Return the trials at all tasks, and where there are several kinds of task, at each."""
    in_kinds: defaultdict[int, list[Weighed]] = defaultdict(list)
    for each in found:
        in_kinds[each.kind].append(each)
    parts = sorted(in_kinds.items()) if len(in_kinds) > 1 else []
    return [
        (None, list(_trials(found, attempts, labels_of, no_kind))),
        *((kind, list(_trials(part, attempts, labels_of, no_kind))) for kind, part in parts),
    ]


def _confirmed(effects: Mapping[str, Effect], told: SpeakerParts) -> dict[str, Effect]:
    """Return effects without those that one speaker's own runs alone tell of."""
    return {
        label: NO_EFFECT
        if label in told.unlike or (label in told.alone and effect.difference > 0)
        else effect
        for label, effect in effects.items()
    }


def _trials(
    found: Sequence[Weighed],
    attempts: Mapping[int, TaskAttempt],
    labels_of: Callable[[Weighed], tuple[str, ...]],
    no_kind: int,
) -> Iterable[EffectRun]:
    """Return the runs as trials: each within its task, or within its kind at the same attempt.

    A task whose runs all did the same has nothing to compare them with. Where its kind is known,
    they are compared with other tasks of the kind, and count as one run together, for they share
    what their task is like.
    """
    labels = [tuple(sorted(set(labels_of(each)))) for each in found]
    done: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    runs: Counter[str] = Counter()
    for each, did in zip(found, labels, strict=True):
        if (task := attempts[each.run.outcome].task) is not None:
            done[task].add(did)
            runs[task] += 1
    for each, did in zip(found, labels, strict=True):
        attempt = attempts[each.run.outcome]
        if attempt.task is not None and (len(done[attempt.task]) > 1 or each.kind == no_kind):
            stratum, alike = f"task {attempt.task}", 1
        elif attempt is _UNPLACED:
            # Compared with nothing.
            stratum, alike = f"outcome {each.run.outcome}", 1
        else:
            since = "a success" if attempt.is_after_success else "no success"
            stratum = f"kind {each.kind} after {attempt.failures} failures and {since}"
            alike = 1 if attempt.task is None else runs[attempt.task]
        yield EffectRun(
            stratum,
            did,
            each.weight / alike,
            each.run.success,
            each.run.task_id,
            stratum.startswith("task "),
        )
