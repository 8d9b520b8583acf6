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

# What one confirmation adds to a confidence, and one rejection takes from it.
CONFIRM_GAIN: Final = 0.1
REJECT_LOSS: Final = 0.15
MIN_CONFIDENCE: Final = 0.01
# A memory that a rejection takes below it becomes a known pitfall.
PITFALL_BELOW: Final = 0.15
# What the confidence of a superseded memory is multiplied by.
SUPERSEDED_FACTOR: Final = 0.3
MAX_TEXT_CHARS: Final = 2000
# How many are compared with a task. Words that more memories hold are left out if the task has
# rarer ones.
MAX_CANDIDATES: Final = 500
# In a ranking for a task; decayed confidence has the remaining weight.
_RELEVANCE_WEIGHT: Final = 0.7
_PLACES: Final = 3


class MemoryType(StrEnum):
    """The types of memories."""

    MEMORY = "memory"
    ANTI_PATTERN = "anti-pattern"


@dataclass(frozen=True)
class MemoryRules:
    """The numbers by which memories are trusted.

    Attributes:
        confidence: confidence of a new memory, and of a memory that has just become a known
            pitfall.
        half_life_days: days without recall after which a memory's confidence counts half.
    """

    confidence: float = 0.5
    half_life_days: float = 90.0

    def __post_init__(self) -> None:
        require(
            MIN_CONFIDENCE <= self.confidence <= 1,
            f"confidence must lie in {MIN_CONFIDENCE:g}..1",
        )
        require_positive("half_life_days", self.half_life_days)


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


def confirmed(_rules: MemoryRules, state: MemoryState) -> MemoryState:
    """Return the state after a confirmation."""
    return replace(state, confidence=_within(state.confidence + CONFIRM_GAIN))


def rejected(rules: MemoryRules, state: MemoryState) -> MemoryState:
    """Return the state after a rejection: a known pitfall if the confidence falls too low."""
    confidence = _within(state.confidence - REJECT_LOSS)
    if inverts(state, confidence):
        return replace(state, type=MemoryType.ANTI_PATTERN, confidence=rules.confidence)
    return replace(state, confidence=confidence)


def inverts(state: MemoryState, confidence: float) -> bool:
    """Return whether a rejection that leads to this confidence makes a memory a known pitfall."""
    is_plain = state.type is MemoryType.MEMORY and not state.is_superseded
    return is_plain and confidence < PITFALL_BELOW


def superseded(_rules: MemoryRules, state: MemoryState) -> MemoryState:
    """Return the state after a newer memory contradicted this one."""
    confidence = _within(state.confidence * SUPERSEDED_FACTOR)
    return replace(state, confidence=confidence, is_superseded=True)


def _within(confidence: float) -> float:
    return round(min(1.0, max(MIN_CONFIDENCE, confidence)), _PLACES)


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


def recall_rank(relevance: float, effective: float) -> float:
    """Return the rank for recall: 0.7·relevance + 0.3·effective confidence."""
    return _RELEVANCE_WEIGHT * relevance + (1 - _RELEVANCE_WEIGHT) * effective


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
