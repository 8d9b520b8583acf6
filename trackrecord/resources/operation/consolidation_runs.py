"""Consolidation runs as a reader is shown them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant

if TYPE_CHECKING:
    from sqlalchemy import Connection


class ConsolidationRun(Answer, frozen=True, kw_only=True):
    """A run over a project's episodes.

    Attributes:
        project: whose episodes were read.
        actor: who started it.
        started_at: when.
        finished_at: when it was done; null: it is running, or it died.
        duration_ms: how long it took.
        episodes_read: episodes that were new.
        signatures_touched: procedures that they belong to.
        records_created: records that are new.
        records_reinforced: records with new successes.
        records_updated: records that changed in another way.
        skipped: what changed no record, by reason.
    """

    project: str
    actor: str
    started_at: Instant
    finished_at: Instant | None
    duration_ms: float | None
    episodes_read: int
    signatures_touched: int
    records_created: int
    records_reinforced: int
    records_updated: int
    skipped: dict[str, int]


class ConsolidationRuns(Answer, frozen=True):
    """The last runs over a project's episodes.

    Attributes:
        project: whose episodes.
        runs: as they are on record.
    """

    project: str
    runs: tuple[ConsolidationRun, ...]


CONSOLIDATION_RUNS: Final = sorting_of(
    "runs", "started_at", started="started_at", took="duration_ms", episodes="episodes_read"
)


def last_runs(connection: Connection, project: str) -> ConsolidationRuns:
    """Return the runs over a project's episodes, the newest first.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.resources.access.project_rows import project_row
    from trackrecord.store.competences.consolidation.runs import read_runs

    runs = read_runs(connection, project_row(connection, project), limit=None)
    return ConsolidationRuns(project, tuple(map(ConsolidationRun.taken, runs)))
