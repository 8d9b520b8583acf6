"""Patterns as a reader is shown them: all of a project, and one with its examples and history."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import UnknownId
from trackrecord.factories import recogniser_of
from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.standing import Standing, standing_of
from trackrecord.learning.patterns.tags import plain_tag
from trackrecord.learning.strategies.identity import pattern_id_of
from trackrecord.learning.text.language import Language
from trackrecord.prompt.documents.labels import in_language, shown
from trackrecord.prompt.documents.presentation import present_pattern
from trackrecord.prompt.documents.rankings_document import RankedPattern
from trackrecord.resources.checks import optional_member_of
from trackrecord.store.advice.runs import patterns_of_source
from trackrecord.store.patterns.read import (
    EVERY,
    Example,
    PatternChange,
    PatternFilter,
    read_changes,
    read_examples,
    read_standings,
)
from trackrecord.store.patterns.tables import patterns
from trackrecord.times import iso

from .estimates import estimate_document, read_estimates
from .kept import KeptAnswers
from .project_rows import project_row
from .short_ids import ids_beginning_with, ids_near, whole_stored_id

# Those of a large project take megabytes.
_kept: Final = KeptAnswers[tuple[Standing, ...]](2)
_HINT: Final = "`trackrecord patterns list` shows its patterns"


@dataclass(frozen=True)
class Pattern:
    """Where a pattern stands.

    Attributes:
        standing: its evidence, and the state that follows from it.
        present: returns what agents are shown of a standing; all patterns of a list share it.
        estimates: where its estimate is found; None if nothing was counted.
    """

    standing: Standing
    present: Callable[[Standing], RankedPattern] = field(repr=False, compare=False)
    estimates: Estimates | None = field(default=None, repr=False, compare=False)

    @cached_property
    def estimate(self) -> Estimate | None:
        """How often tasks that touch it succeed; None if not counted."""
        return None if self.estimates is None else self.estimates.pattern(self.standing.facts.slug)

    @cached_property
    def shown(self) -> RankedPattern:
        """Its names, numbers and reason as agents are shown them.

        Made when it is first asked for: of two thousand patterns a page shows fifty.
        """
        return self.present(self.standing)

    @property
    def id(self) -> str:
        """The pattern's id; that of an anti-pattern begins with `anti-`."""
        return self.standing.id

    @property
    def score(self) -> float:
        """The score by which it is ranked among its like."""
        return _score(self.standing)

    def to_document(self) -> dict[str, Any]:
        """Return the pattern as a JSON object."""
        document = shown(self.shown)
        document["last_validated"] = iso(self.shown.last_validated)
        if self.estimate is not None:
            document["estimate"] = estimate_document(self.estimate)
        return document


@dataclass(frozen=True)
class PatternDetails:
    """A pattern with what led to where it stands.

    Attributes:
        pattern: where it stands.
        examples: its newest observations, newest first.
        changes: its changes of state, oldest first.
    """

    pattern: Pattern
    examples: tuple[Example, ...]
    changes: tuple[PatternChange, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the pattern with its examples and its history as a JSON object."""
        return self.pattern.to_document() | {
            "examples": [
                {**asdict(example), "ended_at": iso(example.ended_at)} for example in self.examples
            ],
            "history": [_change_document(change) for change in self.changes],
        }


def _change_document(change: PatternChange) -> dict[str, Any]:
    return {
        "at": iso(change.at),
        "aspect": change.aspect,
        "before": change.before,
        "after": change.after,
        **asdict(change.evidence),
        "decision": change.decision,
        "by": change.actor,
        "reason": change.reason,
    }


def pattern_filter(
    *, state: str | None, tag: str | None, content: str | None, only_anti: bool
) -> PatternFilter:
    """Return the filter for patterns in a state, with a tag, or whose content holds a text.

    Raises:
        InvalidRequest: there is no such state.
    """
    return PatternFilter(
        optional_member_of("state", state, Maturity),
        None if tag is None else plain_tag(tag),
        content,
        only_anti,
    )


def list_patterns(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    *,
    at: float | None = None,
    wanted: PatternFilter = EVERY,
    source: str | None = None,
    estimates: Estimates | None = None,
    language: Language = "en",
) -> list[Pattern]:
    """Return the patterns of a project: best first, anti-patterns last.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose patterns.
        at: a past moment to answer for.
        wanted: which of them.
        source: only those that a run of this agent touches, of the runs that advice is counted
            from.
        estimates: where each pattern's estimate is found, and what it is judged by; they are
            counted if they are not given.
        language: of their contents and reasons.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    if estimates is None:
        estimates = read_estimates(connection, settings, project, at=at)
    standings = [
        standing
        for standing in _ordered(connection, settings, project_id, estimates, at)
        if wanted.admits(standing)
    ]
    if source is not None:
        most = settings.rules.advice.max_runs
        slugs = patterns_of_source(connection, project_id, source, limit=most, at=at)
        standings = [standing for standing in standings if standing.facts.slug in slugs]
    present = _presenter(settings, language)
    return [Pattern(standing, present, estimates) for standing in standings]


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
        warned = [each for each in warned if _judged(each, settings, estimates).is_inverted]
    return len(found) - len(warned), len(warned)


def _ordered(
    connection: Connection,
    settings: DaemonSettings,
    project_id: int,
    estimates: Estimates,
    at: float | None,
) -> tuple[Standing, ...]:
    """Return where all patterns stand, best first, anti-patterns last; see `KeptAnswers`.

    A page of a list needs all of them, for only the rules say which are the best.
    """
    rules = settings.rules

    def compute() -> tuple[Standing, ...]:
        found = [
            _judged(each, settings, estimates)
            for each in read_standings(connection, project_id, rules, now=time.time(), at=at)
        ]
        return tuple(sorted(found, key=lambda each: (each.is_inverted, -_score(each), each.id)))

    if at is not None:
        return compute()
    return _kept.answer(connection, project_id, (rules.maturity, rules.antipatterns), compute)


def _judged(standing: Standing, settings: DaemonSettings, estimates: Estimates) -> Standing:
    """Return where a pattern stands against what such tasks do otherwise, if that is known."""
    return standing_of(
        settings.maturity,
        settings.antipatterns,
        standing.facts,
        standing.evidence,
        standing.decision,
        estimates.goes_worse_with(standing.facts.slug),
    )


def _score(standing: Standing) -> float:
    return standing.failure_score if standing.is_inverted else standing.score


def _presenter(
    settings: DaemonSettings, language: Language = "en"
) -> Callable[[Standing], RankedPattern]:
    """Return what words standings as agents are shown them, in a language."""
    name_of = recogniser_of(settings.rules).name_of

    def present(standing: Standing) -> RankedPattern:
        return in_language(present_pattern(standing, name_of, settings.texts), language)

    return present


def find_pattern(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    pattern_id: str,
    *,
    at: float | None = None,
) -> Pattern:
    """Return where one pattern stands, with its estimate.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose pattern.
        pattern_id: its id, that of its anti-pattern, or the beginning of either.
        at: a past moment to answer for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern, or had none at that moment.
        AmbiguousId: several patterns' ids begin so.
    """
    project_id = project_row(connection, project)
    slug = pattern_slug(connection, project, pattern_id)
    found = read_standings(
        connection, project_id, settings.rules, now=time.time(), at=at, slug=slug
    )
    if not found:
        raise UnknownId(_unknown(pattern_id, project), hint=_HINT)
    estimates = read_estimates(connection, settings, project, at=at)
    standing = _judged(found[0], settings, estimates)
    return Pattern(standing, _presenter(settings), estimates)


def pattern_slug(connection: Connection, project: str, pattern_id: str) -> str:
    """Return the slug that a pattern's id, its anti-pattern's, or the beginning of one stands for.

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
        _unknown(pattern_id, project),
        hint=_HINT,
    )


def pattern_slugs(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the slugs of the patterns that an id, or the beginning of one, may stand for."""
    where = patterns.c.project_id == project_id
    return ids_beginning_with(connection, patterns.c.slug, where, pattern_id_of(given))


def pattern_slugs_near(connection: Connection, project_id: int, given: str) -> list[str]:
    """Return the slugs of the patterns that a mistyped one may have been meant to be."""
    where = patterns.c.project_id == project_id
    return ids_near(connection, patterns.c.slug, where, pattern_id_of(given))


def show_pattern(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    pattern_id: str,
    *,
    at: float | None = None,
    examples: int | None = None,
) -> PatternDetails:
    """Return one pattern with its newest examples and its changes of state; see `find_pattern`.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: whose pattern.
        pattern_id: as for `find_pattern`.
        at: a past moment to answer for.
        examples: the maximum number of examples; the setting `antipatterns.examples_kept` when not
            given.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern, or had none at that moment.
        AmbiguousId: several patterns' ids begin so.
    """
    pattern = find_pattern(connection, settings, project, pattern_id, at=at)
    project_id = project_row(connection, project)
    slug = pattern.standing.facts.slug
    most = settings.antipatterns.examples_kept if examples is None else examples
    return PatternDetails(
        pattern,
        tuple(read_examples(connection, project_id, slug, at=at, most=most)),
        tuple(read_changes(connection, project_id, slug, at=at)),
    )


def _unknown(pattern_id: str, project: str) -> str:
    return f"project {project!r} has no pattern {pattern_id!r}"
