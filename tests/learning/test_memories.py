"""Memories: confidence, decay, inversion, superseding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackrecord.learning.memories.rules import (
    PITFALL_PREFIX,
    MemoryRules,
    MemoryState,
    MemoryType,
    confirmed,
    effective_confidence,
    recall_rank,
    rejected,
    shown_text,
    standing_at_any_time,
    superseded,
    without_prefix,
)

RULES = MemoryRules()
DAY = 86_400.0
NEW = MemoryState(MemoryType.MEMORY, 0.5, 0.0)
confidences = st.integers(10, 1000).map(lambda thousandths: thousandths / 1000)
states = st.builds(
    MemoryState,
    st.sampled_from(MemoryType),
    confidences,
    st.floats(0, 4e9),
    is_superseded=st.booleans(),
)


def test_three_rejections_make_a_pitfall():
    """0.5, 0.35, 0.2, then a known pitfall that begins anew at 0.5."""
    once = rejected(RULES, NEW)
    twice = rejected(RULES, once)
    thrice = rejected(RULES, twice)
    assert [once.confidence, twice.confidence] == [0.35, 0.2]
    assert once.type is twice.type is MemoryType.MEMORY
    assert thrice == MemoryState(MemoryType.ANTI_PATTERN, 0.5, 0.0)


def test_six_confirmations_end_at_one():
    """Not above it, however many."""
    state = NEW
    for expected in (0.6, 0.7, 0.8, 0.9, 1.0, 1.0):
        state = confirmed(RULES, state)
        assert state.confidence == expected


def test_a_pitfall_never_inverts_again():
    """It can be rejected to the floor, and confirmed."""
    state = MemoryState(MemoryType.ANTI_PATTERN, 0.5, 0.0)
    for _ in range(9):
        state = rejected(RULES, state)
    assert (state.type, state.confidence) == (MemoryType.ANTI_PATTERN, 0.01)
    assert confirmed(RULES, state).confidence == 0.11


def test_a_superseded_memory_is_not_inverted():
    """Its confidence falls, and nothing else."""
    state = superseded(RULES, NEW)
    assert state == MemoryState(MemoryType.MEMORY, 0.15, 0.0, is_superseded=True)
    fallen = rejected(RULES, state)
    assert fallen == MemoryState(MemoryType.MEMORY, 0.01, 0.0, is_superseded=True)


@pytest.mark.parametrize(("days", "rank"), [(0, 0.85), (90, 0.775), (180, 0.737), (-5, 0.85)])
def test_rank_by_age(days, rank):
    """0.7·1 + 0.3·0.5·0.5^(days/90), to three places."""
    effective = effective_confidence(RULES, NEW, days * DAY)
    assert round(recall_rank(1.0, effective), 3) == rank


@given(states)
def test_confidence_stays_within_its_bounds(state):
    """Whatever is said, with three places at the most."""
    for changed in (confirmed(RULES, state), rejected(RULES, state), superseded(RULES, state)):
        after = changed.confidence
        assert 0.01 <= after <= 1.0
        assert after == round(after, 3)


@given(states, states, st.floats(0, 1e9))
def test_the_standing_orders_as_decay_does(one, other, later):
    """At every moment after both clocks, so that an index can hold it."""
    now = max(one.clock, other.clock) + later
    left, right = (effective_confidence(RULES, each, now) for each in (one, other))
    if left > right * (1 + 1e-6):
        assert standing_at_any_time(RULES, one) > standing_at_any_time(RULES, other)


@given(st.text())
def test_the_prefix_is_there_once(text):
    """However often it was there before."""
    shown = shown_text(MemoryType.ANTI_PATTERN, text)
    assert shown == PITFALL_PREFIX + without_prefix(text)
    assert shown_text(MemoryType.ANTI_PATTERN, shown) == shown
    assert shown_text(MemoryType.MEMORY, text) == text


@pytest.mark.parametrize("wrong", [{"confidence": 1.5}, {"half_life_days": 0.0}])
def test_rules_that_make_no_sense(wrong):
    """Are refused when they are built."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MemoryRules(**wrong)
