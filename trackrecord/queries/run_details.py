"""One run with all that belongs to it: what its task was handed, its patterns, its procedure."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from trackrecord.learning.advice.runs import NotedRun
from trackrecord.learning.competences.record import competence_id
from trackrecord.learning.competences.signatures import signature_of
from trackrecord.store.advice.found_runs import runs_of_rows
from trackrecord.store.competences.read import existing_ids
from trackrecord.store.outcomes.standing import outcome_stood
from trackrecord.store.outcomes.tables import outcomes

from .handed_out import HandedOut, handed_to_run
from .project_rows import project_row
from .runs import RunOnRecord, show_run


@dataclass(frozen=True)
class RunDetails:
    """A run with what belongs to it.

    Attributes:
        run: the run, as it is on record.
        patterns: the slugs of the patterns that it touches.
        record: the id of the competence record of just its tools; None if there is none.
        handed: what its task had been handed when it ended, the newest first.
    """

    run: RunOnRecord
    patterns: tuple[str, ...]
    record: str | None
    handed: tuple[HandedOut, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the run with what belongs to it as a JSON object."""
        return self.run.to_document() | {
            "patterns": list(self.patterns),
            "competence": self.record,
            "handed": [each.to_document() for each in self.handed],
        }


def run_details(
    connection: Connection, project: str, outcome_id: str, *, at: float | None = None
) -> RunDetails:
    """Return one run with what belongs to it.

    Args:
        connection: a reading transaction.
        project: whose run.
        outcome_id: the id of its outcome, or the beginning of it.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such outcome.
        AmbiguousId: several outcomes' ids begin so.
    """
    run = show_run(connection, project, outcome_id, at=at)
    project_id = project_row(connection, project)
    noted = _noted(connection, project_id, run.outcome_id, at)
    return RunDetails(
        run=run,
        patterns=() if noted is None else noted.patterns,
        record=None if noted is None else _record(connection, project, project_id, noted),
        handed=handed_to_run(connection, project, run, noted, at=at),
    )


def _noted(
    connection: Connection, project_id: int, outcome_id: str, at: float | None
) -> NotedRun | None:
    query = select(outcomes.c.id).where(
        outcomes.c.project_id == project_id,
        outcomes.c.outcome_id == outcome_id,
        outcome_stood(at),
    )
    rows = list(connection.execute(query).scalars())
    found = runs_of_rows(connection, project_id, rows, at=at)
    return found[0].run if found else None


def _record(connection: Connection, project: str, project_id: int, run: NotedRun) -> str | None:
    if not run.order:
        return None
    wanted = competence_id(project, signature_of(run.order))
    return next(iter(existing_ids(connection, project_id, [wanted])), None)
