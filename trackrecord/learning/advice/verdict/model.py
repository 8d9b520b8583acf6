"""The verdict: the probability that a run succeeded, from its actions and from similar tasks.

The estimate starts at the base rate of the run's source, in log odds. Terms are added to it: the
tools that followed one another, the runs of similar tasks with similar tools, and, for a task that
recurs, how often it succeeded before. How far each is trusted is expected at first, as it was found
elsewhere; predictions of runs that were left out together with all runs of their task change that,
the more the more tasks there are, so that in the end a term without worth gets none.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final
from zlib import crc32

from ...numbers.decay import DecayRules
from ..runs.runs import NotedRun, Run
from .known_runs import BaseRates, KnownRun, known, known_runs
from .lines import base_line, neighbours_line, steps_line, task_line
from .log_odds import NOTHING, LeftOutRun, Prior, fitted_weight, log_odds, probability_of
from .neighbours import Neighbours
from .steps import StepSums

_STEPS_SHARE: Final = 0.6
_STEPS_PRIOR: Final = Prior(0.5, 0.3)
_NEIGHBOURS_PRIOR: Final = Prior(0.6, 0.3)
# Of a task with other runs both tell about as much as of one without.
_TRUSTED_PRIOR: Final = Prior(1.0, 0.3)
_TASK_STRENGTH: Final = 4.0
# Weights are fitted on so many runs; more would take long and change little.
_MOST_FITTED: Final = 1500


@dataclass(frozen=True)
class Term:
    """A part of a verdict.

    Attributes:
        name: "base rate", "steps", "similar tasks" or "this task".
        log_odds: what it adds, in log odds.
        said: what it was counted from, as a line for people.
    """

    name: str
    log_odds: float
    said: str


@dataclass(frozen=True)
class Judged:
    """A verdict.

    Attributes:
        probability: how probably the run succeeded.
        terms: what that is the sum of; the base rate first.
        is_covered: whether anything but the base rate is known that has to do with the run.
    """

    probability: float
    terms: tuple[Term, ...]
    is_covered: bool


@dataclass(frozen=True)
class Weights:
    """The fitted weights of the terms.

    Attributes:
        steps: the weight of the steps, within their share.
        similar: the weight of similar tasks.
        task: the weight of a recurring task's own rate.
    """

    steps: float = 0.0
    similar: float = 0.0
    task: float = 0.0


class Model:
    """A model of runs; made by `fit`."""

    def __init__(self, runs: list[KnownRun], rates: BaseRates) -> None:
        self.rates = rates
        self.unseen = self.recurring = Weights()
        self._runs = runs
        self._by_task: defaultdict[str, list[KnownRun]] = defaultdict(list)
        for run in runs:
            self._by_task[run.task].append(run)
        self._sums = StepSums(runs)
        self._neighbours = Neighbours(runs)

    def probability(self, run: NotedRun) -> Judged:
        """Return how probably a run succeeded; whether it did is not looked at.

        If the run itself is among the known ones, it does not count.
        """
        asked = known(run, self.rates)
        itself = [
            each for each in self._by_task.get(run.task_id, ()) if each.outcome == run.outcome
        ]
        others = [
            each for each in self._by_task.get(run.task_id, ()) if each.outcome != run.outcome
        ]
        weights = self.recurring if others else self.unseen
        effects = self._sums.effects(asked, itself)
        around = self._neighbours.around(asked, itself)
        steps = _STEPS_SHARE * weights.steps * fsum(each.effect for each in effects)
        terms = [
            Term("base rate", log_odds(asked.prior), self._base_line(run)),
            Term("steps", steps, steps_line(effects)),
            Term("similar tasks", weights.similar * around.term, neighbours_line(around)),
        ]
        if others:
            term = weights.task * _task_term(asked, others)
            terms.append(Term("this task", term, task_line(others)))
        total = fsum(term.log_odds for term in terms)
        is_covered = bool(effects or around.runs or others)
        return Judged(probability_of(total), tuple(terms), is_covered)

    def learn_weights(self) -> None:
        """Fit how far the terms are trusted, on runs that are left out in turn."""
        sample = self._sample()
        without_task = [self._by_task[run.task] for run in sample]
        steps = [
            _STEPS_SHARE * self._sums.term(run, out)
            for run, out in zip(sample, without_task, strict=True)
        ]
        steps_weight = fitted_weight(_examples(sample, [0.0] * len(sample), steps), _STEPS_PRIOR)
        around = [
            self._neighbours.around(run, out).term
            for run, out in zip(sample, without_task, strict=True)
        ]
        given_steps = _examples(sample, [steps_weight * term for term in steps], around)
        self.unseen = Weights(steps_weight, fitted_weight(given_steps, _NEIGHBOURS_PRIOR))
        again = [run for run in sample if len(self._by_task[run.task]) > 1]
        self.recurring = self._fitted_again(again)

    def _fitted_again(self, runs: Sequence[KnownRun]) -> Weights:
        """Return the weights for tasks with other runs: of steps and similar tasks as a whole."""
        unseen = self.unseen
        both = [
            _STEPS_SHARE * unseen.steps * self._sums.term(run, [run])
            + unseen.similar * self._neighbours.around(run, [run]).term
            for run in runs
        ]
        trusted = fitted_weight(_examples(runs, [0.0] * len(runs), both), _TRUSTED_PRIOR)
        rates = [_task_term(run, self._others(run)) for run in runs]
        task = fitted_weight(_examples(runs, [trusted * term for term in both], rates), NOTHING)
        return Weights(trusted * unseen.steps, trusted * unseen.similar, task)

    def _others(self, run: KnownRun) -> list[KnownRun]:
        return [each for each in self._by_task[run.task] if each.outcome != run.outcome]

    def _sample(self) -> list[KnownRun]:
        """Return the runs of as many tasks as may be fitted on, drawn by the tasks' names."""
        drawn: list[KnownRun] = []
        for task in sorted(self._by_task, key=lambda task: (crc32(task.encode()), task)):
            if len(drawn) >= _MOST_FITTED:
                break
            drawn += self._by_task[task][:_MOST_FITTED]
        return drawn

    def _base_line(self, run: NotedRun) -> str:
        base = self.rates.of(run.source)
        source = run.source if base is not self.rates.project else ""
        return base_line(base.prior, source, base.runs)


def fit(
    runs: Iterable[Run],
    *,
    now: float | None = None,
    half_life_days: float = DecayRules.half_life_days,
) -> Model:
    """Fit a model to runs.

    Args:
        runs: of one project; neither their order nor their number of deliveries matters.
        now: the moment that they are weighed for; that of the newest one without it.
        half_life_days: days after which a run counts half.
    """
    found = list(runs)
    newest = max((run.ended_at for run in found), default=0.0)
    model = Model(*known_runs(found, newest if now is None else now, half_life_days))
    model.learn_weights()
    return model


def _examples(
    runs: Sequence[KnownRun], offsets: Sequence[float], terms: Sequence[float]
) -> list[LeftOutRun]:
    return [
        LeftOutRun(run.task, log_odds(run.prior) + offset, term, run.success)
        for run, offset, term in zip(runs, offsets, terms, strict=True)
    ]


def _task_term(run: KnownRun, others: Sequence[KnownRun]) -> float:
    surplus = fsum(each.weight * each.surplus for each in others)
    weight = fsum(each.weight for each in others)
    return log_odds(run.prior + surplus / (weight + _TASK_STRENGTH)) - log_odds(run.prior)
