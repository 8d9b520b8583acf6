"""Selection: which competence fits a task best, and how sure that choice is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ..numbers.decay import decayed
from ..numbers.tolerance import ratio_below
from .conditions import UNKNOWN as UNKNOWN_FIT
from .conditions import Fit, parted

if TYPE_CHECKING:
    # Agents rank by these functions, and do without the rules.
    from .rules import CompetenceRules

UNKNOWN = 0.5
_NOTHING_ASKED: Final[Mapping[str, Fit]] = MappingProxyType({})
_PRIOR_EPISODES = 4.0
# From this number of failures on, a procedure is said never to succeed; fewer may be chance.
FAILING_FROM = 3


def success_rate(success_count: int, failure_count: int) -> float:
    """Return successes ÷ episodes; 0.5 without data."""
    total = success_count + failure_count
    return success_count / total if total else UNKNOWN


def expected_success(success_count: int, failure_count: int, base_rate: float) -> float:
    """Return how likely the next success is: the posterior mean, which few episodes hardly move.

    The prior weighs as much as four episodes that succeed as often as the project's tasks do. So 2
    of 2 does not outrank 9 of 10, and a record without episodes stands at the base rate.

    Args:
        success_count: successful episodes.
        failure_count: failed ones.
        base_rate: successes ÷ outcomes of the project, 0..1.
    """
    total = success_count + failure_count
    return (success_count + _PRIOR_EPISODES * base_rate) / (total + _PRIOR_EPISODES)


def recency(last_reinforced_at: float | None, half_life_days: float, now: float) -> float:
    """Return 0.5^(days since last_reinforced_at / half-life); 0.5 without that time.

    A time in the future counts as now.
    """
    if last_reinforced_at is None:
        return UNKNOWN
    return decayed(1.0, now - last_reinforced_at, half_life_days)


def selection_score(*, applicability: float, success: float, recency: float) -> float:
    """Return (applicability + success + recency)/3, each of them 0..1."""
    return (applicability + success + recency) / 3


@dataclass(frozen=True)
class Signals:
    """The three parts of a score, each 0..1.

    Attributes:
        applicability: how well the task fits; the record's confidence if that is unknown.
        success: successes ÷ episodes.
        recency: how lately it was reinforced.
    """

    applicability: float
    success: float
    recency: float

    @property
    def score(self) -> float:
        """Their mean."""
        return selection_score(
            applicability=self.applicability, success=self.success, recency=self.recency
        )


@dataclass(frozen=True)
class Choice:
    """The candidates of one selection, ranked.

    Attributes:
        ranked: (record id, score), the best first, ties by id.
        confidence: 0..1, how far the best stands out.
        needs_more: whether the confidence is too low to act on.
    """

    ranked: tuple[tuple[str, float], ...]
    confidence: float
    needs_more: bool


def choose(
    rules: CompetenceRules, scores: Mapping[str, float], fits: Mapping[str, Fit] = _NOTHING_ASKED
) -> Choice:
    """Rank the candidates and compute the confidence in the first.

    Args:
        rules: from when on a choice needs more.
        scores: the candidates' scores, by id.
        fits: how far the task's conditions agree with the candidates', by id. What agrees better
            ranks above whatever agrees less.
    """
    ranked = tuple(
        sorted(
            scores.items(),
            key=lambda item: (*_descending(fits.get(item[0], UNKNOWN_FIT)), -item[1], item[0]),
        )
    )
    confidence = confidence_of(scores, fits)
    return Choice(ranked, confidence, ratio_below(confidence, rules.needs_more_below))


def confidence_of(scores: Mapping[str, float], fits: Mapping[str, Fit] = _NOTHING_ASKED) -> float:
    """Return the lead of the best candidate, 0..1.

    None: 0. One: its score, at most 1. More: (best − second)/best. What the task's conditions
    contradict is not a rival, and never the best; what agrees with them stands above what says
    nothing of them, see `parted`.

    Args:
        scores: the candidates' scores, by id.
        fits: how far the task's conditions agree with the candidates', by id.
    """
    rivals = {each: score for each, score in scores.items() if not _contradicts(fits, each)}
    best, *others = sorted(parted(rivals, fits).values(), reverse=True) or [0.0]
    if best <= 0:
        return 0.0
    return (best - others[0]) / best if others else min(1.0, best)


def _contradicts(fits: Mapping[str, Fit], candidate: str) -> bool:
    return fits.get(candidate, UNKNOWN_FIT).contradicts


def _descending(fit: Fit) -> tuple[int, int]:
    return -fit.contradictions, -fit.agreements
