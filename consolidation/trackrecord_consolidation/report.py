"""The report of a run: the episodes that it read and the records that it changed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from trackrecord.learning.competences.update import RecordAction, RecordUpdate

from .folding import Folded


@dataclass(frozen=True)
class ReportedChange:
    """One line of a report: the change of a record, and its reason."""

    action: RecordAction
    competence_id: str
    skill_name: str
    rationale: str


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """The results of one run, or of a dry run, which writes nothing.

    Attributes:
        project: the project that was consolidated.
        actor: the person or program that started it.
        dry_run: whether nothing was written.
        started_at: when it started, seconds since the epoch.
        finished_at: when it finished.
        duration_ms: how long it took.
        episodes_read: episodes that were new.
        signatures_touched: procedures that these episodes belong to.
        created: records that are new.
        reinforced: records with new successes.
        updated: records that changed in another way.
        skipped: signatures and episodes that changed no active record, by reason.
        changes: every change of a record.
    """

    project: str
    actor: str
    dry_run: bool
    started_at: float
    finished_at: float
    duration_ms: float
    episodes_read: int
    signatures_touched: int
    created: int
    reinforced: int
    updated: int
    skipped: dict[str, int]
    changes: tuple[ReportedChange, ...]


@dataclass
class Progress:
    """The counts of a run under way."""

    episodes_read: int = 0
    signatures: set[str] = field(default_factory=set)
    actions: Counter[RecordAction] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    changes: list[ReportedChange] = field(default_factory=list)

    def add_folded(self, folded: Folded) -> None:
        """Count episodes that were read."""
        self.episodes_read += len(folded.read)
        self.signatures.update(folded.tallies)
        self.skipped.update(folded.skipped)

    def add_changes(self, changes: Iterable[RecordUpdate]) -> None:
        """Count changes of records."""
        for change in changes:
            record = change.record
            self.actions[change.action] += 1
            self.changes.append(
                ReportedChange(change.action, record.id, record.skill_name, change.rationale)
            )
            if change.action is RecordAction.COUNTED:
                self.skipped[f"{record.status}, evidence counted"] += 1

    @property
    def updated(self) -> int:
        """The number of records that changed other than by creation or reinforcement."""
        others = RecordAction.UPDATED, RecordAction.COUNTED, RecordAction.REMOVED
        return sum(self.actions[each] for each in others)

    def columns(self) -> dict[str, float | None]:
        """Return the counts as the columns of the stored report."""
        return {
            "episodes_read": self.episodes_read,
            "signatures_touched": len(self.signatures),
            "records_created": self.actions[RecordAction.CREATED],
            "records_reinforced": self.actions[RecordAction.REINFORCED],
            "records_updated": self.updated,
        }

    def report(
        self, *, project: str, actor: str, dry_run: bool, started_at: float, duration_s: float
    ) -> RunReport:
        """Return the report of the run, which has just finished."""
        return RunReport(
            project=project,
            actor=actor,
            dry_run=dry_run,
            started_at=started_at,
            finished_at=started_at + duration_s,
            duration_ms=duration_s * 1000,
            episodes_read=self.episodes_read,
            signatures_touched=len(self.signatures),
            created=self.actions[RecordAction.CREATED],
            reinforced=self.actions[RecordAction.REINFORCED],
            updated=self.updated,
            skipped=dict(sorted(self.skipped.items())),
            changes=tuple(self.changes),
        )
