"""Memories: short facts that agents store, and how far each can be relied on.

Confidence changes only by feedback on a memory, never by age: age is applied once, when a
memory is recalled.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor, log2
from typing import Final

from ..numbers.checks import require, require_positive
from ..numbers.decay import DAY, decayed

# Marks the text of a memory that turned out to be wrong.
PITFALL_PREFIX: Final = "KNOWN PITFALL: "

_PLACES = 3


class MemoryType(StrEnum):
    """The types of memories."""

    MEMORY = "memory"
    ANTI_PATTERN = "anti-pattern"


@dataclass(frozen=True)
class MemoryRules:
    """The numbers by which memories are compared, trusted and recalled.

    Attributes:
        confidence: confidence of a new memory, and of a memory that has just become a known
            pitfall.
        same_from: similarity from which a new text of the same words counts as the memory that is
            already stored.
        conflict_from: similarity from which a new text can contradict an older memory; if it
            does, it supersedes that memory.
        superseded_factor: factor by which the confidence of a superseded memory is multiplied.
        confirm_gain: confidence that one confirmation adds to a memory.
        reject_loss: confidence that one rejection takes from a memory.
        min_confidence: lower bound of a memory's confidence.
        pitfall_below: a memory whose confidence falls below this value by a rejection becomes a
            known pitfall.
        half_life_days: days without recall after which a memory's confidence counts half.
        relevance_weight: weight of relevance when memories are ranked for a task; decayed
            confidence has the remaining weight.
        max_text_chars: maximum length of a memory's text; longer texts are refused.
        max_candidates: maximum number of memories that are compared with a task. Words that more
            memories hold are left out if the task has rarer ones.
        max_ranked: maximum number of memories in a project's cached rankings.
    """

    confidence: float = 0.5
    same_from: float = 0.85
    conflict_from: float = 0.5
    superseded_factor: float = 0.3
    confirm_gain: float = 0.1
    reject_loss: float = 0.15
    min_confidence: float = 0.01
    pitfall_below: float = 0.15
    half_life_days: float = 90.0
    relevance_weight: float = 0.7
    max_text_chars: int = 2000
    max_candidates: int = 500
    max_ranked: int = 100

    def __post_init__(self) -> None:
        require(0 < self.min_confidence < 1, "min_confidence must lie between 0 and 1")
        require(
            self.min_confidence <= self.confidence <= 1,
            "confidence must lie in min_confidence..1",
        )
        require(
            0.1 <= self.conflict_from < self.same_from <= 1,
            "conflict_from must lie in 0.1..1, below same_from, which is at most 1",
        )
        for name in ("superseded_factor", "relevance_weight"):
            require(0 <= getattr(self, name) <= 1, f"{name} must lie in 0..1")
        for name in ("confirm_gain", "reject_loss"):
            require(0 < getattr(self, name) <= 1, f"{name} must lie above 0 and at most at 1")
        require(0 <= self.pitfall_below < 1, "pitfall_below must lie in 0..1")
        require_positive("half_life_days", self.half_life_days)
        require(1 <= self.max_text_chars <= 100_000, "max_text_chars must lie in 1..100000")
        require(1 <= self.max_candidates <= 10_000, "max_candidates must lie in 1..10000")
        require(0 <= self.max_ranked <= 1000, "max_ranked must lie in 0..1000")


@dataclass(frozen=True)
class MemoryState:
    """The type, the confidence and the age of a memory.

    Attributes:
        type: a memory, or the known pitfall that it became.
        confidence: as stored, never decayed.
        clock: when it was last recalled, or stored if it never was; seconds since the epoch.
        is_superseded: whether a newer memory contradicts it.
    """

    type: MemoryType
    confidence: float
    clock: float
    is_superseded: bool = False


def confirmed(rules: MemoryRules, state: MemoryState) -> MemoryState:
    """Return the state after a confirmation."""
    return replace(state, confidence=_within(rules, state.confidence + rules.confirm_gain))


def rejected(rules: MemoryRules, state: MemoryState) -> MemoryState:
    """Return the state after a rejection: a known pitfall if the confidence falls too low."""
    confidence = _within(rules, state.confidence - rules.reject_loss)
    if inverts(rules, state, confidence):
        return replace(state, type=MemoryType.ANTI_PATTERN, confidence=rules.confidence)
    return replace(state, confidence=confidence)


def inverts(rules: MemoryRules, state: MemoryState, confidence: float) -> bool:
    """Return whether a rejection that leads to this confidence makes a memory a known pitfall."""
    is_plain = state.type is MemoryType.MEMORY and not state.is_superseded
    return is_plain and confidence < rules.pitfall_below


def superseded(rules: MemoryRules, state: MemoryState) -> MemoryState:
    """Return the state after a newer memory contradicted this one."""
    confidence = _within(rules, state.confidence * rules.superseded_factor)
    return replace(state, confidence=confidence, is_superseded=True)


def _within(rules: MemoryRules, confidence: float) -> float:
    return round(min(1.0, max(rules.min_confidence, confidence)), _PLACES)


def effective_confidence(rules: MemoryRules, state: MemoryState, now: float) -> float:
    """Return the confidence at a moment: halved with each half-life without a recall."""
    return faded(rules, state.confidence, state.clock, now)


def faded(rules: MemoryRules, confidence: float, clock: float, now: float) -> float:
    """Return the decayed confidence, computed from the stored confidence and the clock alone."""
    return decayed(confidence, now - clock, rules.half_life_days)


def recall_clock(at: float) -> float:
    """Return the start of a recalled memory's decay: the beginning of the day, in UTC.

    So handing it out counts once a day at most, and the latest day counts, in whatever order the
    reports of it arrive and however often.

    Args:
        at: when it was handed out, seconds since the epoch.
    """
    return floor(at / DAY) * DAY


def recall_rank(rules: MemoryRules, relevance: float, effective: float) -> float:
    """Return the rank for recall: by default 0.7·relevance + 0.3·effective confidence."""
    return rules.relevance_weight * relevance + (1 - rules.relevance_weight) * effective


def standing_at_any_time(rules: MemoryRules, state: MemoryState) -> float:
    """Return a sort key that orders memories by effective confidence at any time.

    It is the logarithm of confidence·2^(clock/half-life): all memories age alike, so their order
    does not change.
    """
    return log2(state.confidence) + state.clock / (rules.half_life_days * DAY)


def without_prefix(text: str) -> str:
    """Return the original text of a memory that became a known pitfall."""
    while text.startswith(PITFALL_PREFIX):
        text = text.removeprefix(PITFALL_PREFIX)
    return text


def shown_text(kind: MemoryType, text: str) -> str:
    """Return a memory's text as it is shown: with one prefix if it is a known pitfall."""
    return PITFALL_PREFIX + without_prefix(text) if kind is MemoryType.ANTI_PATTERN else text
