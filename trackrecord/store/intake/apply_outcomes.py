"""Apply outcomes to every statistic."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, Connection, bindparam, update

from trackrecord.learning.numbers.decay import Bases
from trackrecord.learning.rules_bundle import Rules
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..advice.runs import note_runs, replace_runs
from ..competences.credit import credit_competences, credit_of, take_back_credits
from ..competences.episodes import retract_episodes
from ..database.upsert import insert_rows
from ..ledger.ledger import Ledger, entry_of
from ..ledger.receipts import OUTCOME
from ..memories.credit import amend_credit, credit_memories
from ..memories.past_tasks import note_past_tasks
from ..outcomes.entries import Replaced, note_commits
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.recorded_rules import note_rules
from ..outcomes.tables import projects, waiting_episodes

# A row of the outcomes, and what it holds.
Recorded = tuple[int, ScoredOutcome]


@dataclass(frozen=True)
class BatchIntake:
    """Take in the records of one batch.

    Attributes:
        connection: within a writing transaction that holds the bases.
        project_ids: the rows of the projects by name.
        bases: what the sums of each project are relative to.
        rules: the rules that the outcomes were scored by, too.
        now: the time of the batch, seconds since the epoch.
    """

    connection: Connection
    project_ids: Mapping[str, int]
    bases: Mapping[int, Bases]
    rules: Rules
    now: float

    def add(self, recorded: Sequence[Recorded]) -> None:
        """Update every statistic from new records."""
        if not recorded:
            return
        # First what is written for each record alone: nobody else waits for these rows.
        self._note(recorded)
        credit_memories(
            self.connection,
            self.project_ids,
            [outcome for _, outcome in recorded],
            self.rules.memories,
            self.now,
        )
        self._credit(recorded)
        self._count(recorded, ())

    def replace(self, recorded: Sequence[Recorded], replaced: Sequence[Replaced]) -> None:
        """Update every statistic from new records that take the place of others.

        Args:
            recorded: the new ones.
            replaced: those that they replace, in the same order; no outcome is there twice.
        """
        self._note(recorded)
        retract_episodes(self.connection, replaced)
        replace_runs(self.connection, replaced)
        for (_, outcome), before in zip(recorded, replaced, strict=True):
            amend_credit(
                self.connection,
                before.project_id,
                outcome.outcome_id,
                (before.outcome.memory_ids, outcome.memory_ids),
                outcome.verdict,
                self.rules.memories,
                self.now,
            )
        self._credit(recorded)
        take_back_credits(
            self.connection,
            [
                (credit, each.replaced_at)
                for each in replaced
                if (credit := credit_of(each.project_id, each.row, each.outcome)) is not None
            ],
        )
        self._count(recorded, replaced)

    def _note(self, recorded: Sequence[Recorded]) -> None:
        """Store what is looked up, or worked on, by single records."""
        ids = self.project_ids
        note_rules(
            self.connection, {ids[each.project] for _, each in recorded}, self.rules.recorded
        )
        episodes = sorted(
            (ids[outcome.project], row_id) for row_id, outcome in recorded if outcome.is_episode
        )
        insert_rows(self.connection, waiting_episodes, tuple(waiting_episodes.c), episodes)
        note_past_tasks(self.connection, ids, recorded)
        note_runs(self.connection, ids, recorded)
        note_commits(self.connection, ids, recorded)

    def _credit(self, recorded: Sequence[Recorded]) -> None:
        ids = self.project_ids
        credit_competences(
            self.connection,
            (credit_of(ids[each.project], row_id, each) for row_id, each in recorded),
        )

    def _count(self, recorded: Sequence[Recorded], replaced: Sequence[Replaced]) -> None:
        more, won, unknown = Counter[int](), Counter[int](), Counter[int]()
        for _, each in recorded:
            project_id = self.project_ids[each.project]
            more[project_id] += 1
            if each.success:
                won[project_id] += 1
            elif each.success is None:
                unknown[project_id] += 1
        for gone in replaced:
            more[gone.project_id] -= 1
            if gone.outcome.success:
                won[gone.project_id] -= 1
            elif gone.outcome.success is None:
                unknown[gone.project_id] -= 1
        # Late: some of these rows are in every batch, and are held until the transaction ends.
        ledger = Ledger(self.connection, self.bases)
        for project_id, some in _by_project(replaced).items():
            ledger.take_back(project_id, OUTCOME, [(of.outcome.ended_at, of.row) for of in some])
        ledger.add([entry_of(self.project_ids[each.project], row, each) for row, each in recorded])
        ledger.write()
        self.connection.execute(
            _ADD_COUNTS,
            [
                {
                    "project": project_id,
                    "clock": clock_of(self.now),
                    "more_outcomes": count,
                    "more_successes": won[project_id],
                    "more_without": unknown[project_id],
                    "now": self.now,
                }
                for project_id, count in sorted(more.items())
            ],
        )


_ADD_COUNTS = (
    update(projects)
    .where(projects.c.id == bindparam("project"))
    .values(
        revision=next_revision(bindparam("clock", type_=BigInteger)),
        outcomes=projects.c.outcomes + bindparam("more_outcomes"),
        successes=projects.c.successes + bindparam("more_successes"),
        without_verdict=projects.c.without_verdict + bindparam("more_without"),
        last_learnt_at=bindparam("now"),
    )
)


def _by_project(replaced: Sequence[Replaced]) -> dict[int, list[Replaced]]:
    found: defaultdict[int, list[Replaced]] = defaultdict(list)
    for each in replaced:
        found[each.project_id].append(each)
    return found
