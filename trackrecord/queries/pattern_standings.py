"""The standing of a project's patterns against other runs of such tasks, and their slugs."""

import time
from typing import Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.estimates.estimates import Estimates
from trackrecord.learning.patterns.standing import Standing, standing_of
from trackrecord.learning.strategies.identity import pattern_id_of
from trackrecord.store.patterns.read import read_standings
from trackrecord.store.patterns.tables import patterns

from .answer_cache import AnswerCache
from .estimates import read_estimates
from .project_rows import project_row
from .short_ids import ids_beginning_with, ids_near, whole_stored_id

# Those of a large project take megabytes.
_kept: Final = AnswerCache[tuple[Standing, ...]](2)
PATTERNS_HINT: Final = "`trackrecord patterns list` shows its patterns"


def ordered_standings(
    connection: Connection,
    settings: DaemonSettings,
    project_id: int,
    estimates: Estimates,
    at: float | None,
) -> tuple[Standing, ...]:
    """Return the standing of all patterns, best first, anti-patterns last; see `AnswerCache`.

    A page of a list needs all of them, for only the rules say which are the best.
    """
    rules = settings.rules

    def compute() -> tuple[Standing, ...]:
        found = [
            judged_standing(each, settings, estimates)
            for each in read_standings(connection, project_id, rules, now=time.time(), at=at)
        ]
        return tuple(sorted(found, key=lambda each: (each.is_inverted, -rank_score(each), each.id)))

    if at is not None:
        return compute()
    return _kept.answer(connection, project_id, (rules.maturity, rules.antipatterns), compute)


def judged_standing(standing: Standing, settings: DaemonSettings, estimates: Estimates) -> Standing:
    """Return a pattern's standing against other runs of such tasks, if known."""
    return standing_of(
        settings.maturity,
        settings.antipatterns,
        standing.facts,
        standing.evidence,
        standing.decision,
        estimates.goes_worse_with(standing.facts.slug),
    )


def rank_score(standing: Standing) -> float:
    """Return the score by which a pattern is ranked among its like."""
    return standing.failure_score if standing.is_inverted else standing.score


def count_patterns(
    connection: Connection, settings: DaemonSettings, project: str, *, at: float | None = None
) -> tuple[int, int]:
    """Return how many patterns of a project are no anti-patterns, and how many are.

    Only where counts make anti-patterns are they compared with other runs, which takes a second
    in a large project.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    row = project_row(connection, project)
    found = read_standings(connection, row, settings.rules, now=time.time(), at=at)
    warned = [each for each in found if each.is_inverted]
    if warned:
        estimates = read_estimates(connection, settings, project, at=at)
        warned = [each for each in warned if judged_standing(each, settings, estimates).is_inverted]
    return len(found) - len(warned), len(warned)


def pattern_slug(connection: Connection, project: str, pattern_id: str) -> str:
    """Return the slug of a pattern from its id, its anti-pattern's id, or the beginning of one.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern.
        AmbiguousId: several patterns' ids begin so.
    """
    return whole_stored_id(
        connection,
        patterns.c.slug,
        patterns.c.project_id == project_row(connection, project),
        pattern_id_of(pattern_id),
        unknown_pattern(pattern_id, project),
        hint=PATTERNS_HINT,
    )


def pattern_slugs(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the slugs of the patterns that an id, or the beginning of one, matches."""
    where = patterns.c.project_id == project_id
    return ids_beginning_with(connection, patterns.c.slug, where, pattern_id_of(given))


def pattern_slugs_near(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the slugs of the patterns that a mistyped one may have been meant to be."""
    where = patterns.c.project_id == project_id
    return ids_near(connection, patterns.c.slug, where, pattern_id_of(given))


def unknown_pattern(pattern_id: str, project: str) -> str:
    """Return the message that a project has no such pattern."""
    return f"project {project!r} has no pattern {pattern_id!r}"
