"""Reading patterns: their evidence, their examples and their history."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, func, select

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import AntiPatternRules, Maturity, is_inverted
from trackrecord.learning.patterns.standing import PatternFacts, Standing, standing_of
from trackrecord.learning.rules_bundle import Rules

from ..ledger.read import number_of, own_items, read_counts, read_totals
from ..ledger.receipts import OUTCOME, naming, read_receipts
from ..ledger.subjects import (
    CLAIMED,
    HARMFUL,
    HELPFUL,
    NEUTRAL,
    PATTERN,
    TOLD,
    VERIFIED,
    verdict_in,
)
from ..ledger.tables import items, receipts
from ..outcomes.recorded_rules import read_bases
from ..outcomes.tables import outcomes, projects
from .decide import are_known, decisions_in_force, tags_of
from .evidence import evidence_of
from .tables import pattern_decisions, pattern_transitions

EXAMPLES_SHOWN: Final = 10


@dataclass(frozen=True)
class Example:
    """A task whose outcome touched a pattern.

    Attributes:
        outcome_id: the outcome.
        task_id: the task.
        ended_at: when it ended, seconds since the epoch.
        success: whether it reached its goal.
        verdict: helpful, neutral or harmful.
    """

    outcome_id: str
    task_id: str
    ended_at: float
    success: bool
    verdict: str


@dataclass(frozen=True)
class PatternFilter:
    """The filter of a list of patterns; fields that are not set match everything.

    Attributes:
        state: only those in this state.
        tag: only those with this tag, or of this kind: "strategy" or "named".
        content: only those whose content holds this text, without regard to case.
        only_anti: only those that are anti-patterns.
    """

    state: Maturity | None = None
    tag: str | None = None
    content: str | None = None
    only_anti: bool = False

    def admits(self, standing: Standing) -> bool:
        """Return whether a pattern matches."""
        return (
            (self.state is None or standing.state is self.state)
            and (self.tag is None or self.tag in standing.facts.all_tags)
            and (self.content is None or _holds(standing.facts.content, self.content))
            and (standing.is_inverted or not self.only_anti)
        )


EVERY = PatternFilter()


def _holds(content: str, text: str) -> bool:
    return text.casefold() in content.casefold()


def read_standings(
    connection: Connection,
    project_id: int,
    rules: Rules,
    *,
    now: float,
    slug: str | None = None,
    slugs: Collection[str] | None = None,
    after_row: int | None = None,
) -> list[Standing]:
    """Return the standing of a project's patterns.

    Args:
        connection: a reading transaction.
        project_id: whose patterns.
        rules: what decides a state.
        now: the present, seconds since the epoch.
        slug: only this pattern.
        slugs: only these patterns.
        after_row: only patterns that were first named after the one in this row.
    """
    bases = read_bases(connection, project_id)
    if bases is None:
        return []
    basis = bases.patterns
    where: list[ColumnElement[bool]] = []
    if slug is not None:
        where.append(items.c.name == slug)
    if slugs is not None:
        where.append(items.c.name.in_(slugs))
    if after_row is not None:
        where.append(items.c.id > after_row)
    found = list(_present(connection, project_id, where, rules, basis, now))
    decisions = decisions_in_force(connection, (row_id for row_id, _, _ in found))
    tags = tags_of(connection, and_(own_items(project_id, PATTERN), *where))
    return [
        standing_of(
            rules.maturity,
            rules.antipatterns,
            replace(facts, tags=tags[row_id]) if row_id in tags else facts,
            evidence,
            decisions.get(row_id),
        )
        for row_id, facts, evidence in found
    ]


def count_by_counts(
    connection: Connection, project_id: int | None, rules: AntiPatternRules
) -> tuple[int, list[str]]:
    """Return how many patterns are on record now, and the projects whose counts make anti-patterns.

    One pass over the counts of all.

    Args:
        connection: a reading transaction.
        project_id: whose patterns; None for those of all projects.
        rules: what makes an anti-pattern.
    """
    total = connection.execute(select(func.count()).where(are_known(project_id))).scalar_one()
    failing = set()
    counted = read_counts(connection, project_id, PATTERN, items.c.project_id)
    for (_, project), cells in counted.items():
        helpful, neutral, harmful = (
            sum(cells.get(grade + verdict, 0) for grade in (VERIFIED, CLAIMED, TOLD))
            for verdict in (HELPFUL, NEUTRAL, HARMFUL)
        )
        if is_inverted(rules, Evidence(helpful=helpful, neutral=neutral, harmful=harmful)):
            failing.add(project)
    names = select(projects.c.name).where(projects.c.id.in_(failing)).order_by(projects.c.id)
    return total, list(connection.execute(names).scalars()) if failing else []


def last_pattern_row(connection: Connection, project_id: int) -> int:
    """Return the row of the pattern of a project that was first named last; 0 without any."""
    query = select(func.max(items.c.id)).where(own_items(project_id, PATTERN))
    return connection.execute(query).scalar() or 0


# The pattern's row, and what is known of it.
_Found = tuple[int, PatternFacts, Evidence]


def _present(
    connection: Connection,
    project_id: int,
    where: Sequence[ColumnElement[bool]],
    rules: Rules,
    basis: DecayBasis,
    now: float,
) -> Iterator[_Found]:
    known = select(items).where(own_items(project_id, PATTERN), items.c.label != "", *where)
    spoken = read_totals(connection, project_id, PATTERN, *where)
    for row in connection.execute(known):
        cells = spoken.get(row.id, {})
        if not cells and row.decided_maturity is None:
            continue
        yield (
            row.id,
            PatternFacts(row.name, row.kind, row.label, row.last),
            evidence_of(cells, rules, basis, now),
        )


def read_examples(
    connection: Connection,
    project_id: int,
    slug: str,
    *,
    most: int = EXAMPLES_SHOWN,
) -> list[Example]:
    """The newest outcomes that touched a pattern, newest first: those that ended last."""
    pattern = number_of(connection, project_id, PATTERN, slug)
    if pattern is None:
        return []
    where = receipts.c.kind == OUTCOME, naming(connection, [pattern])
    touching = (
        (receipt.number, cell)
        for receipt in read_receipts(connection, project_id, *where)
        for item, cell, *_ in receipt.rows
        if item == pattern
    )
    newest = dict(islice(touching, most))
    of = outcomes.c
    query = select(of.id, of.outcome_id, of.task_id, of.ended_at, of.success).where(
        of.id.in_(newest)
    )
    told = {row.id: row for row in connection.execute(query)}
    return [Example(*told[row][1:], verdict_in(cell)) for row, cell in newest.items()]


def read_changes(connection: Connection, project_id: int, slug: str) -> Sequence[Any]:
    """Return a pattern's recorded changes of state, oldest first.

    Each has the moment, the aspect, the states before and after, the numbers of the moment (None
    where some of what they counted is forgotten), and the decision by hand, who made it and why.
    """
    made, change = pattern_decisions.c, pattern_transitions.c
    query = (
        select(
            change.at, change.aspect, change.before, change.after,
            change.helpful, change.neutral, change.harmful,
            change.decayed_helpful, change.decayed_harmful,
            made.action.label("decision"), made.actor.label("by"), made.reason,
        )
        .join(items, items.c.id == change.pattern_id)
        .outerjoin(pattern_decisions, made.id == change.decision_id)
        .where(own_items(project_id, PATTERN), items.c.name == slug)
        .order_by(change.id)
    )  # fmt: skip
    return connection.execute(query).all()
