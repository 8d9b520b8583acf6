"""Decisions about advice: the share of tasks without it, entries withdrawn and restored."""

import time

from sqlalchemy import Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import InvalidRequest
from trackrecord.queries.effect import decided_entry
from trackrecord.queries.project_rows import project_row
from trackrecord.store.advice.effect_decisions import Action, EffectDecision, decide_effect

from .writing import changing

_HIGHEST_HOLDOUT = 0.9


def hold_out(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    share: float,
    *,
    by: str,
    reason: str | None = None,
) -> EffectDecision:
    """Withhold advice from a share of a project's tasks, so that both can be compared.

    Args:
        engine: the store.
        settings: the rules, and the Redis server.
        project: whose tasks.
        share: 0 to 0.9; 0 gives all tasks advice again.
        by: who decides.
        reason: why.

    Raises:
        InvalidRequest: the share is out of bounds.
        UnknownProject: nothing is on record for the project.
    """
    if not 0 <= share <= _HIGHEST_HOLDOUT:
        message = f"the share without advice must lie in 0..{_HIGHEST_HOLDOUT}, not {share:g}"
        raise InvalidRequest(message)
    return _decide(engine, settings, project, "holdout", "", share, by, reason)


def withdraw_entry(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    entry: str,
    *,
    by: str,
    reason: str | None = None,
) -> EffectDecision:
    """Take an entry out of all advice of a project.

    Args:
        engine: the store.
        settings: the rules, and the Redis server.
        project: whose advice.
        entry: its id, or the beginning of it.
        by: who decides.
        reason: why.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: nothing with that id, or that begins so, was ever handed out.
        AmbiguousId: several ids begin so.
    """
    return _decide(engine, settings, project, "withdraw", entry, None, by, reason)


def restore_entry(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    entry: str,
    *,
    by: str,
    reason: str | None = None,
) -> EffectDecision:
    """Put an entry into advice again, for good; see `withdraw_entry`."""
    return _decide(engine, settings, project, "restore", entry, None, by, reason)


def _decide(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    action: Action,
    entry: str,
    share: float | None,
    by: str,
    reason: str | None,
) -> EffectDecision:
    with changing(engine, settings, project) as connection:
        row = project_row(connection, project)
        if entry:
            entry = decided_entry(connection, project, entry)
        decision = EffectDecision(action, entry, share, by, reason or "", time.time())
        decide_effect(connection, row, decision)
    return decision


def said_of(project: str, decision: EffectDecision) -> str:
    """Return the result of a decision, as a sentence without its full stop."""
    match decision.action:
        case "withdraw":
            return f"{decision.entry} is handed out no more in project {project!r}"
        case "restore":
            return (
                f"{decision.entry} is handed out again in project {project!r}, whatever is measured"
            )
    if not decision.share:
        return f"no task of project {project!r} is withheld advice any more"
    return (
        f"advice is withheld from {100 * decision.share:g}% of the tasks of project {project!r} "
        "that are asked for with a task_id"
    )
