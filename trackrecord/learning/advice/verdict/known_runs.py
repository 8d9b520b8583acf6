"""Known runs: the parts of each run that a verdict needs, computed once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import fsum
from typing import Final, NamedTuple

from ...numbers.decay import decayed
from ..runs.runs import NotedRun, Run

# A source with fewer runs is held to be like the project.
_SOURCE_STRENGTH: Final = 16.0

Feature = tuple[str, ...]
START: Final = "^"
END: Final = "$"


class KnownRun(NamedTuple):
    """A run, as others are compared with it.

    Attributes:
        outcome: its outcome's row.
        task: its task.
        text: the text of its task.
        tools: its tools.
        features: which tool followed which, and which was the last.
        success: whether it succeeded.
        weight: what is left of it by now, 0..1.
        base: how often runs of its source succeeded, as counted.
        prior: the same as it is said of an unknown run: never 0 or 1.
    """

    outcome: int
    task: str
    text: str
    tools: frozenset[str]
    features: frozenset[Feature]
    success: bool
    weight: float
    base: float
    prior: float

    @property
    def surplus(self) -> float:
        """Return how much better the run went than the average of its source."""
        return self.success - self.base


class BaseRate(NamedTuple):
    """The success rate of a set of runs.

    Attributes:
        rate: as counted; that of a source is drawn towards the project's.
        prior: as it is said of an unknown run: half a success and half a failure more.
        runs: the number of runs.
    """

    rate: float
    prior: float
    runs: int


class BaseRates(NamedTuple):
    """The success rates of a project and of its sources.

    Attributes:
        project: all runs.
        sources: the runs of each source, where there are several.
    """

    project: BaseRate
    sources: Mapping[str, BaseRate]

    def of(self, source: str) -> BaseRate:
        """Return the rate of a source, also of one that is not known."""
        return self.sources.get(source, self.project)


def known_runs(
    runs: Iterable[Run], now: float, half_life_days: float
) -> tuple[list[KnownRun], BaseRates]:
    """Return the runs, each once and in a fixed order, and their base rates."""
    unique = {run.outcome: run for run in runs}.values()
    ordered = sorted(unique, key=lambda run: (run.task_id, run.ended_at, run.outcome))
    weights = [decayed(1.0, now - run.ended_at, half_life_days) for run in ordered]
    rates = _base_rates(ordered, weights)
    return [known(run, rates, weight) for run, weight in zip(ordered, weights, strict=True)], rates


def known(run: NotedRun, rates: BaseRates, weight: float = 1.0) -> KnownRun:
    """Return the parts of a run that a verdict needs."""
    base = rates.of(run.source)
    return KnownRun(
        run.outcome,
        run.task_id,
        run.instruction or run.trigger,
        run.tools,
        features_of(run),
        # Of a run that is asked about it is not looked at.
        bool(run.success),
        weight,
        base.rate,
        base.prior,
    )


def features_of(run: NotedRun) -> frozenset[Feature]:
    """Return the pairs of tools that follow each other, and the last tool by itself.

    Equal calls in a row are one; `^` stands before the first tool and `$` after the last one. The
    checks that decided how a run went are left out: they would say nothing but that.
    """
    path = [START]
    for step in run.explaining:
        if step.tool != path[-1]:
            path.append(step.tool)
    last: tuple[Feature, ...] = ((path[-1],),) if len(path) > 1 else ()
    path.append(END)
    return frozenset((*pairwise(path), *last))


def _base_rates(runs: list[Run], weights: list[float]) -> BaseRates:
    by_source: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for run, weight in zip(runs, weights, strict=True):
        by_source[run.source].append((weight, run.success))
    total = _rate([pair for source in sorted(by_source) for pair in by_source[source]], 0.5, 0.0)
    if len(by_source) == 1:
        return BaseRates(total, {})
    return BaseRates(
        total,
        {source: _rate(found, total.rate, _SOURCE_STRENGTH) for source, found in by_source.items()},
    )


def _rate(weighed: list[tuple[float, bool]], usual: float, strength: float) -> BaseRate:
    successes = fsum(weight for weight, success in weighed if success) + strength * usual
    total = fsum(weight for weight, _ in weighed) + strength
    rate = successes / total if total else usual
    return BaseRate(rate, (successes + 0.5) / (total + 1), len(weighed))
