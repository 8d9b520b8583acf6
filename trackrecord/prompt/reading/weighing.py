"""Weighted evaluations for agents: scores on criteria, by the cached weights.

Reads what `rankings()` reads, and waits no longer. Without Redis it weighs by the weights that this
process saw last, else all alike, and says so.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trackrecord.errors import SettingsError
from trackrecord.learning.criteria.evaluation import (
    NO_FEEDBACK,
    Weight,
    WeightedEvaluation,
    checked_scores,
    note_on,
    weighted_evaluation,
)
from trackrecord.learning.criteria.weights import WEIGHT_WITHOUT_FEEDBACK

from ..documents.rankings_document import RankingsDocument
from ..question.question import PromptQuestion, asked_for
from .client import Cached, process_reader

NOT_CACHED: Final = "not among the criteria in the cache"
NOTHING_KNOWN: Final = "no weights are known"


@dataclass(frozen=True, kw_only=True)
class Weighing(WeightedEvaluation):
    """A weighted evaluation, and how far to trust it.

    Attributes:
        project: whose criteria weigh.
        age_s: seconds since the weights were computed, None when there are none.
        is_stale: whether Redis is away and these are the weights that it said last.
        problem: why the weights are stale or missing, None when all is well.
    """

    project: str
    age_s: float | None = None
    is_stale: bool = False
    problem: str | None = None


def weigh(scores: Mapping[str, float], *, project: str | None) -> Weighing:
    """See `trackrecord.weigh`."""
    checked = checked_scores(scores)
    reader, problem = None, None
    try:
        reader = process_reader()
    except SettingsError as error:
        problem = str(error)
    question = asked_for(PromptQuestion("") if reader is None else reader.usual, project=project)
    found = Cached(problem=question.with_(problem))
    if reader is not None and question.names_project:
        found = reader.cached(question.project)
    evaluation = weighted_evaluation(
        checked, _weights(found.document), otherwise=_otherwise(found.document)
    )
    document = found.document
    return Weighing(
        **vars(evaluation),
        project="" if reader is None else question.project,
        age_s=None if document is None else max(0.0, time.time() - document.computed_at),
        is_stale=document is not None and found.problem is not None,
        problem=found.problem,
    )


def _weights(document: RankingsDocument | None) -> dict[str, Weight]:
    if document is None:
        return {}
    return {
        each.criterion: Weight(
            each.weight,
            note_on(deprecated=each.deprecated, has_little_evidence=each.little_evidence),
        )
        for each in document.criteria
    }


def _otherwise(document: RankingsDocument | None) -> Weight:
    if document is None:
        return Weight(WEIGHT_WITHOUT_FEEDBACK, NOTHING_KNOWN)
    is_all = not document.beyond.get("criteria")
    return Weight(WEIGHT_WITHOUT_FEEDBACK, NO_FEEDBACK if is_all else NOT_CACHED)
