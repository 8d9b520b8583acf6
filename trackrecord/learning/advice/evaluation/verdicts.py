"""Verdicts on runs that were left out, compared with the base rate."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from ...competences.rules import CompetenceRules
from ..runs.runs import Run
from ..verdict.model import fit
from .measures import Calibration, Figure, Prediction, auc, log_loss, over_splits, over_tasks
from .splits import Split

# Of more runs than this, so many are asked about in a split.
_MOST_ASKED: Final = 2000
# A record that never failed is not certain: 2% are left.
_LEAST: Final = 0.02


@dataclass(frozen=True)
class VerdictQuality:
    """The quality of verdicts on unknown runs.

    Attributes:
        auc: how often a success got a higher probability than a failure of the same source.
        log_loss: of the verdicts.
        base_log_loss: of the base rate of the known runs.
        gain: how much lower the log loss is than that of the base rate.
        calibration_error: of all splits' verdicts together; its spread is over tasks.
        calibration_floor: of verdicts that are right on average, on as few tasks.
        coverage: the share of runs of which more than the base rate is known.
        seed_auc: by the rate of the competence record of a run's procedure; 0.5 without one.
        seed_log_loss: the same.
        seed_coverage: the share of runs whose procedure has a record.
    """

    auc: Figure | None
    log_loss: Figure | None
    base_log_loss: Figure | None
    gain: Figure | None
    calibration_error: Figure | None
    calibration_floor: Figure | None
    coverage: Figure | None
    seed_auc: Figure | None
    seed_log_loss: Figure | None
    seed_coverage: Figure | None


@dataclass
class _Answers:
    """The predictions of one split, by predictor."""

    verdicts: list[Prediction]
    base: list[Prediction]
    seed: list[Prediction]
    covered: int
    has_record: int


def verdict_quality(
    splits: Iterable[Split], rules: CompetenceRules, random: Random
) -> VerdictQuality:
    """Measure the verdicts on the left-out runs of each split."""
    answers = list(_answers(splits, rules, random))
    pooled = Calibration([each for answer in answers for each in answer.verdicts])
    return VerdictQuality(
        auc=over_splits(auc(each.verdicts) for each in answers),
        log_loss=over_splits(log_loss(each.verdicts) for each in answers),
        base_log_loss=over_splits(log_loss(each.base) for each in answers),
        gain=over_splits(_gain(each) for each in answers),
        calibration_error=over_tasks(pooled.tasks, pooled.error, random),
        calibration_floor=pooled.floor(random),
        coverage=over_splits(each.covered / len(each.verdicts) for each in answers),
        seed_auc=over_splits(auc(each.seed) for each in answers),
        seed_log_loss=over_splits(log_loss(each.seed) for each in answers),
        seed_coverage=over_splits(each.has_record / len(each.verdicts) for each in answers),
    )


def _answers(splits: Iterable[Split], rules: CompetenceRules, random: Random) -> Iterator[_Answers]:
    for known, asked in splits:
        drawn = asked if len(asked) <= _MOST_ASKED else random.sample(asked, _MOST_ASKED)
        yield _answer(known, drawn, rules)


def _answer(known: Sequence[Run], asked: Sequence[Run], rules: CompetenceRules) -> _Answers:
    model, seed = fit(known), SeedRates(known, rules)
    judged = [model.probability(run) for run in asked]
    rates = [seed.rate(run) for run in asked]
    return _Answers(
        [_predicted(run, each.probability) for run, each in zip(asked, judged, strict=True)],
        [_predicted(run, model.rates.project.prior) for run in asked],
        [
            _predicted(run, 0.5 if rate is None else rate)
            for run, rate in zip(asked, rates, strict=True)
        ],
        sum(each.is_covered for each in judged),
        sum(rate is not None for rate in rates),
    )


def _predicted(run: Run, probability: float) -> Prediction:
    return Prediction(run.task_id, run.source, probability, run.success)


def _gain(answers: _Answers) -> float | None:
    base, verdicts = log_loss(answers.base), log_loss(answers.verdicts)
    return None if base is None or verdicts is None else base - verdicts


class SeedRates:
    """The success rate of each procedure that has a competence record.

    Args:
        runs: what the records are made from.
        rules: from how many successes on a procedure has a record.
    """

    def __init__(self, runs: Iterable[Run], rules: CompetenceRules) -> None:
        self._runs: Counter[frozenset[str]] = Counter()
        self._successes: Counter[frozenset[str]] = Counter()
        for run in runs:
            procedure = frozenset(run.order)
            self._runs[procedure] += 1
            self._successes[procedure] += run.success
        self._from = rules.min_successes

    def rate(self, run: Run) -> float | None:
        """Return the success rate of the record of a run's procedure; None without a record."""
        procedure = frozenset(run.order)
        successes = self._successes[procedure]
        if not procedure or successes < self._from:
            return None
        return min(1 - _LEAST, max(_LEAST, successes / self._runs[procedure]))
