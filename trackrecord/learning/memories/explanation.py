"""Explaining a memory's state: its numbers, the rule that decided, and how it would change."""

from collections.abc import Iterator

from ..numbers.counterfactual import smallest_count
from ..numbers.decay import DAY
from ..text.explanation import Explanation, more
from .comparison import CONFLICT_FROM, SAME_FROM
from .rules import (
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


def explain_memory(rules: MemoryRules, state: MemoryState, *, now: float) -> Explanation:
    """Explain a memory's type and state, and how far it is trusted now."""
    return Explanation(
        because=(
            _why_type(state),
            *_why_superseded(state),
            _why_now(rules, state, now),
        ),
        to_change=tuple(_ways_out(rules, state)),
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


def _ways_out(rules: MemoryRules, state: MemoryState) -> Iterator[str]:
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
