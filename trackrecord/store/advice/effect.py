"""The effect of a project's advice, measured from its records, and decisions about its holdout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, insert, select

from trackrecord.learning.advice.effect.comparison import FEWEST

from ..outcomes.projects import note_change
from .tables import effect_decisions

if TYPE_CHECKING:
    from trackrecord.learning.advice.effect.comparison import EffectReport
    from trackrecord.learning.advice.effect.trials import Trials

# The newest tasks of a project; of older ones the advice was another.
MOST_TASKS = 20_000
# The share of tasks that is withheld advice where the user agreed to measure its effect.
USUAL_HOLDOUT: Final = 0.1
# A project that has had so many tasks will soon have had as many again, and with them the fewest
# tasks without advice of which anything is said. One with fewer would give up advice for nothing.
ENOUGH_TASKS: Final = round(FEWEST / USUAL_HOLDOUT)


def read_effect(connection: Connection, project_id: int) -> EffectReport:
    """Return the effect of a project's advice.

    Args:
        connection: a reading transaction.
        project_id: whose advice.
    """
    from trackrecord.learning.advice.effect.comparison import EffectReport, effect_of

    trials = _trials(connection, project_id)
    return EffectReport() if trials is None else effect_of(trials)


def _trials(connection: Connection, project_id: int) -> Trials | None:
    """Return the newest tasks of a project with advice or without; None if it had no advice."""
    # Decisions are read without all this.
    from trackrecord.learning.advice.effect.trials import trials_of

    from .exposures import read_exposures
    from .runs import read_runs

    exposures = read_exposures(connection, project_id, limit=MOST_TASKS)
    if not exposures:
        return None
    return trials_of(exposures, read_runs(connection, project_id, limit=MOST_TASKS))


def is_holdout_due(connection: Connection, project_id: int) -> bool:
    """Return whether a project has enough tasks for a holdout, and no decision about it.

    Counted are the tasks that ended after they were handed something under their task_id.
    """
    from .exposures import are_more_exposures

    if not are_more_exposures(connection, project_id, ENOUGH_TASKS - 1):
        return False
    if decided_holdout(connection, project_id) is not None:
        return False
    trials = _trials(connection, project_id)
    return trials is not None and len(trials.ended) >= ENOUGH_TASKS


def begin_holdout(connection: Connection, project_id: int, *, now: float) -> None:
    """Withhold advice from some tasks of a project from now on; a person's word goes before it.

    Args:
        connection: within a writing transaction.
        project_id: whose tasks.
        now: seconds since the epoch.
    """
    reason = f"{ENOUGH_TASKS} tasks ended that were handed advice"
    decision = HoldoutDecision(USUAL_HOLDOUT, CONSENTED, reason, now)
    decide_holdout(connection, project_id, decision)


# Who begins a holdout where the user agreed to measure the effect.
CONSENTED: Final = "the consent to measure"
_HOLDOUT: Final = "holdout"


@dataclass(frozen=True)
class HoldoutDecision:
    """One decision.

    Attributes:
        share: the share of tasks that is withheld advice.
        actor: who decided.
        reason: why.
        at: when, seconds since the epoch.
    """

    share: float
    actor: str
    reason: str
    at: float


def decide_holdout(connection: Connection, project_id: int, decision: HoldoutDecision) -> None:
    """Record a decision, and have the rankings refreshed.

    Args:
        connection: within a writing transaction.
        project_id: whose advice.
        decision: what was decided.
    """
    values = {"project_id": project_id, "action": _HOLDOUT} | vars(decision)
    connection.execute(insert(effect_decisions).values(values))
    note_change(connection, project_id, decision.at)


def decided_holdout(connection: Connection, project_id: int) -> float | None:
    """Return the share of tasks that was decided to be withheld advice, if anybody decided.

    Args:
        connection: a reading transaction.
        project_id: whose advice.
    """
    return held_out_projects(connection, project_id).get(project_id)


def held_out_projects(connection: Connection, project_id: int | None = None) -> dict[int, float]:
    """Return the share that was decided to be withheld advice, by the row of the project.

    Args:
        connection: a reading transaction.
        project_id: the project; None for all of which anybody decided.
        at: a past moment to answer for.
    """
    made = effect_decisions.c
    query = select(made.project_id, made.share).where(made.action == _HOLDOUT).order_by(made.id)
    if project_id is not None:
        query = query.where(made.project_id == project_id)
    return {row.project_id: row.share or 0.0 for row in connection.execute(query)}
