"""The runs behind a competence record."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.experience.competences import whole_record_id
from trackrecord.store.advice.run_records import noted_runs
from trackrecord.store.competences.provenance import newest_rows
from trackrecord.store.competences.read import read_competence

from .runs import RunAnswer, runs_of_keys

_MOST_RUNS: Final = 500
_MOST_SHOWN: Final = 20


@dataclass(frozen=True)
class RecordRuns:
    """The newest runs that count for a record.

    Attributes:
        runs: the newest of them, the newest first.
        count: how many there are.
        are_more: whether older ones were left out.
    """

    runs: tuple[RunAnswer, ...]
    count: int
    are_more: bool


def runs_behind_record(connection: Connection, project: str, competence_id: str) -> RecordRuns:
    """Return the newest runs that count for a record.

    Args:
        connection: a reading transaction.
        project: whose record.
        competence_id: the record's id, or the beginning of it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such record, or had none at that moment.
        AmbiguousId: several records' ids begin so.
    """
    project_id = project_row(connection, project)
    whole = whole_record_id(connection, project, competence_id)
    record = read_competence(connection, project_id, whole)
    rows = newest_rows(connection, project_id, record, limit=_MOST_RUNS + 1)
    found = noted_runs(connection, project_id, rows[:_MOST_RUNS])
    newest = [(each.ended_at, each.outcome) for each in found[:_MOST_SHOWN]]
    return RecordRuns(
        runs=tuple(runs_of_keys(connection, project, newest)),
        count=len(found),
        are_more=len(rows) > _MOST_RUNS,
    )
