"""Explanations: the numbers behind the place of something, and what would change that.

They are of patterns, criteria, memories and competence records. What would change a standing is the
smallest count of further reports at which the rules decide otherwise.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from .competences.record import Competence
from .competences.rules import CompetenceRules, Status, salience_now
from .competences.selection import Signals, recency
from .criteria.weights import (
    FLOOR,
    LITTLE_EVIDENCE_BELOW,
    CriteriaRules,
    CriterionEvidence,
    CriterionStanding,
    criterion_standing,
)
from .memories.comparison import CONFLICT_FROM, SAME_FROM
from .memories.rules import (
    CONFIRM_GAIN,
    MIN_CONFIDENCE,
    PITFALL_BELOW,
    REJECT_LOSS,
    SUPERSEDED_FACTOR,
    MemoryRules,
    MemoryState,
    MemoryType,
    confirmed,
    effective_confidence,
    rejected,
)
from .numbers.decay import DAY
from .numbers.percent import percent
from .numbers.tolerance import count_at_least, ratio_above
from .numbers.verdict_counts import plus_harmful, plus_helpful
from .patterns.decisions import Decision, DecisionAction
from .patterns.evidence import Evidence
from .patterns.maturity import (
    AntiPatternRules,
    Maturity,
    MaturityRules,
    in_comparison,
    is_inverted,
    maturity_of,
)
from .patterns.standing import Standing
from .text.inert import one_line


@dataclass(frozen=True)
class Explanation:
    """The reasons for a standing: its numbers, and how they came about.

    Attributes:
        because: the rules that decided, each with the numbers it saw.
        to_change: what it would take to stand elsewhere.
    """

    because: tuple[str, ...]
    to_change: tuple[str, ...]


def more(count: int, noun: str) -> str:
    """Return "1 more outcome", "2 more outcomes"."""
    return f"{count} more {noun}{'' if count == 1 else 's'}"


# A change that needs more than this is not a practical way out.
_FARTHEST = 1_000_000_000
_ONE_BY_ONE = 1_000


def smallest_count(changes: Callable[[int], bool]) -> int | None:
    """Return the smallest count from 1 on at which `changes` holds; None if it never does.

    Where it holds beyond a thousand it must hold for every larger count, too.
    """
    for count in range(1, _ONE_BY_ONE + 1):
        if changes(count):
            return count
    low, high = _ONE_BY_ONE, 2 * _ONE_BY_ONE
    while not changes(high):
        if high >= _FARTHEST:
            return None
        low, high = high, min(2 * high, _FARTHEST)
    while high - low > 1:
        middle = (low + high) // 2
        if changes(middle):
            high = middle
        else:
            low = middle
    return high


_MOST_SPEAKERS = 10


def explain_pattern(
    maturity: MaturityRules, antipatterns: AntiPatternRules, standing: Standing
) -> Explanation:
    """Explain a pattern's state and whether it is inverted."""
    return Explanation(
        because=(
            *_why_in_state(maturity, standing),
            _why_score_of_pattern(standing),
            _why_inverted(antipatterns, standing),
            *_who_says(standing),
        ),
        to_change=tuple(_ways_out_of_pattern(maturity, antipatterns, standing)),
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


def _why_score_of_pattern(standing: Standing) -> str:
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


def _ways_out_of_pattern(
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


def explain_memory(rules: MemoryRules, state: MemoryState, *, now: float) -> Explanation:
    """Explain a memory's type and state, and how far it is trusted now."""
    return Explanation(
        because=(
            _why_type(state),
            *_why_superseded(state),
            _why_now(rules, state, now),
        ),
        to_change=tuple(_ways_out_of_memory(rules, state)),
    )


def _why_type(state: MemoryState) -> str:
    stored = f"stored confidence {state.confidence:g}"
    if state.type is MemoryType.ANTI_PATTERN:
        return (
            f"known pitfall: a rejection took it below {PITFALL_BELOW:g}; "
            f"{stored}, and it never inverts again"
        )
    return (
        f"memory: {stored}; a confirmation adds {CONFIRM_GAIN:g} (to 1 at most), "
        f"a rejection takes {REJECT_LOSS:g} (to {MIN_CONFIDENCE:g} at least)"
    )


def _why_superseded(state: MemoryState) -> Iterator[str]:
    if state.is_superseded:
        yield (
            f"superseded by a newer memory that is at least {CONFLICT_FROM:g} and less than "
            f"{SAME_FROM:g} alike: its confidence was multiplied by "
            f"{SUPERSEDED_FACTOR:g}, and rejections do not invert it"
        )


def _why_now(rules: MemoryRules, state: MemoryState, now: float) -> str:
    days = max(0.0, now - state.clock) / DAY
    return (
        f"effective confidence {effective_confidence(rules, state, now):.4f} now: {days:.1f} days "
        f"without a recall, halved every {rules.half_life_days:g}"
    )


def _ways_out_of_memory(rules: MemoryRules, state: MemoryState) -> Iterator[str]:
    if not state.is_superseded and state.type is MemoryType.MEMORY:
        count = smallest_count(lambda count: _after(rules, state, count).type is not state.type)
        if count is not None:
            yield f"{more(count, 'rejection')} would make it a known pitfall"
    if state.confidence < 1.0:
        raised = confirmed(rules, state).confidence
        yield f"1 more confirmation would raise its confidence to {raised:g}"
    yield "being recalled lets its confidence count in full again"


def _after(rules: MemoryRules, state: MemoryState, count: int) -> MemoryState:
    """Return a memory's state after so many rejections."""
    for _ in range(min(count, 1000)):  # no confidence needs more
        state = rejected(rules, state)
    return state


def explain_competence(rules: CompetenceRules, record: Competence, *, now: float) -> Explanation:
    """Explain a competence record: its performance, its salience, its status and its score."""
    return Explanation(
        because=(
            *_why_performance(rules, record),
            _why_salience(record, now),
            _why_status(record),
            _why_score_of_competence(record, now),
        ),
        to_change=tuple(_ways_out_of_competence(record)),
    )


def _why_performance(rules: CompetenceRules, record: Competence) -> Iterator[str]:
    performance = record.performance
    total = performance.success_count + performance.failure_count
    origin = f"{rules.min_successes} successful episodes make a record"
    if record.authored is not None:
        origin = f"it was stored by hand, by {one_line(record.authored.by)}"
    yield (
        f"{performance.success_count} of {total} uses succeeded: episodes with just these tools, "
        f"and outcomes that name it; {origin}"
    )
    rate = f"success rate {performance.success_rate:.4f}"
    yield f"{rate}: successes ÷ uses" if total else f"{rate}: nothing is known of its use"


def _why_salience(record: Competence, now: float) -> str:
    left = salience_now(record.salience, record.lifecycle, now)
    life = record.lifecycle
    why = (
        "pinned, so that it does not decay"
        if life.pinned
        else f"halved every {life.half_life_days:g} days since it was last reinforced"
    )
    return f"salience {left:.3f} now: {record.salience:.3f} stored, {why}"


def _why_status(record: Competence) -> str:
    said = "; ".join(
        f"{relation.predicate} {one_line(relation.target_id)}" for relation in record.relations
    )
    return f"status {record.status}" + (f": {said}" if said else "")


def _why_score_of_competence(record: Competence, now: float) -> str:
    if not record.status.is_selectable:
        return f"not a candidate for selection: it is {record.status}"
    life = record.lifecycle
    signals = Signals(
        applicability=record.confidence,
        success=record.performance.success_rate,
        recency=recency(life.last_reinforced_at, life.half_life_days, now),
    )
    return (
        f"score {signals.score:.4f} without a task: the mean of confidence "
        f"{signals.applicability:.4f}, success {signals.success:.4f} and recency "
        f"{signals.recency:.4f}"
    )


def _ways_out_of_competence(record: Competence) -> Iterator[str]:
    performance = record.performance
    total = performance.success_count + performance.failure_count
    good = performance.success_count
    if record.status.is_selectable:
        yield (
            f"new successful episodes add {record.lifecycle.reinforcement_gain:g} to the stored "
            "salience (at most 1) and start its ageing anew"
        )
        yield "retracting or superseding it would end its selection"
    else:
        yield "nothing brings it back: new evidence is only counted"
    yield f"a success makes the rate {good + 1}/{total + 1}, a failure {good}/{total + 1}"
    if record.status is Status.CONTESTED:
        yield "a record that supersedes it would settle that it is contested"


def explain_criterion(rules: CriteriaRules, standing: CriterionStanding) -> Explanation:
    """Explain a criterion's weight."""
    return Explanation(
        because=(
            _why_weight(standing),
            _why_deprecated(rules, standing),
            _how_much_evidence(standing),
        ),
        to_change=tuple(_ways_out_of_criterion(rules, standing)),
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


def _ways_out_of_criterion(rules: CriteriaRules, standing: CriterionStanding) -> Iterator[str]:
    for verdict, add in (("helpful", plus_helpful), ("harmful", plus_harmful)):

        def changes(count: int, add: _AddToCriterion = add) -> bool:
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


_AddToCriterion = Callable[[CriterionEvidence, int], CriterionEvidence]
