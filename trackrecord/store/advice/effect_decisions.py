"""Decisions about a project's advice: its holdout, and which entries are withdrawn.

A log: the last row about a subject counts. The rows of the product itself stand in it beside those
of people, whose word is never overruled.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from sqlalchemy import Connection, insert, select, update

from ..outcomes.projects import clock_of, next_revision
from ..outcomes.tables import projects
from .tables import effect_decisions

Action = Literal["holdout", "withdraw", "restore"]

# Who withdraws an entry whose effect was measured.
MEASURED: Final = "the measured effect"
# Who begins a holdout where the user agreed to measure the effect.
CONSENTED: Final = "the consent to measure"


@dataclass(frozen=True)
class EffectDecision:
    """One decision.

    Attributes:
        action: what was decided.
        entry: the id of the entry; "" for the holdout.
        share: the share of the holdout; None for an entry.
        actor: who decided.
        reason: why.
        at: when, seconds since the epoch.
    """

    action: Action
    entry: str
    share: float | None
    actor: str
    reason: str
    at: float


@dataclass(frozen=True)
class EffectDecisions:
    """The decisions in force.

    Attributes:
        holdout: the share of tasks that is withheld advice; None where nobody decided.
        entries: the last decision about each entry, by its id.
    """

    holdout: float | None = None
    entries: dict[str, EffectDecision] = field(default_factory=dict)

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """Return the withdrawn entries, by id."""
        return tuple(
            sorted(name for name, each in self.entries.items() if each.action == "withdraw")
        )


def decide_effect(connection: Connection, project_id: int, decision: EffectDecision) -> None:
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
            action=decision.action,
            entry=decision.entry,
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


def effect_decisions_in_force(connection: Connection, project_id: int) -> EffectDecisions:
    """Return the decisions in force."""
    holdout: float | None = None
    entries: dict[str, EffectDecision] = {}
    for each in _decisions(connection, project_id):
        if each.action == "holdout":
            holdout = each.share
        else:
            entries[each.entry] = each
    return EffectDecisions(holdout, entries)


def held_out_projects(connection: Connection) -> dict[int, float]:
    """Return the share that was decided to be withheld advice, by the row of the project.

    Projects of which nobody decided are not among them.
    """
    made = effect_decisions.c
    query = select(made.project_id, made.share).where(made.action == "holdout").order_by(made.id)
    return {row.project_id: row.share or 0.0 for row in connection.execute(query)}


def _decisions(connection: Connection, project_id: int) -> Iterator[EffectDecision]:
    made = effect_decisions.c
    query = select(effect_decisions).where(made.project_id == project_id).order_by(made.id)
    for row in connection.execute(query):
        yield EffectDecision(row.action, row.entry, row.share, row.actor, row.reason, row.at)
