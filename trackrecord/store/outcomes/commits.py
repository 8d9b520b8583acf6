"""The outcomes that a commit came from, so that a revert can amend them."""

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, Select, literal, select

from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..database.bulk_insert import insert_rows
from .tables import outcome_commits, outcomes

SHORTEST_PREFIX: Final = 7


def note_commits(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Iterable[tuple[int, ScoredOutcome]],
) -> None:
    """Note the commits of outcomes; few have any."""
    rows = {
        (project_ids[each.project], commit.lower(), each.outcome_id)
        for _, each in recorded
        if each.commits
        for commit in each.commits
    }
    insert_rows(connection, outcome_commits, tuple(outcome_commits.c), sorted(rows))


def rows_of_commit(project_id: int, prefix: str) -> Select[tuple[int]]:
    """Select the rows of the outcomes that made a commit.

    Args:
        project_id: whose outcomes.
        prefix: the commit's hash, or the beginning of it; fewer than seven characters stand for
            no commit.
    """
    table = outcome_commits.c
    begins = table.commit_id.startswith(prefix.lower(), autoescape=True)
    made = select(table.outcome_id).where(table.project_id == project_id, begins)
    return select(outcomes.c.id).where(
        outcomes.c.project_id == project_id,
        outcomes.c.outcome_id.in_(made),
        literal(len(prefix) >= SHORTEST_PREFIX),
    )
