"""Explaining a pattern's standing: its numbers, the rule that decided, and how it would change."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from ..numbers.counterfactual import smallest_count
from ..numbers.percent import percent
from ..numbers.verdict_counts import plus_harmful, plus_helpful
from ..text.explanation import Explanation, more
from ..text.inert import one_line
from .antipatterns import AntiPatternRules, is_inverted
from .decisions import Decision, DecisionAction
from .evidence import Evidence
from .maturity import Maturity, MaturityRules, maturity_of
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
    if decision is None:
        yield _why_state(rules, evidence, standing.state)
        return
    yield f"{standing.state} by hand: {_who_and_why(decision)}"
    yield f"by its evidence it would be {_why_state(rules, evidence, maturity_of(rules, evidence))}"


def _who_says(standing: Standing) -> Iterator[str]:
    """Yield the counts by source, those with the most evidence first, where several speak."""
    speakers = standing.evidence.speakers
    if not speakers:
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
    if len(ranked) == 1:
        yield "one source alone is not enough where others speak: another, or a person, must agree"


def _who_and_why(decision: Decision) -> str:
    done = "promoted" if decision.action is DecisionAction.PROMOTE else "deprecated"
    at = datetime.fromtimestamp(decision.at, UTC).isoformat(timespec="seconds")
    why = f": {one_line(decision.reason)}" if decision.reason else ""
    return f"{done} by {one_line(decision.actor)} at {at.replace('+00:00', 'Z')}{why}"


def _why_state(rules: MaturityRules, evidence: Evidence, state: Maturity) -> str:
    helpful, harmful = evidence.decayed_helpful, evidence.decayed_harmful
    total, share = evidence.decayed_total, percent(evidence.harmful_share, 1.0)
    numbers = f"{helpful:.2f} helpful and {harmful:.2f} harmful after decay ({share}% harmful)"
    proven = f"{rules.proven_from:g} helpful and below {percent(rules.proven_below, 1.0)}% harmful"
    match state:
        case Maturity.PROVEN:
            return f"proven: {numbers}; at least {proven}"
        case Maturity.ESTABLISHED:
            decided = f"established: {numbers}"
        case Maturity.CANDIDATE:
            few = f"fewer than {rules.min_evidence:g}"
            decided = f"candidate: {total:.2f} reports after decay, {few}"
        case Maturity.DEPRECATED:
            decided = f"deprecated: {numbers}, above {percent(rules.deprecated_above, 1.0)}%"
    return f"{decided}; proven needs {proven}"


def _why_score(standing: Standing) -> str:
    """Explain the score that the pattern is shown with: a warning is ranked by its failures."""
    if standing.is_inverted:
        failures = standing.failure_count
        return (
            f"score {standing.failure_score:.3f}: warnings are ranked by their cautious failure "
            f"rate (lower end of Wilson's 95% interval for {failures} of "
            f"{failures + standing.success_count})"
        )
    if not standing.multiplier:
        return f"score 0: {standing.state} multiplies by 0"
    base = standing.score / standing.multiplier
    return (
        f"score {standing.score:.3f}: cautious success rate {base:.3f} "
        f"(lower end of Wilson's 95% interval) times {standing.multiplier:g} for {standing.state}"
    )


def _why_inverted(rules: AntiPatternRules, standing: Standing) -> str:
    failures = standing.failure_count
    total = failures + standing.success_count
    neutral = "neutral counts against it" if rules.neutral_is_failure else "neutral is ignored"
    evidence = standing.evidence
    seen = (
        f"{failures} of {total} outcomes speak against it, undecayed ({neutral}); "
        f"{evidence.failed} of {evidence.observations} runs failed"
    )
    threshold = f"{percent(rules.failure_share, 1.0)}% of at least {rules.min_observations}"
    return (
        f"anti-pattern: {seen}, which reaches {threshold}"
        if standing.is_inverted
        else f"not an anti-pattern: {seen}; inverted from {threshold}"
    )


def _ways_out(
    maturity: MaturityRules, antipatterns: AntiPatternRules, standing: Standing
) -> Iterator[str]:
    if standing.decision is not None:
        by_evidence = maturity_of(maturity, standing.evidence)
        yield f"a reset would make it {by_evidence}; no outcome does, until then"
    for verdict, add in (("helpful", plus_helpful), ("harmful", plus_harmful)):
        if standing.decision is None:
            yield from _ways_to_states(maturity, standing, verdict, add)
        yield from _way_to_inversion(antipatterns, standing, verdict, add)


_Add = Callable[[Evidence, int], Evidence]


def _ways_to_states(
    rules: MaturityRules, standing: Standing, verdict: str, add: _Add
) -> Iterator[str]:
    def state_after(count: int) -> Maturity:
        return maturity_of(rules, add(standing.evidence, count))

    count = smallest_count(lambda count: state_after(count) is not standing.state)
    if count is None:
        return
    yield f"{more(count, f'{verdict} outcome')} now would make it {state_after(count)}"
    if verdict == "helpful" and state_after(count) is not Maturity.PROVEN:
        count = smallest_count(lambda count: state_after(count) is Maturity.PROVEN)
        if count is not None:
            yield f"{more(count, f'{verdict} outcome')} now would make it proven"


def _way_to_inversion(
    rules: AntiPatternRules, standing: Standing, verdict: str, add: _Add
) -> Iterator[str]:
    count = smallest_count(
        lambda count: is_inverted(rules, add(standing.evidence, count)) != standing.is_inverted
    )
    if count is not None:
        what = "lift the" if standing.is_inverted else "make it an"
        yield f"{more(count, f'{verdict} outcome')} now would {what} anti-pattern"
