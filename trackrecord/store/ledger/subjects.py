"""Subjects: what is counted, and the rows that a report adds to it.

A further subject is a function, which yields the rows of an outcome, and a line in `SUBJECTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Final

from trackrecord.learning.criteria.weights import NAMED_VALUE, feedback_value
from trackrecord.learning.numbers.decay import DAY, Bases, DecayBasis
from trackrecord.learning.outcomes.scoring import Verdict, verdict_on_patterns

if TYPE_CHECKING:
    # Who only reads scores nothing.
    from trackrecord.wire.outcome_scorer import ScoredOutcome

SPEAKER_ITEM, PATTERN, CRITERION, DAY_ITEM = 0, 1, 2, 3
# Whose totals are not kept apart.
EVERYBODY: Final = 0
# A cell: a subject, then how the verdict is known, then the verdict.
HELPFUL, NEUTRAL, HARMFUL = 0, 1, 2
VERIFIED, CLAIMED, TOLD = 0, 4, 8
_VERDICTS: Final = (Verdict.HELPFUL, Verdict.NEUTRAL, Verdict.HARMFUL)
_CELL_OF: Final = {verdict: cell for cell, verdict in enumerate(_VERDICTS)}
_CELL_NAMED: Final = {verdict.value: cell for verdict, cell in _CELL_OF.items()}
_CELL_OF_SUCCESS: Final = {
    success: _CELL_OF[verdict_on_patterns(success=bool(success))] for success in (True, False, None)
}
_CELLS: Final = 16

# The item's name, the cell in its subject, what it weighs, how the item is spelled and of what kind
# it is, where a report says so.
Row = tuple[str, int, float, str, str]


@dataclass(frozen=True)
class CountedSubject:
    """One kind of item that outcomes are counted for.

    Attributes:
        number: as on record.
        rows: the rows that an outcome adds.
        half_life: the name of the half-life that they decay by; None where they do not.
        by_speaker: whether the totals of each speaker are kept apart.
    """

    number: int
    rows: Callable[[ScoredOutcome], Iterable[Row]]
    half_life: str | None
    by_speaker: bool = True

    def basis(self, bases: Bases) -> DecayBasis | None:
        """Return what the masses are relative to; None for nothing."""
        return None if self.half_life is None else getattr(bases, self.half_life)


def _patterns(outcome: ScoredOutcome) -> Iterator[Row]:
    if outcome.verdict is None:
        return
    cell = _CELL_OF_SUCCESS[outcome.success] + (CLAIMED if outcome.is_claim else VERIFIED)
    for touch in outcome.touches:
        yield touch.slug, cell, 1, touch.content, touch.kind


def _criteria(outcome: ScoredOutcome) -> Iterator[Row]:
    if outcome.verdict is None or outcome.raw_score is None:
        return
    if outcome.judged:
        own = feedback_value(outcome.verdict, outcome.raw_score)
        for name in outcome.judged:
            yield name, _CELL_OF[outcome.verdict], own, "", ""
    for each in outcome.named:
        yield each.criterion, _CELL_OF[each.verdict], each.value, "", ""


def _days(outcome: ScoredOutcome) -> Iterator[Row]:
    yield day_row(outcome.ended_at, outcome.success)


def day_row(ended_at: float, success: bool | None) -> Row:
    """Return the row that an outcome adds to its day."""
    won = HELPFUL if success else HARMFUL
    return str(floor(ended_at / DAY)), NEUTRAL if success is None else won, 0, "", ""


SUBJECTS: tuple[CountedSubject, ...] = (
    CountedSubject(PATTERN, _patterns, "patterns"),
    CountedSubject(CRITERION, _criteria, "criteria"),
    CountedSubject(DAY_ITEM, _days, None, by_speaker=False),
)


def told_row(subject: int, name: str, verdict: Verdict) -> Row:
    """Return the row that feedback on one item adds."""
    value = NAMED_VALUE if subject == CRITERION else 1
    return name, TOLD + _CELL_OF[verdict], 0 if verdict is Verdict.NEUTRAL else value, "", ""


def cell_of(subject: int, cell: int) -> int:
    """Return the number of a cell of a subject."""
    return subject * _CELLS + cell


def subject_of(cell: int) -> int:
    """Return the subject of a cell."""
    return cell // _CELLS


def cell_in(verdict: str) -> int:
    """Return the cell of a verdict that is on record, of outcomes that verify it."""
    return _CELL_NAMED[verdict]


def verdict_in(cell: int) -> str:
    """Return the verdict of a cell."""
    return _VERDICTS[cell % CLAIMED].value


# Entries in these cells do not move when an item was last seen.
UNSEEN: Final = frozenset({
    cell_of(PATTERN, TOLD + NEUTRAL),
    *(cell_of(DAY_ITEM, cell) for cell in (HELPFUL, NEUTRAL, HARMFUL)),
})  # fmt: skip
