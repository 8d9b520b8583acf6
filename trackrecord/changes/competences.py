"""Changes of competence records: procedures that are stored by hand, and revisions."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from sqlalchemy import Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.competences.document import RecordReading
from trackrecord.learning.competences.new_record import NewCompetence, new_record
from trackrecord.queries.competences import CompetenceRecord, whole_record_id
from trackrecord.queries.project_rows import project_row
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.intake.intake import ensure_projects

from .writing import changing


def add_competences(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    procedures: Sequence[NewCompetence],
    *,
    by: str,
    reason: str,
) -> list[CompetenceRecord]:
    """Store procedures by hand, all of them or none; a project of that name is made if need be.

    Args:
        engine: the store.
        settings: the rules.
        project: whose records they become.
        procedures: what to store.
        by: their author, for their history.
        reason: why, for their history.

    Raises:
        InvalidRevision: the author or the reason is blank.
        RevisionRefused: there is a record of the same tools already; nothing was stored.
    """
    signed = Signed(by, reason, time.time())
    with changing(engine, settings, project) as connection:
        row = ensure_projects(connection, [project])[project]
        reviser = Reviser(connection, row, settings.competence, signed)
        records = [
            reviser.add(new_record(settings.competence, project, each, by=by, now=signed.now))
            for each in procedures
        ]
    return [CompetenceRecord(record, RecordReading(signed.now)) for record in records]


@contextmanager
def revising(
    engine: Engine, settings: DaemonSettings, project: str, *, by: str, reason: str
) -> Iterator[tuple[Reviser, Callable[[str], str]]]:
    """Revise records of a project in one transaction, of which nothing stays if the block raises.

    Args:
        engine: the store.
        settings: the rules.
        project: whose records.
        by: who revises them, for their history.
        reason: why, for their history, which outlives them.

    Yields:
        What revises records, and what finds the whole id that the beginning of one stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRevision: the author or the reason is blank.
    """
    signed = Signed(by, reason, time.time())
    with changing(engine, settings, project) as connection:
        reviser = Reviser(connection, project_row(connection, project), settings.competence, signed)
        yield reviser, partial(whole_record_id, connection, project)
