"""Recording outcomes: one row for each that is new."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..database.upsert import insert_rows
from .tables import outcomes

# A member of an enum gives its value slowly.
_VERDICTS = {verdict: verdict.value for verdict in Verdict}
_COLUMNS = tuple(column for column in outcomes.c if column.name not in ("id", "replaced_at"))


def record(
    connection: Connection, project_ids: Mapping[str, int], batch: Iterable[ScoredOutcome]
) -> list[tuple[int, ScoredOutcome]]:
    """Insert the outcomes that are not on record yet; return them with their rows, in order.

    Args:
        connection: within a writing transaction.
        project_ids: the rows of the projects by name.
        batch: outcomes, no two of one project with the same id.
    """
    by_key = {(project_ids[each.project], each.outcome_id): each for each in batch}
    rows: list[tuple[Any, ...]] = [
        (
            key[0],
            key[1],
            each.task_id,
            each.received_at,
            each.ended_at,
            each.success,
            each.raw_score,
            each.verdict and _VERDICTS[each.verdict],
            each.body,
            bool(each.named),
        )
        for key, each in sorted(by_key.items(), key=lambda item: item[0])
    ]
    returning = (outcomes.c.id, outcomes.c.project_id, outcomes.c.outcome_id)
    inserted = insert_rows(connection, outcomes, _COLUMNS, rows, returning=returning)
    return sorted(
        ((row_id, by_key[project_id, outcome_id]) for row_id, project_id, outcome_id in inserted),
        key=lambda pair: pair[0],
    )
