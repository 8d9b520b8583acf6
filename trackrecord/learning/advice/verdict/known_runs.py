"""Known runs: what a verdict needs of each run, worked out once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import fsum
from typing import Final, NamedTuple

from ...numbers.decay import decayed
from ..runs import Run

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
        base: how often runs of its source succeed.
    """

    outcome: int
    task: str
    text: str
    tools: frozenset[str]
    features: frozenset[Feature]
    success: bool
    weight: float
    base: float

    @property
    def surplus(self) -> float:
        """How much better it went than runs of its source usually go."""
        return self.success - self.base


class BaseRates(NamedTuple):
    """How often runs succeed.

    Attributes:
        project: all runs.
        sources: the runs of each source, drawn towards all runs where they are few.
        counts: the number of runs of each source.
    """

    project: float
    sources: Mapping[str, float]
    counts: Mapping[str, int]

    def of(self, source: str) -> float:
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


def known(run: Run, rates: BaseRates, weight: float = 1.0) -> KnownRun:
    """Return what a verdict needs of a run."""
    return KnownRun(
        run.outcome,
        run.task_id,
        run.instruction or run.trigger,
        run.tools,
        features_of(run),
        run.success,
        weight,
        rates.of(run.source),
    )


def features_of(run: Run) -> frozenset[Feature]:
    """Return the pairs of tools that follow each other, and the last tool by itself.

    Equal calls in a row are one; `^` stands before the first tool and `$` after the last one.
    """
    path = [START]
    for step in run.steps:
        if step.tool != path[-1]:
            path.append(step.tool)
    last: tuple[Feature, ...] = ((path[-1],),) if len(path) > 1 else ()
    path.append(END)
    return frozenset((*pairwise(path), *last))


def _base_rates(runs: list[Run], weights: list[float]) -> BaseRates:
    by_source: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for run, weight in zip(runs, weights, strict=True):
        by_source[run.source].append((weight, run.success))
    sums = {
        source: (fsum(weight for weight, success in found if success), fsum(w for w, _ in found))
        for source, found in by_source.items()
    }
    successes, total = (fsum(sums[source][part] for source in sorted(sums)) for part in (0, 1))
    project = (successes + 0.5) / (total + 1)
    return BaseRates(
        project,
        {
            source: (s + _SOURCE_STRENGTH * project) / (n + _SOURCE_STRENGTH)
            for source, (s, n) in sums.items()
        },
        {source: len(found) for source, found in by_source.items()},
    )
