"""Rewriting: records of procedures whose episodes were forgotten, as if these had never come.

Each run of consolidation is gone through again with the episodes that remain, and each change by
hand where a person made it; the history is written anew on the way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, or_, select, update

from trackrecord.learning.competences.episodes.tally import EpisodeTally
from trackrecord.learning.competences.record import Competence, competence_id
from trackrecord.learning.competences.revision import Revised, RevisionAction
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import (
    NoChange,
    RecordAction,
    RecordUpdate,
    Signature,
    follow,
)
from trackrecord.store.competences.episodes import EpisodeRow, bodies, stream
from trackrecord.store.competences.removed import removed_tally
from trackrecord.store.competences.selection.selection_index import drop_numbers
from trackrecord.store.competences.signatures import add_tallies, clear_sums_of, drop_unused
from trackrecord.store.competences.tables import (
    competence_history,
    competences,
    consolidation_runs,
    episodes,
    signatures,
)
from trackrecord.store.competences.write import SignedChange, write_changes
from trackrecord.store.outcomes.tables import outcomes, projects

from .folding import fold

_REBUILD: Final = "rebuild"
_NIGHTLY: Final = "nightly"
_record = msgspec.json.Decoder(Competence)


@dataclass(frozen=True)
class _ByHand:
    """A person's change of a record, with its state before and after."""

    at: float
    actor: str
    action: str
    rationale: str
    before: Competence
    after: Competence

    def applied(self, record: Competence) -> Competence:
        """Return a record after the same change."""
        before, after = self.before, self.after
        salience = record.salience + after.salience - before.salience
        return replace(
            record,
            salience=min(1.0, max(after.lifecycle.min_salience, salience)),
            lifecycle=after.lifecycle if after.lifecycle != before.lifecycle else record.lifecycle,
            confidence=after.confidence,
            status=after.status,
            relations=after.relations,
            tags=after.tags,
            version=record.version + 1,
            updated_at=self.at,
        )


@dataclass(frozen=True)
class Rewriter:
    """Rewrite records of one project.

    Attributes:
        connection: within a writing transaction that has the project's turn.
        rules: the rules of competence records.
        project: the project's name.
        project_id: the project's row.
    """

    connection: Connection
    rules: CompetenceRules
    project: str
    project_id: int

    def rewrite(self, signature_ids: Sequence[int]) -> None:
        """Rewrite the records of some procedures.

        Args:
            signature_ids: their rows; the forgotten episodes are gone already.
        """
        actors = self._actors()
        for signature_id in sorted(signature_ids):
            query = select(signatures).where(signatures.c.id == signature_id)
            self._rewrite(self.connection.execute(query).one(), actors)
        drop_unused(self.connection, self.project_id)

    def _actors(self) -> dict[float, str]:
        table = consolidation_runs.c
        query = select(table.started_at, table.actor).where(table.project_id == self.project_id)
        return {row.started_at: row.actor for row in self.connection.execute(query)}

    def _rewrite(self, signature: Row[Any], actors: Mapping[float, str]) -> None:
        record_id = competence_id(self.project, signature.name)
        by_hand = list(self._by_hand(record_id, actors))
        since = self._since(record_id)
        self._erase(record_id)
        removed = removed_tally(self.connection, signature.id)
        tally = EpisodeTally()
        record: Competence | None = None
        moments = self._moments(signature.id)
        if removed is not None:
            # What removed outcomes added was there from the first version of the record on.
            moments.add(min([since or self._removed_until(), *moments]))
        for at in sorted({*moments, *(each.at for each in by_hand)}):
            if at in moments:
                tally = self._tally_at(signature, tally, at)
                if removed is not None:
                    tally.merge(removed)
                    removed = None
                record = self._follow(signature, tally, record, at, actors.get(at, _NIGHTLY))
            for change in by_hand:
                if change.at == at and record is not None:
                    record = change.applied(record)
                    revised = Revised(RevisionAction(change.action), record, change.rationale)
                    self._write(signature.id, revised, change.actor, at)
        clear_sums_of(self.connection, signature.id)
        if tally.episodes:
            add_tallies(self.connection, self.project_id, {signature.name: tally})
        self.connection.execute(
            update(signatures)
            .where(signatures.c.id == signature.id)
            .values(changed=signature.changed)
        )

    def _by_hand(self, record_id: str, actors: Mapping[float, str]) -> Iterator[_ByHand]:
        """Yield what people changed, the oldest first."""
        table = competence_history.c
        query = select(competence_history).where(
            table.project_id == self.project_id, table.competence_id == record_id
        )
        before: Competence | None = None
        for row in self.connection.execute(query.order_by(table.at, table.id)).all():
            after = None if row.snapshot is None else _record.decode(row.snapshot)
            is_ours = row.actor == _REBUILD or actors.get(row.at) == row.actor
            if before is not None and after is not None and not is_ours:
                yield _ByHand(row.at, row.actor, row.action, row.rationale, before, after)
            before = after

    def _since(self, record_id: str) -> float | None:
        """Return when the first version of a record was made."""
        table = competence_history.c
        query = select(func.min(table.at)).where(
            table.project_id == self.project_id, table.competence_id == record_id
        )
        return self.connection.execute(query).scalar()

    def _removed_until(self) -> float:
        query = select(projects.c.outcomes_until).where(projects.c.id == self.project_id)
        return self.connection.execute(query).scalar() or 0.0

    def _erase(self, record_id: str) -> None:
        own = competences.c.id == record_id
        known = self.connection.execute(select(competences.c.record).where(own)).scalar()
        if known is not None:
            drop_numbers(self.connection, self.project_id, [_record.decode(known)])
        self.connection.execute(delete(competences).where(own))
        self.connection.execute(
            delete(competence_history).where(
                competence_history.c.project_id == self.project_id,
                competence_history.c.competence_id == record_id,
            )
        )

    def _moments(self, signature_id: int) -> set[float]:
        """Return when consolidation read episodes, or took some back."""
        own = episodes.c.signature_id == signature_id
        found = (
            self.connection.execute(select(column).where(own).distinct()).scalars()
            for column in (episodes.c.read_at, episodes.c.retracted_at)
        )
        return {at for at in chain.from_iterable(found) if at is not None}

    def _tally_at(self, signature: Row[Any], before: EpisodeTally, at: float) -> EpisodeTally:
        """Return the sums after the run of a moment."""
        own = episodes.c.signature_id == signature.id
        # One may be taken back before it was read: the clock was set back.
        stands = or_(episodes.c.retracted_at.is_(None), episodes.c.retracted_at > at)
        taken = fold(self.rules, self._rows(and_(own, episodes.c.retracted_at == at)))
        if taken.read:
            # Sums that fall to nothing are not there at all: added up anew, they are not.
            rows = self._rows(and_(own, episodes.c.read_at <= at, stands))
            tally = fold(self.rules, rows).tallies.get(signature.name, EpisodeTally())
            # Merged already, unless this is the first moment of all.
            if before.episodes:
                tally.merge(removed_tally(self.connection, signature.id) or EpisodeTally())
            return tally
        added = fold(self.rules, self._rows(and_(own, episodes.c.read_at == at, stands)))
        before.merge(added.tallies.get(signature.name, EpisodeTally()))
        return before

    def _rows(self, where: ColumnElement[bool]) -> Iterator[EpisodeRow]:
        query = bodies().join(episodes, episodes.c.outcome == outcomes.c.id).where(where)
        return stream(self.connection, query.order_by(episodes.c.outcome))

    def _follow(
        self,
        signature: Row[Any],
        tally: EpisodeTally,
        record: Competence | None,
        at: float,
        actor: str,
    ) -> Competence | None:
        told = Signature(self.project, signature.name, tally)
        change = follow(self.rules, told, record, at)
        if isinstance(change, NoChange):
            return record
        self._write(signature.id, change, actor, at)
        return None if change.action is RecordAction.REMOVED else change.record

    def _write(
        self, signature_id: int, change: RecordUpdate | Revised, actor: str, at: float
    ) -> None:
        signed = SignedChange(signature_id, change)
        write_changes(self.connection, self.project_id, [signed], actor=actor, now=at)
