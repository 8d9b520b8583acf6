"""The records of outcomes that count now, held in order to be replaced."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, Row, and_, select, update

from trackrecord.errors import StoreBusy
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer

from ..database.leases import for_update
from ..outcomes.entries import Replaced
from ..outcomes.tables import outcomes

# What is on record passed the limit of its day.
_ANY_SIZE = 2**31
_AT_ONCE = 500
# A record is replaced by one transaction at a time; who waited looks again.
_TRIES = 100

Key = tuple[int, str]


def bodies_of(connection: Connection, keys: Iterable[Key]) -> dict[Key, bytes]:
    """Return the bodies of the records that count now, by project and outcome_id."""
    return {
        (row.project_id, row.outcome_id): row.body
        for some in _chunks(keys)
        for row in connection.execute(
            select(outcomes.c.project_id, outcomes.c.outcome_id, outcomes.c.body).where(_are(some))
        )
    }


def hold_current(
    connection: Connection, keys: Collection[Key], scorer: OutcomeScorer
) -> dict[Key, Replaced]:
    """Return the records that count now, held until the transaction ends, to be replaced.

    Args:
        connection: within a writing transaction.
        keys: projects and outcome_ids that are on record.
        scorer: finds again what the record itself does not say.

    Raises:
        StoreBusy: others replaced a record again and again.
    """
    found: dict[Key, Replaced] = {}
    for _ in range(_TRIES):
        missing = sorted(set(keys) - found.keys())
        if not missing:
            return found
        for some in _chunks(missing):
            query = for_update(connection, select(outcomes).where(_are(some)), outcomes)
            for row in connection.execute(query.order_by(outcomes.c.id)):
                found[row.project_id, row.outcome_id] = _current(row, scorer)
    message = "the record of an outcome is replaced by others all the time"
    raise StoreBusy(message)


def _chunks(keys: Iterable[Key]) -> Iterator[tuple[int, list[str]]]:
    by_project: defaultdict[int, list[str]] = defaultdict(list)
    for project_id, outcome_id in sorted(keys):
        by_project[project_id].append(outcome_id)
    for project_id, ids in by_project.items():
        for start in range(0, len(ids), _AT_ONCE):
            yield project_id, ids[start : start + _AT_ONCE]


def _are(some: tuple[int, list[str]]) -> Any:  # noqa: ANN401 - a condition
    project_id, ids = some
    table = outcomes.c
    return and_(table.project_id == project_id, table.outcome_id.in_(ids), table.replaced_at == 0)


def _current(row: Row[Any], scorer: OutcomeScorer) -> Replaced:
    outcome = scorer.score(
        decode_outcome(row.body, max_bytes=_ANY_SIZE),
        row.body,
        received_at=row.received_at,
        outcome_id=row.outcome_id,
    )
    counted = replace(
        outcome,
        ended_at=row.ended_at,
        success=row.success,
        raw_score=row.raw_score,
        verdict=row.verdict and Verdict(row.verdict),
    )
    return Replaced(row.id, row.project_id, 0.0, counted)


def note_replaced(connection: Connection, replaced: Mapping[int, float]) -> None:
    """Let records count no longer, each from a moment on, by their rows."""
    for row, at in sorted(replaced.items()):
        connection.execute(update(outcomes).where(outcomes.c.id == row).values(replaced_at=at))
