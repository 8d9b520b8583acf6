"""Counting: the runs and successes of the project, its kinds of task, procedures and patterns."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp2
from operator import attrgetter
from typing import Final, TypeVar

from ...competences.episodes.actors import USER
from ...competences.episodes.signatures import signature_of
from ...competences.record import typical_order
from ...numbers.decay import decayed
from ..runs.runs import Run
from ..tasks.kinds import Kinds
from .posterior import DecayedTally, TallySum

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
