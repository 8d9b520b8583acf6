"""Consolidation runs as a reader is shown them."""

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection

from trackrecord.learning.text.times import iso
from trackrecord.store.competences.consolidation.runs import StoredRun, read_runs

from .project_rows import project_row


@dataclass(frozen=True)
class ConsolidationRuns:
    """The last runs over a project's episodes.

    Attributes:
        project: whose episodes.
        runs: as they are on record.
    """

    project: str
    runs: tuple[StoredRun, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the runs as a JSON object."""
        return {"project": self.project, "runs": [_run_document(run) for run in self.runs]}


def _run_document(run: StoredRun) -> dict[str, Any]:
    moments = {"started_at": iso(run.started_at), "finished_at": iso(run.finished_at)}
    return {**asdict(run), **moments}


def last_runs(connection: Connection, project: str, *, limit: int | None = 10) -> ConsolidationRuns:
    """Return the last runs over a project's episodes, the newest first; all without a limit.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    runs = read_runs(connection, project_row(connection, project), limit=limit)
    return ConsolidationRuns(project, tuple(runs))
