"""Measures of predictions, and how far each may be off."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, log, sqrt
from random import Random
from typing import Final, NamedTuple

_BINS: Final = 10
_LEAST: Final = 1e-6
_RESAMPLES: Final = 200


class Prediction(NamedTuple):
    """A prediction for a run that was left out, and its actual outcome.

    Attributes:
        task: the run's task.
        source: the agent that ran it.
        probability: of its success.
        success: whether it succeeded.
    """

    task: str
    source: str
    probability: float
    success: bool


class Figure(NamedTuple):
    """A measured number.

    Attributes:
        value: its mean.
        spread: the standard deviation over splits or over resampled tasks.
    """

    value: float
    spread: float


def over_splits(values: Iterable[float | None]) -> Figure | None:
    """Return the mean over splits; None if none of them could be measured."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean = fsum(known) / len(known)
    return Figure(mean, _deviation(known))


def over_tasks(
    tasks: Sequence[str], measure: Callable[[Counter[str]], float | None], random: Random
) -> Figure | None:
    """Return a measure of all tasks, and its standard deviation over resampled tasks.

    Args:
        tasks: the distinct tasks.
        measure: computes it, given how often each task counts; None where it is not defined.
        random: draws the tasks.
    """
    value = measure(Counter(tasks))
    if value is None:
        return None
    again = (measure(Counter(random.choices(tasks, k=len(tasks)))) for _ in range(_RESAMPLES))
    return Figure(value, _deviation([each for each in again if each is not None]))


def _deviation(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = fsum(values) / len(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def auc(predictions: Iterable[Prediction]) -> float | None:
    """Return how often a success was given a higher probability than a failure of its source.

    Equal probabilities count half. None if no source has both.
    """
    by_source: defaultdict[str, list[Prediction]] = defaultdict(list)
    for each in predictions:
        by_source[each.source].append(each)
    right = pairs = 0.0
    for found in by_source.values():
        more, of = _ordered_pairs(found)
        right += more
        pairs += of
    return right / pairs if pairs else None


def _ordered_pairs(predictions: list[Prediction]) -> tuple[float, int]:
    """Return the pairs of a success and a failure in the right order, and all such pairs."""
    failures: Counter[float] = Counter(each.probability for each in predictions if not each.success)
    successes: Counter[float] = Counter(each.probability for each in predictions if each.success)
    right, below = 0.0, 0
    for probability in sorted(successes.keys() | failures.keys()):
        equal = failures[probability]
        right += successes[probability] * (below + equal / 2)
        below += equal
    return right, successes.total() * failures.total()


def log_loss(predictions: Sequence[Prediction]) -> float | None:
    """Return the mean of −ln(predicted probability of the outcome); None without any."""
    if not predictions:
        return None
    losses = (
        -log(max(_LEAST, each.probability if each.success else 1 - each.probability))
        for each in predictions
    )
    return fsum(losses) / len(predictions)


class Calibration:
    """The distance of predictions from observed frequencies, in ten bins of equal width.

    Args:
        predictions: of all splits together.
    """

    def __init__(self, predictions: Sequence[Prediction]) -> None:
        self._sums: defaultdict[tuple[int, str], list[float]] = defaultdict(lambda: [0, 0.0])
        for each in predictions:
            bin_ = min(_BINS - 1, int(each.probability * _BINS))
            sums = self._sums[bin_, each.task]
            sums[0] += 1
            sums[1] += each.success - each.probability
        self.tasks = sorted({task for _, task in self._sums})

    def error(self, times: Counter[str]) -> float | None:
        """Return Σ over bins of |observed − predicted|, weighted by the predictions in each bin.

        Args:
            times: how often each task counts.
        """
        return self._error(times, times)

    def floor(self, random: Random) -> Figure | None:
        """Return the error of predictions that are right on average, on as few tasks as these.

        It is how far the bins of tasks that are drawn anew lie from the bins as they are.
        """
        once = Counter(self.tasks)
        errors = []
        for _ in range(_RESAMPLES if self.tasks else 0):
            again = Counter(random.choices(self.tasks, k=len(self.tasks)))
            errors.append(self._error(once, {task: again[task] - 1 for task in self.tasks}))
        return over_splits(errors)

    def _error(self, times: Mapping[str, int], factors: Mapping[str, int]) -> float | None:
        bins = [0.0] * _BINS
        total = 0.0
        for (bin_, task), (count, surplus) in self._sums.items():
            bins[bin_] += factors.get(task, 0) * surplus
            total += times.get(task, 0) * count
        return fsum(map(abs, bins)) / total if total else None
