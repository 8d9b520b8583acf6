"""Recompute every statistic of a project from the outcomes on record."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, or_, select, update

from trackrecord.learning.numbers.decay import Bases
from trackrecord.learning.rules_bundle import Rules
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import NAMED, OutcomeScorer, ScoredOutcome, scorer_of

from ..advice.runs import clear_runs, note_runs
from ..advice.tables import listed_runs, runs, tried_calls
from ..competences.episodes import wait_for
from ..criteria.removed import folded_sums as criterion_sums
from ..criteria.sums import CriterionDeltas, write_criterion_deltas
from ..criteria.tables import criteria, criterion_feedback
from ..memories.past_tasks import note_past_tasks
from ..outcomes.days import recount_days
from ..outcomes.entries import note_commits
from ..outcomes.projects import clock_of, next_revision
from ..outcomes.recorded_rules import replace_bases, replace_rules
from ..outcomes.tables import outcome_days, outcomes, projects
from ..patterns.removed import folded_sums as pattern_sums
from ..patterns.speakers import clear_speakers
from ..patterns.sums import Deltas, add_sums, write_deltas
from ..patterns.tables import (
    observations,
    pattern_decisions,
    pattern_tags,
    pattern_transitions,
    patterns,
)
from .feedback import count_again

_CHUNK = 2000
# What is on record passed the limit of its day.
_ANY_SIZE = 2**31
# No spelling of a name is larger: this is no character, and the last code point.
_LARGEST = "\U0010ffff"
_TAGGED = select(pattern_tags.c.pattern_id).where(pattern_tags.c.removed_at.is_(None))


@dataclass(frozen=True)
class Rebuilt:
    """The counts of a rebuild.

    Attributes:
        outcomes: outcomes on record, each once.
        patterns: patterns that they touch.
        criteria: criteria that they give feedback to.
    """

    outcomes: int
    patterns: int
    criteria: int = 0


def rebuild_patterns(
    connection: Connection,
    project_id: int,
    rules: Rules,
    *,
    now: float,
    report: Callable[[int], None] = lambda _outcomes: None,
) -> Rebuilt:
    """Score every outcome on record again and compute a project's sums from nothing.

    All in the caller's writing transaction: readers see the old sums or the new ones, and
    workers' batches of this project wait in the stream. History is kept.

    Args:
        connection: within a writing transaction.
        project_id: whose sums.
        rules: the rules of today.
        now: the time of the rebuild, seconds since the epoch.
        report: told now and then how many records of outcomes were scored so far.
    """
    scorer = scorer_of(rules)
    bases = Bases(rules.half_lives, now)
    replace_bases(connection, project_id, bases)
    decided = _decided(connection, project_id)
    removed = pattern_sums(connection, project_id, bases.patterns)
    told = criterion_sums(connection, project_id, bases.criteria)
    _clear(connection, project_id)
    total = done = 0
    for chunk in _chunks(connection, project_id):
        scored = [(row.id, _scored(row, scorer)) for row in chunk]
        replaced = {row.id for row in chunk if row.replaced_at}
        deltas, feedback = Deltas(), CriterionDeltas()
        for row_id, outcome in scored:
            # What was replaced is observed in the past, and adds nothing.
            counts = row_id not in replaced
            deltas.add(project_id, row_id, outcome, bases.patterns, counts=counts)
            feedback.add(project_id, row_id, outcome, bases.criteria, counts=counts)
        write_deltas(connection, deltas)
        write_criterion_deltas(connection, feedback)
        _store_scores(connection, scored)
        # Those of an earlier version were not noted when they came.
        note_past_tasks(connection, {each.project: project_id for _, each in scored}, scored)
        note_runs(connection, {each.project: project_id for _, each in scored}, scored)
        note_commits(connection, {each.project: project_id for _, each in scored}, scored)
        standing = [row for row, each in scored if each.is_episode and row not in replaced]
        wait_for(connection, project_id, standing)
        total += len(scored) - len(replaced)
        done += len(scored)
        report(done)
    add_sums(connection, removed)
    write_criterion_deltas(connection, told)
    _replace_again(connection, project_id)
    _drop_untouched(connection, project_id)
    _name_again(connection, decided)
    count_again(connection, project_id, bases)
    replace_rules(connection, project_id, rules.recorded)
    _recount(connection, project_id, now)
    touched, criticised = (
        select(func.count()).where(table.c.project_id == project_id)
        for table in (patterns, criteria)
    )
    return Rebuilt(
        total, connection.execute(touched).scalar_one(), connection.execute(criticised).scalar_one()
    )


def _decided(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    """Return the slugs of patterns with decisions or tags by hand: they stay."""
    query = select(patterns.c.id, patterns.c.kind, patterns.c.content).where(
        patterns.c.project_id == project_id,
        or_(patterns.c.decided_maturity.is_not(None), patterns.c.id.in_(_TAGGED)),
    )
    return [
        {"row": row.id, "was": row.kind, "called": row.content} for row in connection.execute(query)
    ]


def _name_again(connection: Connection, decided: list[dict[str, Any]]) -> None:
    """Give those that no outcome touches any more their names back."""
    if decided:
        connection.execute(
            update(patterns)
            .where(patterns.c.id == bindparam("row"), patterns.c.content == _LARGEST)
            .values(kind=bindparam("was"), content=bindparam("called")),
            decided,
        )


def _clear(connection: Connection, project_id: int) -> None:
    clear_runs(connection, project_id)
    own = select(patterns.c.id).where(patterns.c.project_id == project_id)
    connection.execute(
        delete(observations).where(observations.c.pattern_id.in_(own), observations.c.outcome > 0)
    )
    connection.execute(
        update(patterns)
        .where(patterns.c.project_id == project_id)
        .values(
            # The smallest spelling is kept, and "strategy" before "named": begin at the other end.
            kind=NAMED,
            content=_LARGEST,
            helpful=0,
            neutral=0,
            harmful=0,
            succeeded=0,
            feedback=0,
            helpful_feedback=0,
            helpful_sum=0.0,
            harmful_sum=0.0,
            last_validated=None,
        )
    )
    clear_speakers(connection, project_id)
    # A criterion has no history of its own: it comes back with its feedback.
    told = criterion_feedback.c
    gone = select(criteria.c.id).where(criteria.c.project_id == project_id)
    connection.execute(
        delete(criterion_feedback).where(told.criterion_id.in_(gone), told.outcome > 0)
    )
    folded = select(told.criterion_id).where(told.outcome < 0)
    connection.execute(
        delete(criteria).where(criteria.c.project_id == project_id, criteria.c.id.not_in(folded))
    )
    connection.execute(
        update(criteria)
        .where(criteria.c.project_id == project_id)
        .values(
            helpful=0, neutral=0, harmful=0, helpful_sum=0.0, harmful_sum=0.0, last_validated=None
        )
    )


def _chunks(connection: Connection, project_id: int) -> Iterator[list[Row[Any]]]:
    last = 0
    while True:
        query = (
            select(
                outcomes.c.id,
                outcomes.c.outcome_id,
                outcomes.c.received_at,
                outcomes.c.body,
                outcomes.c.replaced_at,
            )
            .where(outcomes.c.project_id == project_id, outcomes.c.id > last)
            .order_by(outcomes.c.id)
            .limit(_CHUNK)
        )
        rows: list[Row[Any]] = list(connection.execute(query))
        if not rows:
            return
        yield rows
        last = rows[-1].id


def _scored(row: Row[Any], scorer: OutcomeScorer) -> ScoredOutcome:
    outcome = decode_outcome(row.body, max_bytes=_ANY_SIZE)
    return scorer.score(outcome, row.body, received_at=row.received_at, outcome_id=row.outcome_id)


def _store_scores(connection: Connection, scored: list[tuple[int, ScoredOutcome]]) -> None:
    connection.execute(
        update(outcomes)
        .where(outcomes.c.id == bindparam("row"))
        .values(
            raw_score=bindparam("score"),
            verdict=bindparam("says"),
            names_criteria=bindparam("names"),
        ),
        [
            {
                "row": row_id,
                "score": outcome.raw_score,
                "says": outcome.verdict and outcome.verdict.value,
                "names": bool(outcome.named),
            }
            for row_id, outcome in scored
        ],
    )


def _replace_again(connection: Connection, project_id: int) -> None:
    """Let what replaced records touched be of the past again."""
    gone = select(outcomes.c.id).where(
        outcomes.c.project_id == project_id, outcomes.c.replaced_at != 0
    )
    if connection.execute(gone.limit(1)).first() is None:
        return
    own_patterns = select(patterns.c.id).where(patterns.c.project_id == project_id)
    own_criteria = select(criteria.c.id).where(criteria.c.project_id == project_id)
    for table, is_own in (
        (observations, observations.c.pattern_id.in_(own_patterns)),
        (criterion_feedback, criterion_feedback.c.criterion_id.in_(own_criteria)),
        (runs, runs.c.project_id == project_id),
        (listed_runs, listed_runs.c.project_id == project_id),
        (tried_calls, tried_calls.c.project_id == project_id),
    ):
        at = select(outcomes.c.replaced_at).where(outcomes.c.id == table.c.outcome)
        connection.execute(
            update(table)
            .where(is_own, table.c.outcome.in_(gone))
            .values(replaced_at=at.scalar_subquery())
        )


def _drop_untouched(connection: Connection, project_id: int) -> None:
    """Patterns that today's rules no longer find in any outcome, and no one decided upon or tagged.

    A tag stays for the day when an outcome touches its pattern again.
    """
    touched = select(observations.c.pattern_id)
    gone = list(
        connection.execute(
            select(patterns.c.id)
            .where(patterns.c.project_id == project_id)
            .where(patterns.c.decided_maturity.is_(None))
            .where(patterns.c.id.not_in(touched), patterns.c.id.not_in(_TAGGED))
        ).scalars()
    )
    if gone:
        connection.execute(
            delete(pattern_transitions).where(pattern_transitions.c.pattern_id.in_(gone))
        )
        connection.execute(
            delete(pattern_decisions).where(pattern_decisions.c.pattern_id.in_(gone))
        )
        connection.execute(delete(pattern_tags).where(pattern_tags.c.pattern_id.in_(gone)))
        connection.execute(delete(patterns).where(patterns.c.id.in_(gone)))


def _recount(connection: Connection, project_id: int, now: float) -> None:
    recount_days(connection, project_id)
    counted = {
        name: select(func.coalesce(func.sum(outcome_days.c[name]), 0))
        .where(outcome_days.c.project_id == project_id)
        .scalar_subquery()
        for name in ("outcomes", "successes", "without_verdict")
    }
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(clock_of(now)), **counted)
    )
