"""The standing of a project's patterns against other runs of such tasks, and their slugs."""

import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from sqlalchemy import Connection

from trackrecord.learning.advice.estimates.estimates import Estimates
from trackrecord.learning.patterns.standing import Standing, standing_of
from trackrecord.learning.text.slug import pattern_id_of
from trackrecord.resources.access.answer_cache import AnswerCache, CountedAnswers
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.access.short_ids import ids_beginning_with, ids_near, whole_stored_id
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.ledger.tables import items
from trackrecord.store.patterns.decide import are_known
from trackrecord.store.patterns.read import last_pattern_row, read_standings

from .estimates import read_estimates

# Those of a large project take megabytes.
_kept: Final = AnswerCache[tuple[Standing, ...]](2)
# The most that are read by one statement.
_AT_ONCE: Final = 64


class PatternPlace(NamedTuple):
    """A pattern's place in the order of all: the best first, anti-patterns last.

    Attributes:
        is_inverted: whether it is an anti-pattern.
        below: its score among its like, with a minus before it.
        slug: its id, also where it is an anti-pattern.
    """

    is_inverted: bool
    below: float
    slug: str


class PatternOrder(NamedTuple):
    """The order of a project's patterns.

    Attributes:
        places: of all patterns, in order.
        last_row: the row of the pattern that was first named last.
    """

    places: tuple[PatternPlace, ...]
    last_row: int


counted_order: Final = CountedAnswers[PatternOrder]("patterns", lambda: PatternOrder, 8)
PATTERNS_HINT: Final = "`trackrecord patterns list` shows its patterns"


def ordered_standings(
    connection: Connection,
    settings: DaemonSettings,
    project_id: int,
    estimates: Estimates,
) -> tuple[Standing, ...]:
    """Return the standing of all patterns, best first, anti-patterns last; see `AnswerCache`.

    A page of a list needs all of them, for only the rules say which are the best.
    """
    rules = settings.rules

    def compute() -> tuple[Standing, ...]:
        return _in_order(connection, settings, project_id, estimates)

    return _kept.answer(connection, project_id, (rules.maturity, rules.antipatterns), compute)


def _in_order(
    connection: Connection,
    settings: DaemonSettings,
    project_id: int,
    estimates: Estimates,
) -> tuple[Standing, ...]:
    rules = settings.rules
    found = (
        judged_standing(each, settings, estimates)
        for each in read_standings(connection, project_id, rules, now=time.time())
    )
    return tuple(sorted(found, key=place_in_order))


def place_in_order(standing: Standing) -> PatternPlace:
    """Return a pattern's place in the order of all."""
    return PatternPlace(standing.is_inverted, -rank_score(standing), standing.facts.slug)


def order_rules(settings: DaemonSettings) -> Hashable:
    """Return what patterns are put in order by."""
    return settings.maturity, settings.antipatterns, settings.caps, settings.decay


def order_of(
    connection: Connection, settings: DaemonSettings, project_id: int, estimates: Estimates
) -> PatternOrder:
    """Return the order of all patterns of a project as it is now."""
    found = _in_order(connection, settings, project_id, estimates)
    return PatternOrder(tuple(map(place_in_order, found)), last_pattern_row(connection, project_id))


def counted_places(
    connection: Connection, settings: DaemonSettings, project_id: int, estimates: Estimates
) -> Sequence[PatternPlace] | None:
    """Return the places of a large project's patterns; None where they are to be computed.

    Each stands where the worker put it; those that came since are put among them.
    """
    order = counted_order.stored(connection, settings, project_id, order_rules(settings))
    if order is None:
        return None
    since = read_standings(
        connection, project_id, settings.rules, now=time.time(), after_row=order.last_row
    )
    if not since:
        return order.places
    new = (place_in_order(judged_standing(each, settings, estimates)) for each in since)
    return sorted((*order.places, *new))


def standings_at(
    connection: Connection,
    settings: DaemonSettings,
    project_id: int,
    estimates: Estimates,
    places: Iterable[PatternPlace],
    at_once: int,
) -> Iterator[tuple[PatternPlace, Standing]]:
    """Yield the standing of patterns as it is now, some at a time, in the order of their places.

    A pattern of which nothing is left is passed over.
    """
    left = iter(places)
    while some := list(islice(left, min(at_once, _AT_ONCE))):
        found = read_standings(
            connection, project_id, settings.rules, now=time.time(),
            slugs=[place.slug for place in some],
        )  # fmt: skip
        by_slug = {each.facts.slug: each for each in found}
        for place in some:
            if (standing := by_slug.get(place.slug)) is not None:
                yield place, judged_standing(standing, settings, estimates)


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
    connection: Connection, settings: DaemonSettings, project: str
) -> tuple[int, int]:
    """Return how many patterns of a project are no anti-patterns, and how many are.

    Only where counts make anti-patterns are they compared with other runs, which takes a second
    in a large project.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    row = project_row(connection, project)
    found = read_standings(connection, row, settings.rules, now=time.time())
    warned = [each for each in found if each.is_inverted]
    if warned:
        estimates = read_estimates(connection, settings, project)
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
        items.c.name,
        are_known(project_row(connection, project)),
        pattern_id_of(pattern_id),
        unknown_pattern(pattern_id, project),
        hint=PATTERNS_HINT,
    )


def pattern_slugs(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the slugs of the patterns that an id, or the beginning of one, matches."""
    return ids_beginning_with(connection, items.c.name, are_known(project_id), pattern_id_of(given))


def pattern_slugs_near(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the slugs of the patterns that a mistyped one may have been meant to be."""
    return ids_near(connection, items.c.name, are_known(project_id), pattern_id_of(given))


def unknown_pattern(pattern_id: str, project: str) -> str:
    """Return the message that a project has no such pattern."""
    return f"project {project!r} has no pattern {pattern_id!r}"
