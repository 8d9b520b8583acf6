"""Changes of competence records: each is written once, together with its line of history."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, delete, select

from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.update import RecordAction, RecordUpdate

from ..database.upsert import Columns, Upsert, insert_rows
from ..outcomes.projects import note_change
from .credit import hold_numbers
from .selection.selection_index import drop_numbers, write_numbers
from .tables import competence_history, competences

_encoder = msgspec.json.Encoder()
_record = msgspec.json.Decoder(Competence)


@dataclass(frozen=True)
class SignedChange:
    """A change of a signature's record.

    Attributes:
        signature_id: the row of the signature; None for a record made by hand.
        change: what becomes of the record, and why.
    """

    signature_id: int | None
    change: RecordUpdate


def write_changes(
    connection: Connection,
    project_id: int,
    changes: Sequence[SignedChange],
    *,
    actor: str,
    now: float,
) -> None:
    """Write records and their history; the project's rankings are out of date then."""
    if not changes:
        return
    removed = [each.change.record.id for each in changes if _removes(each)]
    kept = [each for each in changes if not _removes(each)]
    snapshots = {
        each.change.record.id: _encoder.encode(each.change.record).decode() for each in kept
    }
    before = _as_they_are(connection, [each.change.record.id for each in changes])
    hold_numbers(connection, before)
    rows = sorted(_row(project_id, each, snapshots) for each in kept)
    _REPLACE.execute(connection, rows)
    write_numbers(connection, project_id, [each.change.record for each in kept], before)
    drop_numbers(connection, project_id, [before[each] for each in removed])
    connection.execute(delete(competences).where(competences.c.id.in_(removed)))
    _write_history(connection, project_id, changes, snapshots, actor, now)
    note_change(connection, project_id, now)


def _as_they_are(connection: Connection, ids: Sequence[str]) -> dict[str, Competence]:
    query = select(competences.c.id, competences.c.record).where(competences.c.id.in_(ids))
    return {row.id: _record.decode(row.record) for row in connection.execute(query)}


def _removes(each: SignedChange) -> bool:
    return each.change.action is RecordAction.REMOVED


_COLUMNS = tuple(column.name for column in competences.c)


def _row(project_id: int, each: SignedChange, snapshots: dict[str, str]) -> tuple[Any, ...]:
    record = each.change.record
    return (
        record.id,
        project_id,
        each.signature_id,
        record.status.value,
        record.updated_at,
        snapshots[record.id],
    )


def _replaced(_table: Columns, new: Columns) -> dict[str, Any]:
    return {name: new[name] for name in ("status", "updated_at", "record")}


_REPLACE: Final = Upsert(competences, _COLUMNS, key=_COLUMNS[:1], combine=_replaced)


_HISTORY = tuple(column for column in competence_history.c if column.name != "id")


def _write_history(
    connection: Connection,
    project_id: int,
    changes: Sequence[SignedChange],
    snapshots: dict[str, str],
    actor: str,
    now: float,
) -> None:
    rows = [
        (
            project_id,
            change.record.id,
            change.action.value,
            actor,
            now,
            change.rationale,
            snapshots.get(change.record.id),
        )
        for change in (each.change for each in changes)
    ]
    insert_rows(connection, competence_history, _HISTORY, rows)
