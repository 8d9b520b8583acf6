"""Forgetting in the store: a source, a task or a project, in one transaction.

Rewriting: records of procedures whose episodes were forgotten, as if these had never come.

Each run of consolidation is gone through again with the episodes that remain, and each change by
hand where a person made it; the history is written anew on the way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    and_,
    delete,
    func,
    or_,
    select,
    update,
)

from trackrecord.learning.competences.episodes.tally import EpisodeTally
from trackrecord.learning.competences.record import Competence, competence_id
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import (
    NoChange,
    RecordAction,
    RecordUpdate,
    Signature,
    follow,
)
from trackrecord.learning.rules_bundle import Rules
from trackrecord.store.competences.episodes import EpisodeRow, bodies, stream
from trackrecord.store.competences.rebuild_credit import rebuild_credit
from trackrecord.store.competences.removed import removed_tally
from trackrecord.store.competences.selection.selection_index import drop_numbers
from trackrecord.store.competences.signatures import add_tallies, clear_sums, drop_unused
from trackrecord.store.competences.tables import (
    competence_history,
    competences,
    consolidation_runs,
    episodes,
    signatures,
)
from trackrecord.store.competences.write import SignedChange, write_changes
from trackrecord.store.database.engine import reading, writing
from trackrecord.store.intake.forget_outcomes import forget_outcomes
from trackrecord.store.intake.forget_project import (
    count_of_name,
    count_of_project,
    forget_name,
    forget_project,
)
from trackrecord.store.intake.intake import learn
from trackrecord.store.intake.subjects import OnRecord, find_on_record
from trackrecord.store.outcomes.entries import entries_of
from trackrecord.store.outcomes.forgotten import (
    finish_forgetting,
    lock_project,
    mark_forgotten,
    note_forgetting,
    unfinished,
)
from trackrecord.store.outcomes.projects import note_change, project_id_of
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import ScoredOutcome, scorer_of
from trackrecord.wire.subject import Subject

from .folding import fold
from .run_lease import RunLease

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
                    revised = RecordUpdate(RecordAction(change.action), record, change.rationale)
                    self._write(signature.id, revised, change.actor, at)
        clear_sums(self.connection, signatures.c.id == signature.id)
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

    def _write(self, signature_id: int, change: RecordUpdate, actor: str, at: float) -> None:
        signed = SignedChange(signature_id, change)
        write_changes(self.connection, self.project_id, [signed], actor=actor, now=at)


_TURN_S = 60.0
# What recordings and repositories say is read again in the project that it belongs to.
_READ_AGAIN: Final = frozenset({"transcript", "plugin", "repository"})


@dataclass(frozen=True)
class InStore:
    """The counts of a subject's rows in the store.

    Attributes:
        found: its outcomes, and what follows from them; of a project only its counts are known.
        counts: how many there are, by what they are.
        is_begun: whether an act of forgetting it was interrupted.
    """

    found: OnRecord = field(default_factory=OnRecord)
    counts: dict[str, int] = field(default_factory=dict)
    is_begun: bool = False


def find_in_store(engine: Engine, subject: Subject) -> InStore:
    """Return the counts of a subject's records; changes nothing."""
    with reading(engine) as connection:
        return _find(connection, project_id_of(connection, subject.project), subject)


def _find(connection: Connection, project_id: int | None, subject: Subject) -> InStore:
    is_begun = bool(unfinished(connection, subject))
    if subject.what == "project":
        counts = count_of_name(connection, subject.project)
        if project_id is not None:
            counts |= {"projects": 1} | count_of_project(connection, project_id)
        return InStore(counts=counts, is_begun=is_begun)
    if project_id is None:
        return InStore(is_begun=is_begun)
    found = find_on_record(connection, project_id, subject)
    counts = {
        "outcomes": len(found.outcomes),
        "memories": len(found.memories) + len(found.seconded),
        "exposures": len(found.exposures),
        "hints": len(found.hints),
        "observations": found.observations,
    }
    return InStore(found, counts, is_begun)


def check_turn(engine: Engine, project: str) -> None:
    """Check that no consolidation of the project is running.

    Raises:
        AlreadyRunning: somebody does.
    """
    with writing(engine) as connection:
        turn = RunLease(project, _TURN_S)
        turn.take(connection)
        turn.give_back(connection)


def forget_in_store(
    engine: Engine,
    rules: Rules,
    subject: Subject,
    marks: Iterable[bytes],
    *,
    actor: str,
    now: float,
) -> dict[str, int]:
    """Forget a subject in the store; return how many of each kind were erased.

    All of it happens or nothing. Workers' batches of the project wait in the stream meanwhile, and
    readers see the store as it was before. What was interrupted before is part of the answer.

    Args:
        engine: the store.
        rules: the rules of today.
        subject: what is to be forgotten.
        marks: what stands for ids that were found elsewhere, so that they do not come back.
        actor: who forgets it.
        now: seconds since the epoch.

    Raises:
        AlreadyRunning: the project is being consolidated.
        StoreUnavailable: the database cannot be used, or is locked for too long.
    """
    with writing(engine) as connection:
        lock_project(connection, subject.project)
        project_id = project_id_of(connection, subject.project)
        known = _find(connection, project_id, subject)
        if project_id is not None:
            turn = RunLease(subject.project, _TURN_S)
            turn.take(connection)
            if subject.what == "project":
                forget_project(connection, subject.project, project_id, now=now)
            else:
                _forget_some(connection, project_id, rules, subject, known.found, now)
            turn.give_back(connection)
        elif subject.what == "project":
            forget_name(connection, subject.project)
        mark_forgotten(connection, marks, now)
        note_forgetting(connection, subject, known.counts, actor=actor, now=now)
    return known.counts


def _forget_some(
    connection: Connection,
    project_id: int,
    rules: Rules,
    subject: Subject,
    found: OnRecord,
    now: float,
    *,
    for_good: bool = True,
) -> None:
    gone = forget_outcomes(
        connection, project_id, subject, found, rules, now=now, for_good=for_good
    )
    if found.rows:
        rewriter = Rewriter(connection, rules.competence, subject.project, project_id)
        rewriter.rewrite(gone)
        rebuild_credit(connection, project_id)


def move_outcomes(
    engine: Engine, rules: Rules, project: str, moved: Mapping[str, str], *, now: float
) -> bool:
    """Take outcomes out of a project, as they are on record in others now.

    What others said of them, such as a person's verdict, moves along. A project of which nothing is
    left goes, too.

    Args:
        engine: the store.
        rules: the rules of today.
        project: the project that they were in.
        moved: the project that each belongs to now, by their ids.
        now: seconds since the epoch.

    Returns:
        Whether anything is left in the project.

    Raises:
        AlreadyRunning: the project is being consolidated.
        StoreUnavailable: the database cannot be used, or is locked for too long.
    """
    with writing(engine) as connection:
        lock_project(connection, project)
        project_id = project_id_of(connection, project)
        if project_id is None:
            return False
        turn = RunLease(project, _TURN_S)
        turn.take(connection)
        learn(connection, _said_of(connection, project_id, rules, moved), rules, now=now)
        subject = Subject("task", project, "")
        found = find_on_record(connection, project_id, subject, alone=moved)
        _forget_some(connection, project_id, rules, subject, found, now, for_good=False)
        note_change(connection, project_id, now)
        counts = count_of_project(connection, project_id) | count_of_name(connection, project)
        turn.give_back(connection)
        if not any(counts.values()):
            forget_project(connection, project, project_id, now=now)
        return any(counts.values())


def _said_of(
    connection: Connection, project_id: int, rules: Rules, moved: Mapping[str, str]
) -> list[ScoredOutcome]:
    """Return what was said of outcomes, other than by their recordings, in their new projects."""
    entries = entries_of(connection, [(project_id, each) for each in moved])
    scorer, found = scorer_of(rules), []
    for (_, outcome_id), said in entries.items():
        for each in said:
            fields = msgspec.json.decode(each.body)
            if fields.get("captured_from") in _READ_AGAIN:
                continue
            body = msgspec.json.encode(fields | {"project": moved[outcome_id]})
            outcome = decode_outcome(body, max_bytes=2 * len(body))
            at = each.received_at
            found.append(scorer.score(outcome, body, received_at=at, outcome_id=outcome_id))
    return found


def finish(engine: Engine, subject: Subject, counts: dict[str, int], *, now: float) -> None:
    """Note that the subject is gone everywhere; the last record has the totals."""
    with writing(engine) as connection:
        begun = unfinished(connection, subject)
        for act in begun:
            is_last = act is begun[-1]
            finish_forgetting(connection, act.row, counts if is_last else act.counts, now=now)
