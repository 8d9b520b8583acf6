"""Folding: add up the episodes of each signature, and let its record follow the sums."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

from trackrecord.errors import InvalidOutcome
from trackrecord.learning.competences.episodes.arguments import argument_types
from trackrecord.learning.competences.episodes.episodes import NoProcedure, procedure_of
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.competences.episodes.tally import Argument, Episode, EpisodeTally, Order
from trackrecord.learning.competences.episodes.triggers import canonical_conditions
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.rules import MAX_TRIGGERS, MOST_FAILURE_MODES, CompetenceRules
from trackrecord.learning.competences.update import NoChange, RecordUpdate, Signature, follow
from trackrecord.store.competences.credit import settle_credits
from trackrecord.store.competences.episodes import EpisodeRow, ReadEpisode
from trackrecord.store.competences.read import records_of
from trackrecord.store.competences.signature_counts import FactLimits, read_facts
from trackrecord.store.competences.signatures import (
    StoredSignature,
    changed_signatures,
    clear_changed,
)
from trackrecord.store.competences.write import SignedChange, write_changes
from trackrecord.wire.outcome import Outcome, ToolCall, decode_outcome

from .report import Progress

UNREADABLE = "unreadable outcome"


@dataclass
class Folded:
    """The sums over a chunk of episodes.

    Attributes:
        tallies: the sums, by signature.
        read: the rows of the episodes that were read.
        skipped: the number of episodes without a procedure, by reason.
    """

    tallies: dict[str, EpisodeTally] = field(default_factory=dict)
    read: list[ReadEpisode] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def unfold(rules: CompetenceRules, rows: Iterable[EpisodeRow]) -> Folded:
    """Add up episodes to be subtracted: the sums, negative."""
    folded = Folded()
    for row in rows:
        episode = _episode(rules, row)
        signature = None
        if isinstance(episode, Episode):
            signature = signature_of(episode.order)
            folded.tallies.setdefault(signature, EpisodeTally()).take_back(episode)
        folded.read.append(ReadEpisode(row.outcome, signature, row.success))
    return folded


def fold(rules: CompetenceRules, rows: Iterable[EpisodeRow]) -> Folded:
    """Add up episodes, in any order."""
    folded = Folded()
    for row in rows:
        episode = _episode(rules, row)
        if not isinstance(episode, Episode):
            folded.skipped[episode] += 1
            folded.read.append(ReadEpisode(row.outcome, None, row.success))
            continue
        signature = signature_of(episode.order)
        tally = folded.tallies.get(signature)
        if tally is None:
            tally = folded.tallies[signature] = EpisodeTally()
        tally.add(episode)
        folded.read.append(ReadEpisode(row.outcome, signature, row.success))
    return folded


def _episode(rules: CompetenceRules, row: EpisodeRow) -> Episode | str:
    """Return the episode, or why the outcome is not one."""
    try:
        # It was small enough when it was recorded, whatever the limit is now.
        outcome = decode_outcome(row.body, max_bytes=len(row.body))
    except InvalidOutcome:
        return UNREADABLE
    calls = outcome.explaining_calls
    order = procedure_of(rules, calls)
    if isinstance(order, NoProcedure):
        return order.value
    return _episode_of(row, outcome, order, calls)


def _episode_of(
    row: EpisodeRow, outcome: Outcome, order: Order, calls: Sequence[ToolCall]
) -> Episode:
    trigger = outcome.trigger
    signal = trigger.signal.strip() if trigger else ""
    return Episode(
        order=order,
        success=row.success,
        ended_at=row.ended_at,
        duration_ms=outcome.duration_ms,
        arguments=_arguments(calls) if row.success else (),
        signal=signal or None,
        conditions=canonical_conditions(trigger.conditions) if trigger and signal else None,
        failure_mode=None if row.success else (outcome.failure_mode or "").strip() or None,
        speaker=outcome.speaker,
    )


def _arguments(calls: Sequence[ToolCall]) -> tuple[Argument, ...]:
    return tuple(
        [
            (tool, name, json_type)
            for call in calls
            if call.tool and (tool := call.tool.strip())
            for name, json_type in argument_types(call.args)
        ]
    )


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
        read_facts(connection, {each.id: each.tally for each in relevant}, self._limits)
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

    @property
    def _limits(self) -> FactLimits:
        return FactLimits(triggers=MAX_TRIGGERS, failure_modes=MOST_FAILURE_MODES)
