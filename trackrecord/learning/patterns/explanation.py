"""Explaining a pattern's standing: its numbers, the rule that decided, and how it would change."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from ..numbers.counterfactual import smallest_count
from ..numbers.percent import percent
from ..numbers.tolerance import count_at_least, ratio_above
from ..numbers.verdict_counts import plus_harmful, plus_helpful
from ..text.explanation import Explanation, more
from ..text.inert import one_line
from .antipatterns import AntiPatternRules, is_inverted
from .decisions import Decision, DecisionAction
from .evidence import Evidence
from .maturity import Maturity, MaturityRules, in_comparison, maturity_of
from .standing import Standing

_MOST_SPEAKERS = 10


def explain_pattern(
    maturity: MaturityRules, antipatterns: AntiPatternRules, standing: Standing
) -> Explanation:
    """Explain a pattern's state and whether it is inverted."""
    return Explanation(
        because=(
            *_why_in_state(maturity, standing),
            _why_score(standing),
            _why_inverted(antipatterns, standing),
            *_who_says(standing),
        ),
        to_change=tuple(_ways_out(maturity, antipatterns, standing)),
    )


def _why_in_state(rules: MaturityRules, standing: Standing) -> Iterator[str]:
    evidence, decision = standing.evidence, standing.decision
    counted = maturity_of(rules, evidence)
    if decision is None:
        by_counts = "" if counted is standing.state else "by its counts alone "
        yield f"{by_counts}{_why_state(rules, evidence, counted)}"
        if counted is not standing.state:
            yield f"{standing.state}: {_why_otherwise(standing)}"
        return
    yield f"{standing.state} by hand: {_who_and_why(decision)}"
    yield f"by its evidence it would be {_why_state(rules, evidence, counted)}"


def _why_otherwise(standing: Standing) -> str:
    if standing.is_inverted:
        return "what is warned of is never recommended"
    if standing.goes_worse:
        return "such tasks almost certainly go worse with it than otherwise, so it is not trusted"
    return "such tasks are not known to go worse with it than otherwise, so it is not deprecated"


def _who_says(standing: Standing) -> Iterator[str]:
    """Yield the counts by source, those with the most evidence first, where there are several."""
    speakers = standing.evidence.speakers
    if len(speakers) < 2:
        return
    ranked = sorted(speakers, key=lambda each: (-each.decayed_total, each.speaker))
    shown = ", ".join(
        f"{one_line(each.speaker) or 'unnamed'} {each.helpful} helpful and {each.harmful} harmful "
        f"(counts for {each.decayed_total:.2f})"
        for each in ranked[:_MOST_SPEAKERS]
    )
    more = len(ranked) - _MOST_SPEAKERS
    rest = f", and {more} more" if more > 0 else ""
    yield f"by source: {shown}{rest}"


def _who_and_why(decision: Decision) -> str:
    done = "promoted" if decision.action is DecisionAction.PROMOTE else "deprecated"
    at = datetime.fromtimestamp(decision.at, UTC).isoformat(timespec="seconds")
    why = f": {one_line(decision.reason)}" if decision.reason else ""
    return f"{done} by {one_line(decision.actor)} at {at.replace('+00:00', 'Z')}{why}"


def _why_state(rules: MaturityRules, evidence: Evidence, state: Maturity) -> str:
    helpful, harmful = evidence.decayed_helpful, evidence.decayed_harmful
    share = percent(evidence.harmful_share, 1.0)
    numbers = f"{helpful:.2f} helpful and {harmful:.2f} harmful after decay ({share}% harmful)"
    proven = f"{rules.proven_from:g} helpful and below {percent(rules.proven_below, 1.0)}% harmful"
    match state:
        case Maturity.PROVEN:
            return f"proven: {numbers}; at least {proven}"
        case Maturity.ESTABLISHED:
            decided = f"established: {numbers}"
        case Maturity.CANDIDATE:
            decided = f"candidate: {_why_candidate(rules, evidence)}"
        case Maturity.DEPRECATED:
            decided = f"deprecated: {numbers}, above {percent(rules.deprecated_above, 1.0)}%"
    return f"{decided}; proven needs {proven}"


def _why_candidate(rules: MaturityRules, evidence: Evidence) -> str:
    total = evidence.decayed_total
    if not count_at_least(total, rules.min_evidence):
        return f"{total:.2f} reports after decay, fewer than {rules.min_evidence:g}"
    above = percent(rules.deprecated_above, 1.0)
    if ratio_above(evidence.harmful_share, rules.deprecated_above):
        share = percent(evidence.harmful_share, 1.0)
        return f"{share}% harmful after decay, above {above}%, which one source alone says"
    return f"{evidence.failed} of {evidence.observations} tasks failed, more than {above}%"


def _why_score(standing: Standing) -> str:
    """Explain the score that the pattern is shown with: a warning is ranked by its failures."""
    if standing.is_inverted:
        evidence = standing.evidence
        return (
            f"score {standing.failure_score:.3f}: warnings are ranked by their cautious failure "
            f"rate (lower end of Wilson's 95% interval for {evidence.failed} of "
            f"{evidence.observations})"
        )
    if not standing.multiplier:
        return f"score 0: {standing.state} multiplies by 0"
    base = standing.score / standing.multiplier
    return (
        f"score {standing.score:.3f}: cautious success rate {base:.3f} "
        f"(lower end of Wilson's 95% interval) times {standing.multiplier:g} for {standing.state}"
    )


def _why_inverted(rules: AntiPatternRules, standing: Standing) -> str:
    evidence = standing.evidence
    seen = f"{evidence.failed} of {evidence.observations} runs failed, undecayed"
    if evidence.feedback:
        harmful = evidence.feedback - evidence.helpful_feedback
        seen += f", and {harmful} of {evidence.feedback} verdicts by feedback are not helpful"
    threshold = f"{percent(rules.failure_share, 1.0)}% of at least {rules.min_observations}"
    if standing.is_inverted:
        return f"anti-pattern: {seen}, which reaches {threshold}"
    if is_inverted(rules, evidence):
        why = (
            "a person vouches for it"
            if standing.goes_worse is not False
            else "such tasks are not known to go worse with it than otherwise"
        )
        return f"not an anti-pattern: {seen}, which reaches {threshold}, but {why}"
    return f"not an anti-pattern: {seen}; inverted from {threshold}"


def _ways_out(
    maturity: MaturityRules, antipatterns: AntiPatternRules, standing: Standing
) -> Iterator[str]:
    if standing.decision is not None:
        by_evidence = in_comparison(maturity_of(maturity, standing.evidence), standing.goes_worse)
        yield f"a reset would make it {by_evidence}; no outcome does, until then"
    for verdict, add in (("successful", _plus_successes), ("failed", plus_harmful)):
        if standing.decision is None:
            yield from _ways_to_states(maturity, standing, verdict, add)
        yield from _way_to_inversion(antipatterns, standing, verdict, add)


_Add = Callable[[Evidence, int], Evidence]


def _plus_successes(evidence: Evidence, count: int) -> Evidence:
    return replace(plus_helpful(evidence, count), succeeded=evidence.succeeded + count)


def _ways_to_states(
    rules: MaturityRules, standing: Standing, verdict: str, add: _Add
) -> Iterator[str]:
    def state_after(count: int) -> Maturity:
        return maturity_of(rules, add(standing.evidence, count))

    if state_after(0) is not standing.state:
        return

    count = smallest_count(lambda count: state_after(count) is not standing.state)
    if count is None:
        return
    yield f"{more(count, f'{verdict} outcome')} now would make it {state_after(count)}"
    if verdict == "successful" and state_after(count) is not Maturity.PROVEN:
        count = smallest_count(lambda count: state_after(count) is Maturity.PROVEN)
        if count is not None:
            yield f"{more(count, f'{verdict} outcome')} now would make it proven"


def _way_to_inversion(
    rules: AntiPatternRules, standing: Standing, verdict: str, add: _Add
) -> Iterator[str]:
    if standing.goes_worse is False or (standing.state is Maturity.PROVEN and standing.decision):
        return  # a comparison, or a person, keeps it from becoming one
    count = smallest_count(
        lambda count: is_inverted(rules, add(standing.evidence, count)) != standing.is_inverted
    )
    if count is not None:
        what = "lift the" if standing.is_inverted else "make it an"
        yield f"{more(count, f'{verdict} outcome')} now would {what} anti-pattern"
