"""The evaluation of advice on recorded runs: what would have been recommended."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Final

from ...competences.rules import CompetenceRules
from ..runs.runs import Run
from .measures import Figure
from .recommendations import Advise, Gold, RecommendationQuality, recommendation_quality

# Fewer runs, or those of fewer tasks, say nothing.
LEAST_RUNS: Final = 10
LEAST_TASKS: Final = 2
_NO_GOLD: Final = Gold()


@dataclass(frozen=True)
class Evaluation:
    """Predictions about runs, compared with their outcomes.

    Attributes:
        runs: the number of runs.
        tasks: the distinct tasks among them.
        sources: the distinct agents that ran them.
        base_rate: successes ÷ runs.
        recommendation: procedures recommended for tasks of which no run is known.
    """

    runs: int
    tasks: int
    sources: int
    base_rate: float
    recommendation: RecommendationQuality


def evaluation_document(found: Evaluation) -> dict[str, Any]:
    """Return an evaluation as a JSON object; shares and measures to six digits."""
    document: dict[str, Any] = _rounded(asdict(found))
    return document


def _rounded(value: Any) -> Any:  # noqa: ANN401 - a part of a document
    if isinstance(value, Figure):
        return _rounded(value._asdict())
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return round(value, 6) if isinstance(value, float) else value


def evaluate_runs(
    runs: Sequence[Run],
    rules: CompetenceRules,
    advise: Advise,
    *,
    seed: int,
    gold: Gold = _NO_GOLD,
) -> Evaluation:
    """Evaluate advice on runs.

    The same runs and seed always give the same figures.

    Args:
        runs: at least `LEAST_RUNS`, of at least `LEAST_TASKS` tasks.
        rules: the rules of competence records, which are the baseline.
        advise: returns, from the runs that are known, what tells a task by its text.
        seed: of all that is drawn.
        gold: what would have been right, where a benchmark says so.
    """
    runs = sorted(runs, key=lambda run: run.outcome)
    random = Random(seed)  # noqa: S311 - draws tasks, guards nothing
    return Evaluation(
        runs=len(runs),
        tasks=len({run.task_id for run in runs}),
        sources=len({run.source for run in runs}),
        base_rate=sum(run.success for run in runs) / len(runs),
        recommendation=recommendation_quality(runs, rules, random, gold, advise),
    )
