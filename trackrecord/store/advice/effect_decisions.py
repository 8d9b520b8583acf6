"""Decisions about a project's holdout: the share of its tasks that is withheld advice.

A log: the last row counts. The rows of the product itself stand in it beside those of people, whose
word is never overruled. Rows of earlier versions with another action count for nothing.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, insert, select, update

from ..outcomes.projects import clock_of, next_revision
from ..outcomes.tables import projects
from .tables import effect_decisions

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
    connection.execute(
        insert(effect_decisions).values(
            project_id=project_id,
            at=decision.at,
            action=_HOLDOUT,
            share=decision.share,
            actor=decision.actor,
            reason=decision.reason,
        )
    )
    connection.execute(
        update(projects)
        .where(projects.c.id == project_id)
        .values(revision=next_revision(clock_of(decision.at)))
    )


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
