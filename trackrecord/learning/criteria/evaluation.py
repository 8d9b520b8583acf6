"""The weighted evaluation: a criterion's score counts by how far the criterion can be relied on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Final

from trackrecord.errors import InvalidScores

from ..text.inert import one_line
from .weights import MAX_NAME, CriterionStanding

# As many as an outcome can name.
MAX_SCORES: Final = 100
DEPRECATED: Final = "deprecated"
LITTLE_EVIDENCE: Final = "little evidence"
NO_FEEDBACK: Final = "no feedback on record"
_QUOTED_CHARS: Final = 60


@dataclass(frozen=True)
class Weight:
    """The reliability of a criterion.

    Attributes:
        weight: 0..1; 0 for a deprecated criterion.
        note: what is to be known about it: "deprecated", "little evidence", "" for nothing.
    """

    weight: float
    note: str = ""


def note_on(*, deprecated: bool, has_little_evidence: bool) -> str:
    """Return why a criterion's weight may be doubted; "" without a reason."""
    if deprecated:
        return DEPRECATED
    return LITTLE_EVIDENCE if has_little_evidence else ""


def weight_of(standing: CriterionStanding) -> Weight:
    """Return how far a criterion can be relied on."""
    return Weight(
        standing.weight,
        note_on(deprecated=standing.deprecated, has_little_evidence=standing.has_little_evidence),
    )


@dataclass(frozen=True)
class WeightedPart:
    """One criterion's part in a weighted evaluation.

    Attributes:
        criterion: its name.
        score: the score that was given, 0..1.
        weight: its weight; 0 for a deprecated criterion, which has no say.
        share: its share of all weights, 0..1; None where all weights are 0.
        note: what is to be known about the weight: "deprecated", "little evidence", why there is
            no evidence, or "".
    """

    criterion: str
    score: float
    weight: float
    share: float | None
    note: str


@dataclass(frozen=True, kw_only=True)
class WeightedEvaluation:
    """Scores on criteria, weighed by how far each criterion can be relied on.

    Attributes:
        score: the weighted mean of the scores, 0..1; None where no criterion has a weight.
        plain_score: the mean of the scores without weights; None without scores.
        total_weight: the sum of the weights.
        parts: the criteria in the order given.
        note: why there is no weighted score; "" where there is one.
    """

    score: float | None
    plain_score: float | None
    total_weight: float
    parts: tuple[WeightedPart, ...]
    note: str


def weighted_evaluation(
    scores: Mapping[str, float], weights: Mapping[str, Weight], *, otherwise: Weight
) -> WeightedEvaluation:
    """Weigh scores on criteria.

    Args:
        scores: the score of each criterion, see `checked_scores`.
        weights: the weights of the criteria that are known.
        otherwise: the weight of any other criterion.
    """
    found = [(name, score, weights.get(name, otherwise)) for name, score in scores.items()]
    total = fsum(each.weight for _, _, each in found)
    parts = tuple(
        WeightedPart(
            name, score, each.weight, each.weight / total if total > 0 else None, each.note
        )
        for name, score, each in found
    )
    return WeightedEvaluation(
        # Never beyond the scores that it is the mean of, whatever floats do.
        score=_mean(parts) if total > 0 else None,
        plain_score=fsum(scores.values()) / len(scores) if scores else None,
        total_weight=total,
        parts=parts,
        note="" if total > 0 else _why_none(parts),
    )


def _mean(parts: Iterable[WeightedPart]) -> float:
    having_a_say = [part for part in parts if part.share]
    mean = fsum(part.score * (part.share or 0.0) for part in having_a_say)
    scores = [part.score for part in having_a_say]
    return min(max(mean, min(scores)), max(scores))


def _why_none(parts: tuple[WeightedPart, ...]) -> str:
    if not parts:
        return "no criterion was given"
    return "no criterion has a say: all weights are 0"


def checked_scores(given: object) -> dict[str, float]:
    """Return scores on criteria as they were given, checked.

    Args:
        given: a mapping of names to scores from 0 to 1; true and false stand for 1 and 0.

    Raises:
        InvalidScores: it is something else; the message names the criterion.
    """
    if not isinstance(given, Mapping):
        message = "scores must be an object that gives each criterion a number from 0 to 1"
        raise InvalidScores(message)
    if len(given) > MAX_SCORES:
        message = f"scores on more than {MAX_SCORES} criteria were given; an outcome names no more"
        raise InvalidScores(message)
    scores: dict[str, float] = {}
    for name, score in given.items():
        checked = checked_name(name)
        if checked in scores:
            message = (
                f"criterion {_shown(checked)} was given twice; spaces around a name do not count"
            )
            raise InvalidScores(message)
        scores[checked] = _checked_score(checked, score)
    return scores


def checked_name(name: object) -> str:
    """Return a criterion's name without the spaces around it.

    Raises:
        InvalidScores: it cannot be one.
    """
    if isinstance(name, str) and 1 <= len(name.strip()) <= MAX_NAME and "\0" not in name:
        return name.strip()
    message = f"a criterion's name has 1 to {MAX_NAME} characters, not {_shown(name)}"
    raise InvalidScores(message)


def _checked_score(name: str, score: object) -> float:
    # A comparison with what is not a number is False.
    if isinstance(score, (bool, int, float)) and 0 <= score <= 1:
        return float(score)
    message = f"the score of {_shown(name)} must be a number from 0 to 1, not {_shown(score)}"
    raise InvalidScores(message)


def _shown(value: object) -> str:
    return one_line(repr(value), _QUOTED_CHARS)
