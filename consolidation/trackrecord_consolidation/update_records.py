"""Update: bring the records of changed signatures up to date."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import CompetenceRules
from trackrecord.learning.competences.update import NoChange, RecordUpdate, Signature, follow
from trackrecord.store.competences.credit import settle_credits
from trackrecord.store.competences.read import records_of
from trackrecord.store.competences.signature_counts import read_facts
from trackrecord.store.competences.signatures import (
    StoredSignature,
    changed_signatures,
    clear_changed,
)
from trackrecord.store.competences.write import SignedChange, write_changes

from .report import Progress

# From a signature and its record, if it has one, to a change.
Rule = Callable[[CompetenceRules, Signature, Competence | None, float], RecordUpdate | NoChange]


@dataclass(frozen=True, kw_only=True)
class RecordUpdater:
    """Bring records of one project up to date.

    Attributes:
        rules: the rules of competence records.
        project: the project's name.
        project_id: the id of the project's row.
        actor: the person or program behind the run.
        now: the time of the run.
        rule: the function that applies new evidence to a record.
    """

    rules: CompetenceRules
    project: str
    project_id: int
    actor: str
    now: float
    rule: Rule = follow

    def update_records(self, connection: Connection, progress: Progress, *, limit: int) -> bool:
        """Bring the records of some changed signatures up to date; return whether any were."""
        stored = changed_signatures(connection, self.project_id, limit=limit)
        if not stored:
            return False
        changes = self.decide(connection, stored, progress)
        settle_credits(connection, [each.id for each in stored])
        write_changes(connection, self.project_id, changes, actor=self.actor, now=self.now)
        clear_changed(connection, [each.id for each in stored])
        return True

    def decide(
        self, connection: Connection, stored: Sequence[StoredSignature], progress: Progress
    ) -> list[SignedChange]:
        """Return the changes of the signatures' records; nothing is written."""
        records = records_of(connection, [each.id for each in stored])
        # Most signatures have a single success: their facts need not be read.
        relevant = [
            each
            for each in stored
            if each.id in records or each.tally.successes >= self.rules.min_successes
        ]
        read_facts(connection, {each.id: each.tally for each in relevant})
        changes, decided = [], []
        for each in stored:
            signature = Signature(self.project, each.name, each.tally)
            decision = self.rule(self.rules, signature, records.get(each.id), self.now)
            if isinstance(decision, NoChange):
                progress.skipped[decision.value] += 1
            else:
                decided.append(decision)
                changes.append(SignedChange(each.id, decision))
        progress.add_changes(decided)
        return changes
