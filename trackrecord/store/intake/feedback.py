"""Taking in feedback on one pattern, criterion or memory alone: each counts exactly once.

On a pattern or a memory that the project does not know yet it waits: the outcome that names the
pattern, or the memory itself, may still be on its way.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from trackrecord.learning.criteria.weights import NAMED_VALUE
from trackrecord.learning.numbers.decay import Bases
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.learning.rules_bundle import Rules

from ..criteria.sums import CriterionDeltas, write_criterion_deltas
from ..memories.credit.feedback import judge_by_feedback
from ..memories.similar import lock_memories
from ..outcomes.feedback.feedback import GivenFeedback, feedback_on, record_feedback, wait_again
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.recorded_rules import note_rules
from ..outcomes.tables import decay_bases, projects
from ..outcomes.verdicts.verdict_sums import VerdictSums
from ..patterns.feedback import count_feedback
from .rebase import bases_for_writing


def take_in_feedback(
    connection: Connection,
    project_id: int,
    given: Sequence[GivenFeedback],
    rules: Rules,
    *,
    now: float,
) -> tuple[GivenFeedback, ...]:
    """Record feedback of one project and update every statistic from the new part; return that.

    Args:
        connection: within a writing transaction that has done nothing else yet.
        project_id: the project.
        given: the feedback, in any order.
        rules: what it counts for.
        now: seconds since the epoch.
    """
    bases = _bases_alone(connection, project_id, rules, now)
    new = record_feedback(connection, project_id, given)
    if not new:
        return ()
    note_rules(connection, {project_id}, rules.recorded)
    slugs = [each.name for each in new if each.subject == "pattern"]
    count_feedback(connection, project_id, slugs, bases.patterns)
    memory_ids = [each.name for each in new if each.subject == "memory"]
    if memory_ids:
        lock_memories(connection, project_id)
        judge_by_feedback(connection, project_id, memory_ids, rules.memories, now=now)
    _count_on_criteria(
        connection,
        project_id,
        [(each.name, each.verdict, each.given_at) for each in new if each.subject == "criterion"],
        bases,
    )
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(clock_of(now)))
    )
    return tuple(new)


def _bases_alone(connection: Connection, project_id: int, rules: Rules, now: float) -> Bases:
    """Return the bases of the project's sums, locked so that no outcome is learnt meanwhile.

    An outcome that names a pattern is learnt before or after, so that either it finds the feedback
    waiting, or the feedback finds the pattern.
    """
    own = select(decay_bases.c.project_id).where(decay_bases.c.project_id == project_id)
    if connection.execute(own.with_for_update()).first() is None:
        bases_for_writing(connection, [project_id], rules.half_lives, now)
        connection.execute(own.with_for_update()).one()
    return bases_for_writing(connection, [project_id], rules.half_lives, now)[project_id]


def _count_on_criteria(
    connection: Connection,
    project_id: int,
    given: Sequence[tuple[str, Verdict, float]],
    bases: Bases,
) -> None:
    deltas = CriterionDeltas()
    for name, verdict, given_at in given:
        sums = deltas.named.setdefault((project_id, name), VerdictSums())
        value = 0.0 if verdict is Verdict.NEUTRAL else NAMED_VALUE
        sums.add(verdict, value * bases.criteria.weight(given_at), given_at)
    write_criterion_deltas(connection, deltas)


def count_again(connection: Connection, project_id: int, bases: Bases) -> None:
    """Recount all feedback of a project, after its outcomes were; memories stay as they are.

    Args:
        connection: within the transaction of a rebuild.
        project_id: the project.
        bases: what its sums are relative to.
    """
    wait_again(connection, project_id)
    slugs = {row.name for row in feedback_on(connection, project_id, "pattern")}
    count_feedback(connection, project_id, slugs, bases.patterns)
    _count_on_criteria(
        connection,
        project_id,
        [
            (row.name, Verdict(row.verdict), row.given_at)
            for row in feedback_on(connection, project_id, "criterion")
        ],
        bases,
    )
