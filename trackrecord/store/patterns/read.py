"""Reading patterns: their evidence, their examples and their history."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from trackrecord.learning.numbers.decay import DecayBasis
from trackrecord.learning.patterns.antipatterns import AntiPatternRules, is_inverted
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.standing import PatternFacts, Standing, standing_of
from trackrecord.learning.rules_bundle import Rules

from ..outcomes.recorded_rules import read_bases
from ..outcomes.tables import outcomes, projects
from .decide import decisions_in_force, tags_of
from .speakers import read_speakers, speakers_of_patterns
from .tables import observations, pattern_decisions, pattern_transitions, patterns
from .transitions import evidence_of

_AT_ONCE = 500
EXAMPLES_SHOWN: Final = 10


@dataclass(frozen=True)
class Example:
    """One observation of a pattern: a task whose outcome touched it.

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
    wanted: PatternFilter = EVERY,
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
        wanted: only those that it admits.
    """
    bases = read_bases(connection, project_id)
    if bases is None:
        return []
    basis = bases.patterns
    where = patterns.c.project_id == project_id
    if slug is not None:
        where = and_(where, patterns.c.slug == slug)
    if slugs is not None:
        where = and_(where, patterns.c.slug.in_(slugs))
    if after_row is not None:
        where = and_(where, patterns.c.id > after_row)
    is_part = slug is not None or slugs is not None or after_row is not None
    found = list(_present(connection, project_id, where, rules, basis, now, is_part=is_part))
    decisions = decisions_in_force(connection, (row_id for row_id, _, _ in found))
    tags = tags_of(connection, where)
    standings = (
        standing_of(
            rules.maturity,
            rules.antipatterns,
            replace(facts, tags=tags[row_id]) if row_id in tags else facts,
            evidence,
            decisions.get(row_id),
        )
        for row_id, facts, evidence in found
    )
    return [standing for standing in standings if wanted.admits(standing)]


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
    each = patterns.c
    query = select(each.project_id, each.helpful, each.neutral, each.harmful).where(_is_known)
    if project_id is not None:
        query = query.where(each.project_id == project_id)
    total, failing = 0, set()
    for row in connection.execute(query):
        total += 1
        evidence = Evidence(helpful=row.helpful, neutral=row.neutral, harmful=row.harmful)
        if is_inverted(rules, evidence):
            failing.add(row.project_id)
    names = select(projects.c.name).where(projects.c.id.in_(failing)).order_by(projects.c.id)
    return total, list(connection.execute(names).scalars()) if failing else []


def last_pattern_row(connection: Connection, project_id: int) -> int:
    """Return the row of the pattern of a project that was first named last; 0 without any."""
    query = select(func.max(patterns.c.id)).where(patterns.c.project_id == project_id)
    return connection.execute(query).scalar() or 0


# Where all that touched a pattern was replaced, nothing is left of it but a decision.
_is_known = or_(
    patterns.c.helpful + patterns.c.neutral + patterns.c.harmful > 0,
    patterns.c.decided_maturity.is_not(None),
)
# The pattern's row, and what is known of it.
_Found = tuple[int, PatternFacts, Evidence]


def _present(
    connection: Connection,
    project_id: int,
    where: ColumnElement[bool],
    rules: Rules,
    basis: DecayBasis,
    now: float,
    *,
    is_part: bool,
) -> Iterator[_Found]:
    rows = connection.execute(select(patterns).where(where, _is_known)).all()
    speakers = (
        speakers_of_patterns(connection, {project_id: basis}, now, [row.id for row in rows])
        if is_part
        else read_speakers(connection, project_id, basis, now)
    )
    for row in rows:
        yield (
            row.id,
            PatternFacts(row.slug, row.kind, row.content, row.last_validated),
            evidence_of(row, rules, basis, now, speakers.get(row.id, ())),
        )


def read_examples(
    connection: Connection,
    project_id: int,
    slug: str,
    *,
    most: int = EXAMPLES_SHOWN,
) -> list[Example]:
    """The newest observations of a pattern, newest first: those that were received last."""
    of = outcomes.c
    query = (
        select(of.outcome_id, of.task_id, of.ended_at, of.success, of.verdict)
        .join(observations, observations.c.outcome == of.id)
        .join(patterns, patterns.c.id == observations.c.pattern_id)
        .where(
            patterns.c.project_id == project_id,
            patterns.c.slug == slug,
            observations.c.replaced_at.is_(None),
        )
        # By receipt, which is the order of the key: a million observations need no sort.
        .order_by(observations.c.received_at.desc(), observations.c.outcome.desc())
        .limit(most)
    )
    return [Example(*row) for row in connection.execute(query)]


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
        .join(patterns, patterns.c.id == change.pattern_id)
        .outerjoin(pattern_decisions, made.id == change.decision_id)
        .where(patterns.c.project_id == project_id, patterns.c.slug == slug)
        .order_by(change.id)
    )  # fmt: skip
    return connection.execute(query).all()
