"""Competence records as a reader is shown them: all of a project, one of them, and its history."""

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates
from trackrecord.learning.competences.document import RecordReading, document_of
from trackrecord.learning.competences.fallbacks import fallbacks_among
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import salience_now
from trackrecord.learning.competences.signatures import signature_of
from trackrecord.prompt.documents.presentation import present_competence
from trackrecord.resources.estimates import EstimateAnswer
from trackrecord.store.competences.provenance import read_provenance
from trackrecord.store.competences.read import (
    HistoryEntry,
    read_competence,
    read_competences,
    read_history,
)
from trackrecord.store.competences.tables import competence_history
from trackrecord.store.outcomes.projects import count_outcomes
from trackrecord.times import iso

from .estimates import read_estimates
from .project_rows import project_row
from .short_ids import ids_beginning_with, ids_near, whole_stored_id


@dataclass(frozen=True)
class CompetenceRecord:
    """A competence record, with what belongs to it at a moment.

    Attributes:
        record: what is stored.
        reading: the moment, and what was found beside the record.
        estimate: how often runs of its procedure succeed; None if not counted.
    """

    record: Competence
    reading: RecordReading
    estimate: Estimate | None = None

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id

    @property
    def tools(self) -> str:
        """The tools of its recipe, in order."""
        return " > ".join(step.tool for step in self.record.recipe)

    @property
    def worked(self) -> str:
        """How many of its episodes succeeded, as "3/4"."""
        performance = self.record.performance
        successes = performance.success_count
        return f"{successes}/{successes + performance.failure_count}"

    @property
    def salience_now(self) -> float:
        """Its salience, aged to the moment."""
        return salience_now(self.record.salience, self.record.lifecycle, self.reading.now)

    def to_document(self) -> dict[str, Any]:
        """Return the record as a JSON object, with its times as ISO 8601."""
        document = document_of(self.record, self.reading)
        for part, name in (
            (document, "created_at"),
            (document, "updated_at"),
            (document["lifecycle"], "last_reinforced_at"),
            (document["performance"], "last_used_at"),
        ):
            part[name] = iso(part[name])
        if self.estimate is not None:
            document["estimate"] = EstimateAnswer.of(self.estimate).to_document()
        return document


@dataclass(frozen=True)
class RecordChange:
    """One change of a record.

    Attributes:
        action: what was done.
        actor: who did it.
        at: when, seconds since the epoch.
        rationale: why.
        version: the record's version from then on; None where the change removed the record.
        status: its status from then on; None as above.
        salience: its salience from then on; None as above.
    """

    action: str
    actor: str
    at: float
    rationale: str
    version: int | None
    status: str | None
    salience: float | None

    def to_document(self) -> dict[str, Any]:
        """Return the change as a JSON object."""
        return dict(vars(self)) | {"at": iso(self.at)}


@dataclass(frozen=True)
class RecordDetails:
    """A record with its history.

    Attributes:
        record: the record, its fallbacks and its provenance.
        history: every change, the first one first.
    """

    record: CompetenceRecord
    history: tuple[RecordChange, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the record with its history as a JSON object."""
        history = [change.to_document() for change in self.history]
        return self.record.to_document() | {"history": history}


def list_competences(
    connection: Connection, settings: DaemonSettings, project: str, *, at: float | None = None
) -> list[CompetenceRecord]:
    """Return the records of a project, best first, each with its fallbacks and its estimate.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    now = time.time() if at is None else at
    project_id = project_row(connection, project)
    records = read_competences(connection, project_id, at=at)
    base_rate = count_outcomes(connection, project_id, at).base_rate
    fallbacks = fallbacks_among(records, settings.competence.max_fallbacks)

    def rank(record: Competence) -> tuple[float, str]:
        return -present_competence(record, now=now, base_rate=base_rate).score, record.id

    records.sort(key=rank)
    estimates = read_estimates(connection, settings, project, at=at)
    return [
        CompetenceRecord(each, RecordReading(now, fallbacks[each.id]), _estimate(estimates, each))
        for each in records
    ]


def _estimate(estimates: Estimates, record: Competence) -> Estimate:
    return estimates.procedure(signature_of(tuple({step.tool for step in record.recipe})))


def show_competence(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    competence_id: str,
    *,
    at: float | None = None,
) -> RecordDetails:
    """Return one record with its fallbacks, its provenance, its estimate and its history.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose record.
        competence_id: the record's id, or the beginning of it.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such record, or had none at that moment.
        AmbiguousId: several records' ids begin so.
    """
    project_id = project_row(connection, project)
    competence_id = whole_record_id(connection, project, competence_id)
    record = read_competence(connection, project_id, competence_id, at=at)
    others = read_competences(connection, project_id, at=at)
    provenance = read_provenance(connection, project_id, record, at=at)
    reading = RecordReading(
        now=time.time() if at is None else at,
        fallbacks=fallbacks_among(others, settings.competence.max_fallbacks)[record.id],
        episodes=provenance.count,
        outcome_ids=provenance.outcome_ids,
    )
    history = _history(connection, project_id, competence_id, at)
    estimates = read_estimates(connection, settings, project, at=at)
    return RecordDetails(CompetenceRecord(record, reading, _estimate(estimates, record)), history)


def record_history(
    connection: Connection, project: str, competence_id: str, *, at: float | None = None
) -> tuple[RecordChange, ...]:
    """Return every change of a record, the first one first, also when the record is gone.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project never had such a record.
        AmbiguousId: several records' ids begin so.
    """
    project_id = project_row(connection, project)
    whole = whole_record_id(connection, project, competence_id)
    return _history(connection, project_id, whole, at)


def _history(
    connection: Connection, project_id: int, competence_id: str, at: float | None
) -> tuple[RecordChange, ...]:
    entries = read_history(connection, project_id, competence_id, at=at)
    return tuple(map(_change, entries))


def _change(entry: HistoryEntry) -> RecordChange:
    record = entry.record
    return RecordChange(
        action=entry.action,
        actor=entry.actor,
        at=entry.at,
        rationale=entry.rationale,
        version=record.version if record else None,
        status=record.status.value if record else None,
        salience=record.salience if record else None,
    )


def find_competence(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    competence_id: str,
    *,
    at: float | None = None,
) -> CompetenceRecord:
    """Return one record with its estimate, without what is found beside it.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose record.
        competence_id: the record's id, or the beginning of it.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such record, or had none at that moment.
        AmbiguousId: several records' ids begin so.
    """
    project_id = project_row(connection, project)
    whole = whole_record_id(connection, project, competence_id)
    record = read_competence(connection, project_id, whole, at=at)
    estimates = read_estimates(connection, settings, project, at=at)
    return CompetenceRecord(
        record, RecordReading(time.time() if at is None else at), _estimate(estimates, record)
    )


def whole_record_id(connection: Connection, project: str, given: str) -> str:
    """Return the id of the record that an id, or the beginning of one, stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project never had such a record.
        AmbiguousId: several records' ids begin so.
    """
    table = competence_history.c
    return whole_stored_id(
        connection,
        table.competence_id,
        table.project_id == project_row(connection, project),
        given,
        f"project {project!r} has no competence record {given!r}",
        hint="`trackrecord competences list` shows its records",
    )


def record_ids(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the ids of the records, present or gone, that begin with a text."""
    table = competence_history.c
    return ids_beginning_with(
        connection, table.competence_id, table.project_id == project_id, given
    )


def record_ids_near(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the ids of the records, present or gone, that a mistyped one may have been."""
    table = competence_history.c
    return ids_near(connection, table.competence_id, table.project_id == project_id, given)
