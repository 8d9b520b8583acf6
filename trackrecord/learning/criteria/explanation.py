"""Explaining a criterion's weight: its numbers, the rule that decided, and how it would change."""

from collections.abc import Callable, Iterator

from ..numbers.counterfactual import smallest_count
from ..numbers.percent import percent
from ..numbers.verdict_counts import plus_harmful, plus_helpful
from ..text.explanation import Explanation, more
from .weights import (
    FLOOR,
    LITTLE_EVIDENCE_BELOW,
    CriteriaRules,
    CriterionEvidence,
    CriterionStanding,
    criterion_standing,
)


def explain_criterion(rules: CriteriaRules, standing: CriterionStanding) -> Explanation:
    """Explain a criterion's weight."""
    return Explanation(
        because=(
            _why_weight(standing),
            _why_deprecated(rules, standing),
            _how_much_evidence(standing),
        ),
        to_change=tuple(_ways_out(rules, standing)),
    )


def _why_weight(standing: CriterionStanding) -> str:
    evidence = standing.evidence
    share = evidence.helpful_share
    if share is None:
        formula = f"weight {standing.formula_weight:g}: no helpful or harmful feedback"
    else:
        formula = (
            f"weight {standing.formula_weight:.4f}: {evidence.decayed_helpful:.2f} helpful of "
            f"{evidence.decayed_total:.2f} after decay"
        )
        if share < FLOOR:
            formula += f" is {share:.4f}, raised to the floor of {FLOOR:g}"
    return f"{formula}; it counts 0 because it is deprecated" if standing.deprecated else formula


def _why_deprecated(rules: CriteriaRules, standing: CriterionStanding) -> str:
    evidence = standing.evidence
    counted = evidence.helpful + evidence.harmful
    seen = (
        f"{evidence.harmful} of {counted} harmful, undecayed "
        f"({percent(evidence.harmful, counted)}%)"
    )
    threshold = f"{percent(rules.deprecated_above, 1.0)}% of at least {rules.min_feedback}"
    if standing.deprecated:
        return f"deprecated: {seen}, more than {threshold}"
    return f"not deprecated: {seen}; deprecated above {threshold}"


def _how_much_evidence(standing: CriterionStanding) -> str:
    mass = standing.evidence.decayed_total
    if standing.has_little_evidence:
        return f"little evidence: {mass:.2f} after decay, fewer than {LITTLE_EVIDENCE_BELOW:g}"
    return f"evidence: {mass:.2f} after decay, which fades although the weight does not"


def _ways_out(rules: CriteriaRules, standing: CriterionStanding) -> Iterator[str]:
    for verdict, add in (("helpful", plus_helpful), ("harmful", plus_harmful)):

        def changes(count: int, add: _Add = add) -> bool:
            after = criterion_standing(rules, standing.criterion, add(standing.evidence, count))
            return after.deprecated is not standing.deprecated

        count = smallest_count(changes)
        if count is None:
            continue
        after = criterion_standing(rules, standing.criterion, add(standing.evidence, count))
        reports = f"{more(count, f'{verdict} report')} now"
        yield (
            f"{reports} would deprecate it"
            if after.deprecated
            else f"{reports} would end its deprecation, at weight {after.weight:.4f}"
        )


_Add = Callable[[CriterionEvidence, int], CriterionEvidence]
