"""Recompute every statistic of a project from the outcomes on record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select, update

from trackrecord.learning.numbers.decay import Bases
from trackrecord.learning.rules_bundle import Rules
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome, scorer_of

from ..advice.runs import clear_runs, note_runs
from ..advice.tables import listed_runs, runs, tried_calls
from ..competences.episodes import wait_for
from ..ledger.ledger import Ledger, entry_of
from ..ledger.read import own_items, read_counts
from ..ledger.receipts import REMOVED
from ..ledger.subjects import CRITERION, PATTERN, SPEAKER_ITEM
from ..ledger.tables import items, receipts
from ..ledger.upkeep import add_up, drop_items, unheard, without_totals
from ..memories.past_tasks import note_past_tasks
from ..outcomes.days import read_days
from ..outcomes.entries import note_commits, outcomes_in_parts
from ..outcomes.feedback.feedback import feedback_entries
from ..outcomes.projects import note_change
from ..outcomes.recorded_rules import replace_bases, replace_rules
from ..outcomes.tables import outcomes
from ..patterns.decide import forget_patterns
from ..patterns.tables import pattern_tags

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
    named = _clear(connection, project_id, bases)
    total = done = 0
    of = outcomes.c
    wanted = of.id, of.outcome_id, of.received_at, of.body, of.replaced_at
    for chunk in outcomes_in_parts(connection, project_id, *wanted):
        scored = [(row.id, _scored(row, scorer)) for row in chunk]
        replaced = {row.id for row in chunk if row.replaced_at}
        ledger = Ledger(connection, {project_id: bases})
        ledger.add([entry_of(project_id, row, each) for row, each in scored if row not in replaced])
        ledger.write()
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
    _replace_again(connection, project_id)
    ledger = Ledger(connection, {project_id: bases})
    ledger.add([*feedback_entries(connection, project_id)])
    ledger.write()
    _name_again(connection, named)
    drop_untouched(connection, project_id)
    replace_rules(connection, project_id, rules.recorded)
    recount(connection, project_id, now)
    touched, criticised = (
        len(read_counts(connection, project_id, subject)) for subject in (PATTERN, CRITERION)
    )
    return Rebuilt(total, touched, criticised)


# A row of the items, and how it is named.
_Named = tuple[int, str, str]


def _clear(connection: Connection, project_id: int, bases: Bases) -> list[_Named]:
    """Leave what removed outcomes add, and no name of a pattern; return those that they had."""
    clear_runs(connection, project_id)
    own = receipts.c.project_id == project_id
    connection.execute(delete(receipts).where(own, receipts.c.kind != REMOVED))
    add_up(connection, project_id, bases)
    is_pattern = own_items(project_id, PATTERN)
    query = select(items.c.id, items.c.kind, items.c.label).where(is_pattern)
    named = [(row.id, row.kind, row.label) for row in connection.execute(query)]
    connection.execute(update(items).where(is_pattern).values(kind="", label=""))
    return named


def _name_again(connection: Connection, named: list[_Named]) -> None:
    """Give the patterns that no outcome on record touches their names back."""
    if named:
        connection.execute(
            update(items)
            .where(items.c.id == bindparam("row"), items.c.label == "")
            .values(kind=bindparam("was"), label=bindparam("called")),
            [{"row": row, "was": kind, "called": label} for row, kind, label in named],
        )


def _scored(row: Row[Any], scorer: OutcomeScorer) -> ScoredOutcome:
    return scorer.score_stored(row.body, received_at=row.received_at, outcome_id=row.outcome_id)


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
    for table, is_own in (
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


def drop_untouched(connection: Connection, project_id: int) -> None:
    """Drop what nothing counts for, but patterns that somebody decided upon or tagged.

    A tag stays for the day when an outcome touches its pattern again.
    """
    own = items.c.project_id == project_id
    is_kept = items.c.decided_maturity.is_not(None) | items.c.id.in_(_TAGGED)
    known = select(items.c.id).where(own)
    counted = connection.execute(known.where(items.c.subject != SPEAKER_ITEM, ~is_kept)).scalars()
    gone = without_totals(connection, counted.all())
    forget_patterns(connection, gone)
    speakers = connection.execute(known.where(items.c.subject == SPEAKER_ITEM)).scalars()
    drop_items(connection, gone + unheard(connection, project_id, speakers.all()))


def recount(connection: Connection, project_id: int, now: float) -> None:
    """Set the counts of a project to those of its days."""
    days = read_days(connection, project_id)
    sums = {
        name: sum(getattr(day, name) for day in days)
        for name in ("outcomes", "successes", "without_verdict")
    }
    note_change(connection, project_id, now, **sums)
