"""The state of the loop, as far as the store knows."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from ..competences.tables import consolidation_runs, signatures
from ..database.engine import dialect_of
from ..outcomes.projects import ProjectCounts, count_outcomes
from ..outcomes.tables import outcomes, waiting_episodes

_OTHER: Final = "other"
# Of pages that are used again, before the file grows.
_FREE: Final = "free"


@dataclass(frozen=True)
class StoreStatus:
    """The counts and times of the store.

    Attributes:
        counts: outcomes, successes, and outcomes without a verdict.
        signatures: procedures that episodes were of.
        waiting_episodes: episodes that consolidation has not read yet.
        last_consolidation: when the last finished run ended, seconds since the epoch.
    """

    counts: ProjectCounts
    signatures: int
    waiting_episodes: int
    last_consolidation: float | None


def read_store_status(connection: Connection, project_id: int | None) -> StoreStatus:
    """Return the store's part of the status, of one project or of all (None)."""
    waiting = select(func.count()).select_from(waiting_episodes)
    last = select(func.max(consolidation_runs.c.finished_at))
    known = select(func.count()).select_from(signatures)
    if project_id is not None:
        known = known.where(signatures.c.project_id == project_id)
        waiting = waiting.where(waiting_episodes.c.project_id == project_id)
        last = last.where(consolidation_runs.c.project_id == project_id)
    return StoreStatus(
        counts=count_outcomes(connection, project_id),
        signatures=connection.execute(known).scalar_one(),
        waiting_episodes=connection.execute(waiting).scalar_one(),
        last_consolidation=connection.execute(last).scalar(),
    )


# What people know the tables by, by the beginnings of their names; the first one that fits.
_TABLES: Final = {
    "entries": "outcome_entries",
    "outcomes": "outcomes",
    "runs": "listed_runs tried_calls runs past_tasks task_words",
    "patterns": "items receipts totals pattern",
    "procedures": "episodes waiting_ signature competence text_vectors",
    "memories": "memor",
    "advice": "exposures hints feedback",
    "removed": "removed_",
    "indexes": "ix_ sqlite_autoindex",
}
_KINDS: Final = {begin: kind for kind, each in _TABLES.items() for begin in each.split()}


def read_bytes(connection: Connection) -> dict[str, int]:
    """Return the bytes of the database by kind of row, the largest first; the sum is "total".

    A very large SQLite database has no more than its sum: counting would take too long.
    """
    found: Counter[str] = Counter()
    for name, size in dialect_of(connection).bytes_of(connection).items():
        found[_kind_of(name)] += size
    total = {"total": found.total()}
    if set(found) == {_FREE}:
        return total
    return total | {kind: size for kind, size in found.most_common() if size}


def _kind_of(name: str) -> str:
    if not name:
        return _FREE
    if name.endswith(("_key", "_pkey")):  # as PostgreSQL names its own
        return "indexes"
    return next((kind for start, kind in _KINDS.items() if name.startswith(start)), _OTHER)


def unconsolidated_since(connection: Connection) -> float | None:
    """Since when, at the longest, a project's episodes have been waiting for a run.

    For each project with waiting episodes that is when its last finished run ended, or, before its
    first one, when the oldest of them was received. None when no episode waits.
    """
    oldest = (
        select(waiting_episodes.c.project_id, func.min(outcomes.c.received_at).label("at"))
        .join(outcomes, outcomes.c.id == waiting_episodes.c.outcome)
        .group_by(waiting_episodes.c.project_id)
        .subquery()
    )
    runs = consolidation_runs.c
    last = (
        select(runs.project_id, func.max(runs.finished_at).label("at"))
        .group_by(runs.project_id)
        .subquery()
    )
    return connection.execute(
        select(func.min(func.coalesce(last.c.at, oldest.c.at))).select_from(
            oldest.outerjoin(last, last.c.project_id == oldest.c.project_id)
        )
    ).scalar()
