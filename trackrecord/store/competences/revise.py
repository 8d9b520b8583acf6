"""Revising: changes of competence records by hand, each in the caller's one transaction.

Whatever is wrong raises, so that the transaction is rolled back: nothing is ever half done.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from sqlalchemy import Connection

from trackrecord.errors import InvalidRevision, RevisionRefused
from trackrecord.learning.competences import revision
from trackrecord.learning.competences.episodes.tally import EpisodeTally
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.revision import ForkChanges
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import RecordAction, RecordUpdate

from ..outcomes.recorded_rules import hold_bases
from .read import existing_ids, held_for_revision, read_named
from .signatures import add_tallies
from .write import SignedChange, write_changes


@dataclass(frozen=True)
class Signed:
    """The author, time and reason of a revision of records.

    Attributes:
        actor: who.
        rationale: why; for the history, which outlives the records.
        now: when, seconds since the epoch.
    """

    actor: str
    rationale: str
    now: float

    def __post_init__(self) -> None:
        for name in ("actor", "rationale"):
            if not getattr(self, name).strip():
                message = f"a revision needs its {name}"
                raise InvalidRevision(message)


class Reviser:
    """Revises records of one project within one writing transaction.

    Every method raises UnknownId for an id that the project does not know, RevisionRefused for a
    record that is retracted or superseded, InvalidRevision for what makes no sense.

    Args:
        connection: of the transaction.
        project_id: the project's row.
        rules: what new records start with.
        signed: who, when and why.
    """

    def __init__(
        self, connection: Connection, project_id: int, rules: CompetenceRules, signed: Signed
    ) -> None:
        self._connection = connection
        self._project_id = project_id
        self._rules = rules
        self.signed = signed
        self._signatures: dict[str, int | None] = {}
        # Before anything else is held: a rebuild, which changes all, holds it from its beginning.
        hold_bases(connection, project_id)

    def reinforce(self, competence_id: str, amount: float | None = None) -> Competence:
        """Raise a record's salience by its gain, or by an amount."""
        return self._one(
            competence_id,
            RecordAction.REINFORCED,
            lambda record: revision.reinforce(record, amount, now=self.signed.now),
        )

    def penalize(self, competence_id: str, amount: float) -> Competence:
        """Lower a record's salience by an amount."""
        return self._one(
            competence_id,
            RecordAction.PENALIZED,
            lambda record: revision.penalize(record, amount, now=self.signed.now),
        )

    def add(self, record: Competence) -> Competence:
        """Store a new record by hand; episodes of its signature count for it from then on.

        Raises:
            RevisionRefused: there is a record of this signature already.
        """
        # The row is held from here on: consolidation makes no record of it at the same time.
        rows = add_tallies(self._connection, self._project_id, {record.signature: EpisodeTally()})
        if record.id in existing_ids(self._connection, self._project_id, [record.id]):
            message = (
                f"there is a record of these tools already, {record.id}; nothing was stored: "
                "fork it to store another procedure of the same tools"
            )
            raise RevisionRefused(message)
        self._signatures[record.id] = rows[record.signature]
        self._write((RecordAction.ADDED, record))
        return record

    def contest(self, competence_id: str, by: str, *, is_record: bool) -> Competence:
        """Mark a record as contested by another one, or by named evidence."""
        if is_record:
            self._held([competence_id, by])
        return self._one(
            competence_id,
            RecordAction.CONTESTED,
            lambda record: revision.contest(record, by, now=self.signed.now),
        )

    def retract(self, competence_id: str) -> Competence:
        """Take a record out of selection; it is kept, with its history."""
        return self._one(
            competence_id,
            RecordAction.RETRACTED,
            lambda record: revision.retract(record, now=self.signed.now),
        )

    def supersede(self, old_id: str, new_id: str) -> tuple[Competence, Competence]:
        """Put one record in the place of another; answers the old one and the new one."""
        held = self._held([old_id, new_id])
        old, new = revision.supersede(held[old_id], held[new_id], now=self.signed.now)
        self._write((RecordAction.SUPERSEDED, old), (RecordAction.SUPERSEDES, new))
        return old, new

    def fork(self, competence_id: str, changes: ForkChanges) -> Competence:
        """Make a new record from another one; both are active then."""
        held = self._held([competence_id])
        made = revision.fork(
            self._rules, held[competence_id], _new_id(), changes, now=self.signed.now
        )
        self._write((RecordAction.FORKED, made))
        return made

    def merge(self, competence_ids: Sequence[str]) -> Competence:
        """Make one record of several, which are retracted."""
        held = self._held(competence_ids)
        # What outcomes credited is part of what they add up to, but not of what they are stored as.
        credited = read_named(self._connection, self._project_id, competence_ids)
        several = [credited[each] for each in competence_ids]
        merged = revision.merge(self._rules, several, _new_id(), now=self.signed.now)
        sources = [revision.retract(each, now=self.signed.now) for each in held.values()]
        self._write(
            (RecordAction.MERGED, merged),
            *((RecordAction.RETRACTED, each) for each in sources),
        )
        return merged

    def _held(self, ids: Sequence[str]) -> dict[str, Competence]:
        found = held_for_revision(self._connection, self._project_id, ids)
        self._signatures.update({each: row for each, (row, _) in found.items()})
        return {each: record for each, (_, record) in found.items()}

    def _one(
        self, competence_id: str, action: RecordAction, change: Callable[[Competence], Competence]
    ) -> Competence:
        record = self._held([competence_id])[competence_id]
        changed = change(record)
        self._write((action, changed))
        return changed

    def _write(self, *changed: tuple[RecordAction, Competence]) -> None:
        signed = self.signed
        changes = [
            SignedChange(
                self._signatures.get(record.id), RecordUpdate(action, record, signed.rationale)
            )
            for action, record in changed
        ]
        write_changes(
            self._connection, self._project_id, changes, actor=signed.actor, now=signed.now
        )


def _new_id() -> str:
    return f"skill-{uuid4().hex[:24]}"
