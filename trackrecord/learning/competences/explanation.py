"""Explaining a competence record: its numbers, its score, and what would change them."""

from collections.abc import Iterator

from ..text.explanation import Explanation
from ..text.inert import one_line
from .record import Competence
from .rules import CompetenceRules, Status, salience_now
from .selection import Signals, recency


def explain_competence(rules: CompetenceRules, record: Competence, *, now: float) -> Explanation:
    """Explain a competence record: its performance, its salience, its status and its score."""
    return Explanation(
        because=(
            *_why_performance(rules, record),
            _why_salience(record, now),
            _why_status(record),
            _why_score(record, now),
        ),
        to_change=tuple(_ways_out(record)),
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


def _why_score(record: Competence, now: float) -> str:
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


def _ways_out(record: Competence) -> Iterator[str]:
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
