"""The calls for patterns: where they stand, and decisions about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trackrecord.beside import awaited
from trackrecord.learning.text.language import Language, known_language
from trackrecord.resources.checks import (
    Moment,
    decided_by,
    moment_of,
    optional_limit_of,
    optional_text_of,
    text_of,
)
from trackrecord.resources.project_store import open_project

if TYPE_CHECKING:
    from trackrecord.changes.patterns import Action, PatternDecision
    from trackrecord.queries.patterns import Pattern


def list_patterns(
    *,
    state: Literal["candidate", "established", "proven", "deprecated"] | None = None,
    tag: str | None = None,
    content: str | None = None,
    only_anti: bool = False,
    at: Moment | None = None,
    limit: int | None = None,
    lang: Language = "en",
    project: str | None = None,
) -> list[Pattern]:
    """Return the patterns of a project, best first, anti-patterns last.

    Args:
        state: only patterns in this maturity state.
        tag: only patterns with this tag, or of this kind: "strategy" or "named".
        content: only patterns whose content contains this text.
        only_anti: only patterns that have become anti-patterns.
        at: a past moment to answer for.
        limit: the maximum number of patterns to return; all when not given.
        lang: language of their contents, reasons and labels, "en" or "zh".
        project: the patterns' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    tag, content = optional_text_of("tag", tag), optional_text_of("content", content)
    moment, limit = moment_of(at), optional_limit_of(limit)
    with open_project(project) as here:
        from trackrecord.queries import patterns
        from trackrecord.queries.estimates import read_estimates
        from trackrecord.store.database.engine import reading

        wanted = patterns.pattern_filter(state=state, tag=tag, content=content, only_anti=only_anti)
        with reading(here.engine) as connection:
            estimates = read_estimates(connection, here.settings, here.project, at=moment)
            found = patterns.list_patterns(
                connection,
                here.settings,
                here.project,
                at=moment,
                wanted=wanted,
                estimates=estimates,
                language=known_language(lang),
            )
    return found[:limit]


def promote_pattern(
    pattern_id: str, *, reason: str | None = None, by: str | None = None, project: str | None = None
) -> PatternDecision:
    """Make a pattern proven, because it was validated elsewhere; it stays so until reset.

    Args:
        pattern_id: its id, that of its anti-pattern, or the beginning of either.
        reason: why; the history keeps it.
        by: who decides; this process's user when not given.
        project: the pattern's project; the settings' project when not given.

    Raises:
        DecisionRefused: the pattern is deprecated, and can only be reset.
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("promote", pattern_id, reason, by, project)


def deprecate_pattern(
    pattern_id: str, *, reason: str, by: str | None = None, project: str | None = None
) -> PatternDecision:
    """Deprecate a pattern, so that it is not recommended again until reset.

    The arguments are those of `promote_pattern`, and a reason is required.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("deprecate", pattern_id, text_of("reason", reason, most=1000), by, project)


def reset_pattern(
    pattern_id: str, *, reason: str | None = None, by: str | None = None, project: str | None = None
) -> PatternDecision:
    """Take back a decision by hand, so that the evidence decides about the pattern again.

    The arguments are those of `promote_pattern`.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("reset", pattern_id, reason, by, project)


def _decide(
    action: Action, pattern_id: str, reason: str | None, by: str | None, project: str | None
) -> PatternDecision:
    pattern_id = text_of("pattern_id", pattern_id)
    actor, given_reason = decided_by(by, reason)
    with open_project(project) as here:
        from trackrecord.changes.patterns import decide_about_pattern

        return decide_about_pattern(
            here.engine,
            here.settings,
            here.project,
            pattern_id,
            action,
            by=actor,
            reason=given_reason,
        )


alist_patterns = awaited(list_patterns)
apromote_pattern = awaited(promote_pattern)
adeprecate_pattern = awaited(deprecate_pattern)
areset_pattern = awaited(reset_pattern)
