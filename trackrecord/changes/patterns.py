"""Decisions about patterns: promoted, deprecated, reset."""

import time
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.patterns.decisions import DecisionAction
from trackrecord.queries.patterns import pattern_slug
from trackrecord.queries.project_rows import project_row
from trackrecord.store.patterns.decide import decide

from .writing import changing

Action = Literal["promote", "deprecate", "reset"]


@dataclass(frozen=True)
class PatternDecision:
    """A decision about a pattern, and what it changed.

    Attributes:
        id: the pattern.
        action: what was decided.
        changed: whether there was anything to change: a reset may find no decision.
        before: the state before, if it changed.
        after: the state since, if it changed.
        by: who decided.
        reason: why; None without a reason.
    """

    id: str
    action: Action
    changed: bool
    before: str | None
    after: str | None
    by: str
    reason: str | None

    def to_document(self) -> dict[str, Any]:
        """Return the decision as a JSON object."""
        return dict(vars(self))


def decide_about_pattern(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    pattern_id: str,
    action: Action,
    *,
    by: str,
    reason: str | None = None,
) -> PatternDecision:
    """Decide about a pattern; the decision holds until it is reset.

    Args:
        engine: the store.
        settings: the rules.
        project: the pattern's project.
        pattern_id: its id, that of its anti-pattern, or the beginning of either.
        action: what is decided.
        by: who decides.
        reason: why.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern.
        AmbiguousId: several patterns' ids begin so.
        DecisionRefused: it is deprecated and was to be promoted.
    """
    with changing(engine, settings, project) as connection:
        slug = pattern_slug(connection, project, pattern_id)
        change = decide(
            connection,
            project_row(connection, project),
            slug,
            DecisionAction(action),
            actor=by,
            reason=reason or "",
            rules=settings.rules,
            now=time.time(),
        )
    return PatternDecision(
        id=slug,
        action=action,
        changed=change is not None,
        before=change.before if change else None,
        after=change.after if change else None,
        by=by,
        reason=reason,
    )
