"""Checks of an export's values, beyond the types of the columns.

An export may come from anybody. What the product decodes when it reads a row is decoded here first,
and what must be one of several words is one of them.
"""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

import msgspec
from sqlalchemy import Column, Table

from trackrecord.errors import InvalidOutcome
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import Status
from trackrecord.learning.memories.rules import MemoryType
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.store.advice.lesson_decisions import LessonAction
from trackrecord.store.advice.tables import (
    effect_decisions,
    exposures,
    hints,
    lesson_decisions,
    runs,
    tried_calls,
)
from trackrecord.store.competences.removed import StoredTally
from trackrecord.store.competences.tables import (
    competence_history,
    competences,
    consolidation_runs,
    removed_episodes,
)
from trackrecord.store.criteria.tables import criterion_feedback
from trackrecord.store.memories.tables import memories, memory_changes
from trackrecord.store.outcomes.tables import outcome_entries, outcomes, recorded_rules
from trackrecord.store.patterns.tables import observations, pattern_decisions, patterns
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.run_digest import patterns_of
from trackrecord.wire.tried_calls import check_tried

Check = Callable[[Any], object]

# What is on record passed the limit of its day.
_ANY_SIZE: Final = 2**31


def _json(kind: Any) -> Check:  # noqa: ANN401 - what msgspec takes for a type
    return msgspec.json.Decoder(kind).decode


def _one_of(kind: type[Enum]) -> Check:
    return kind


def _outcome(body: bytes) -> object:
    return decode_outcome(body, max_bytes=_ANY_SIZE)


def _effect(action: str) -> None:
    if action not in ("holdout", "withdraw", "restore"):
        raise ValueError(action)


def _probability(value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(value)


_CHECKS: Final[dict[Column[Any], Check]] = {
    outcomes.c.body: _outcome,
    outcomes.c.verdict: _one_of(Verdict),
    outcome_entries.c.body: _outcome,
    observations.c.verdict: _one_of(Verdict),
    criterion_feedback.c.verdict: _one_of(Verdict),
    runs.c.digest: patterns_of,
    tried_calls.c.digest: check_tried,
    recorded_rules.c.rules: _json(dict[str, Any]),
    patterns.c.decided_maturity: _one_of(Maturity),
    pattern_decisions.c.action: _one_of(DecisionAction),
    memories.c.type: _one_of(MemoryType),
    memory_changes.c.type: _one_of(MemoryType),
    competences.c.status: _one_of(Status),
    competences.c.record: _json(Competence),
    removed_episodes.c.tally: _json(StoredTally),
    competence_history.c.snapshot: _json(Competence),
    consolidation_runs.c.skipped: _json(dict[str, int]),
    exposures.c.entries: _json(tuple[str, ...]),
    effect_decisions.c.action: _effect,
    hints.c.probability: _probability,
    lesson_decisions.c.action: _one_of(LessonAction),
}


def checks_of(table: Table) -> list[tuple[Column[Any], Check]]:
    """Return the columns of a table whose values are checked, each with its check."""
    return [(column, _CHECKS[column]) for column in table.c if column in _CHECKS]


def check_values(values: dict[Column[Any], Any], checks: list[tuple[Column[Any], Check]]) -> None:
    """Check the values of a row.

    Args:
        values: by column.
        checks: those of the table.

    Raises:
        ValueError: one of them is not what its column holds; the text names it.
    """
    for column, check in checks:
        value = values[column]
        if value is None:
            continue
        try:
            check(value)
        except (ValueError, InvalidOutcome, RecursionError) as error:
            reason = str(error) or "too deeply nested"
            message = f"`{column.name}` of {column.table.name} is not valid ({reason})"
            raise ValueError(message) from None
