"""Apply outcomes to every statistic."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, bindparam, func, select, update

from trackrecord.learning.criteria.weights import feedback_value
from trackrecord.learning.numbers.decay import Bases, DecayBasis
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.rules_bundle import Rules
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ..advice.runs import note_runs, replace_runs
from ..competences.credit import credit_competences, credit_of, take_back_credits
from ..competences.episodes import retract_episodes
from ..criteria.sums import CriterionDeltas, CriterionKey, write_criterion_deltas
from ..criteria.tables import criteria, criterion_feedback
from ..database.upsert import insert_rows
from ..memories.credit.credit import amend_credit, credit_memories
from ..memories.past_tasks import note_past_tasks
from ..outcomes.as_of import OUTCOME_IS_CURRENT
from ..outcomes.days import count_days
from ..outcomes.entries import note_commits
from ..outcomes.feedback.feedback import is_any_waiting, last_given
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.recorded_rules import note_rules
from ..outcomes.tables import outcomes, projects, waiting_episodes
from ..outcomes.verdicts.verdict_sums import NEVER, Replaced, VerdictSums, settled, validates
from ..patterns.feedback import count_feedback
from ..patterns.subtract import settle_patterns, take_back_touches
from ..patterns.sums import Deltas, PatternKey, PatternRow, write_deltas


def take_back_feedback(
    connection: Connection,
    replaced: Sequence[Replaced],
    deltas: CriterionDeltas,
    basis: DecayBasis,
    defaults: tuple[str, ...],
) -> dict[CriterionKey, float]:
    """Subtract replaced records from deltas; from then on their feedback is of the past.

    Args:
        connection: within the transaction that replaces the records.
        replaced: records of one project.
        deltas: what the records in their place tell, all of it.
        basis: what the project's sums are relative to.
        defaults: the default criteria.

    Returns:
        The criteria that had feedback, and when the last of the replaced outcomes had ended; NEVER
        where a record in their place is as late.
    """
    told: dict[CriterionKey, float] = {}
    for each in replaced:
        found = _listed(connection, each) if each.names_criteria else _own(each, defaults)
        for name, verdict, value in found:
            key = (each.project_id, name)
            sums = deltas.named.setdefault(key, VerdictSums())
            sums.take_back(verdict, value * basis.weight(each.outcome.ended_at))
            told[key] = max(told.get(key, each.outcome.ended_at), each.outcome.ended_at)
    totals = deltas.totals()
    return {
        key: NEVER if validates(totals[key], ended_at) else ended_at
        for key, ended_at in told.items()
    }


_Feedback = tuple[str, Verdict, float]


def _own(each: Replaced, defaults: tuple[str, ...]) -> list[_Feedback]:
    verdict, score = each.outcome.verdict, each.outcome.raw_score
    if verdict is None or score is None:
        return []
    return [(name, verdict, feedback_value(verdict, score)) for name in defaults]


def _listed(connection: Connection, each: Replaced) -> list[_Feedback]:
    seen = criterion_feedback.c
    query = (
        select(criteria.c.id, criteria.c.name, seen.verdict, seen.value)
        .join(criterion_feedback, seen.criterion_id == criteria.c.id)
        .where(
            criteria.c.project_id == each.project_id,
            seen.received_at == each.received_at,
            seen.outcome == each.row,
        )
    )
    found = connection.execute(query).all()
    if found:
        connection.execute(
            update(criterion_feedback)
            .where(
                seen.criterion_id == bindparam("of"),
                seen.received_at == bindparam("then"),
                seen.outcome == bindparam("by"),
            )
            .values(replaced_at=bindparam("at")),
            [
                {"of": row.id, "then": each.received_at, "by": each.row, "at": each.replaced_at}
                for row in found
            ],
        )
    return [(row.name, Verdict(row.verdict), row.value) for row in found]


def settle_criteria(
    connection: Connection, told: dict[CriterionKey, float], defaults: tuple[str, ...]
) -> None:
    """Correct the criteria that something was taken back from.

    Args:
        connection: within the same transaction, after the deltas were written.
        told: what `take_back_feedback` returned.
        defaults: the default criteria.
    """
    for (project_id, name), ended_at in sorted(told.items()):
        row = connection.execute(_SETTLE, {"of": project_id, "named": name}).one()
        if row.last_validated is not None and row.last_validated <= ended_at:
            last = _last_told(connection, project_id, row.id, name, is_default=name in defaults)
            connection.execute(
                update(criteria).where(criteria.c.id == row.id).values(last_validated=last)
            )


# Built once: building it takes longer than running it.
_SETTLE: Final = (
    update(criteria)
    .where(criteria.c.project_id == bindparam("of"), criteria.c.name == bindparam("named"))
    .values(**settled(criteria.c))
    .returning(criteria.c.id, criteria.c.last_validated)
)


def _last_told(
    connection: Connection, project_id: int, criterion_id: int, name: str, *, is_default: bool
) -> float | None:
    seen = criterion_feedback.c
    queries: list[Any] = [
        select(func.max(seen.ended_at)).where(
            seen.criterion_id == criterion_id, seen.replaced_at.is_(None)
        ),
        select(last_given("criterion", project_id, name, neutral_counts=True)),
    ]
    if is_default:
        queries.append(
            select(func.max(outcomes.c.ended_at)).where(
                outcomes.c.project_id == project_id,
                ~outcomes.c.names_criteria,
                outcomes.c.success.is_not(None),
                OUTCOME_IS_CURRENT,
            )
        )
    found = (connection.execute(query).scalar() for query in queries)
    return max((each for each in found if each is not None), default=None)


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
        deltas, feedback = self._deltas(recorded)
        self._with_feedback(write_deltas(self.connection, deltas))
        credit_memories(
            self.connection,
            self.project_ids,
            [outcome for _, outcome in recorded],
            self.rules.memories,
            self.now,
        )
        # Late: these few rows are the same in every batch, and are held until the transaction ends.
        write_criterion_deltas(self.connection, feedback)
        self._credit(recorded)
        self._count(recorded, ())

    def replace(self, recorded: Sequence[Recorded], replaced: Sequence[Replaced]) -> None:
        """Update every statistic from new records that take the place of others.

        Args:
            recorded: the new ones.
            replaced: those that they replace, in the same order; no outcome is there twice.
        """
        self._note(recorded)
        deltas, feedback = self._deltas(recorded)
        defaults = self.rules.criteria.defaults
        touched: dict[int, float] = {}
        told: dict[tuple[int, str], float] = {}
        for project_id, some in _by_project(replaced).items():
            bases = self.bases[project_id]
            touched |= take_back_touches(self.connection, some, deltas, bases.patterns)
            told |= take_back_feedback(self.connection, some, feedback, bases.criteria, defaults)
        changed = self._with_feedback(write_deltas(self.connection, deltas))
        settle_patterns(self.connection, touched, changed.values())
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
        write_criterion_deltas(self.connection, feedback)
        settle_criteria(self.connection, told, defaults)
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

    def _with_feedback(
        self, changed: Mapping[PatternKey, PatternRow]
    ) -> Mapping[PatternKey, PatternRow]:
        """Count the feedback that came before the outcomes which name a pattern."""
        if not is_any_waiting(self.connection, self.project_ids.values()):
            return changed
        slugs = defaultdict[int, list[str]](list)
        for project_id, slug in changed:
            slugs[project_id].append(slug)
        after = dict(changed)
        for project_id, own in sorted(slugs.items()):
            basis = self.bases[project_id].patterns
            after |= count_feedback(self.connection, project_id, own, basis)
        return after

    def _deltas(self, recorded: Sequence[Recorded]) -> tuple[Deltas, CriterionDeltas]:
        deltas, feedback = Deltas(), CriterionDeltas()
        for row_id, outcome in recorded:
            project_id = self.project_ids[outcome.project]
            bases = self.bases[project_id]
            deltas.add(project_id, row_id, outcome, bases.patterns)
            feedback.add(project_id, row_id, outcome, bases.criteria)
        return deltas, feedback

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
        count_days(
            self.connection,
            self.project_ids,
            (each for _, each in recorded),
            (each.outcome for each in replaced),
        )
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
