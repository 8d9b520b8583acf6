"""Projects: which ones are on record, and how much has been learnt in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, distinct, func, select

from trackrecord.store.competences.read import count_competences
from trackrecord.store.memories.read import count_memories
from trackrecord.store.outcomes.projects import count_outcomes, project_names
from trackrecord.store.outcomes.standing import stood
from trackrecord.store.patterns.tables import observations, patterns
from trackrecord.times import iso

from .project_rows import project_row


@dataclass(frozen=True)
class Project:
    """A project on record.

    Attributes:
        name: its name.
        outcomes: the number of its outcomes.
        successes: the number of outcomes whose task reached its goal.
        without_verdict: the number of outcomes of which nobody knows whether it did.
        patterns: the number of patterns that its outcomes touched.
        competences: the number of its competence records.
        memories: the number of its memories.
        last_outcome: when its newest outcome was learnt, seconds since the epoch.
    """

    name: str
    outcomes: int
    successes: int
    without_verdict: int
    patterns: int
    competences: int
    memories: int
    last_outcome: float | None

    @property
    def success_rate(self) -> float | None:
        """The share of the outcomes with a verdict that reached their goal; None without any."""
        judged = self.outcomes - self.without_verdict
        return self.successes / judged if judged else None

    def to_document(self) -> dict[str, Any]:
        """Return the project as a JSON object."""
        return dict(vars(self)) | {"last_outcome": iso(self.last_outcome)}


def list_projects(
    connection: Connection,
    *,
    at: float | None = None,
    limit: int | None = None,
    names: Sequence[str] | None = None,
) -> tuple[list[Project], int]:
    """Return the projects by name, and how many more there are beyond the limit.

    Args:
        connection: a reading transaction.
        at: count what was on record at that moment; projects without outcomes and memories then
            are left out.
        limit: the maximum number of projects to return; None for all.
        names: only the projects of these names; None for all.
    """
    known_names = project_names(connection)
    names = known_names if names is None else [name for name in known_names if name in names]
    if at is None:
        shown = names[:limit]
        return [_project(connection, name, None) for name in shown], len(names) - len(shown)
    found = [_project(connection, name, at) for name in names]
    known = [project for project in found if project.outcomes or project.memories]
    return known[:limit], len(known) - len(known[:limit])


def _project(connection: Connection, name: str, at: float | None) -> Project:
    project_id = project_row(connection, name)
    counts = count_outcomes(connection, project_id, at)
    return Project(
        name=name,
        outcomes=counts.outcomes,
        successes=counts.successes,
        without_verdict=counts.without_verdict,
        patterns=_count_patterns(connection, project_id, at),
        competences=count_competences(connection, project_id, at=at),
        memories=count_memories(connection, project_id, at=at),
        last_outcome=counts.last_learnt,
    )


def _count_patterns(connection: Connection, project_id: int, at: float | None) -> int:
    is_known = patterns.c.helpful + patterns.c.neutral + patterns.c.harmful > 0
    query = select(func.count()).where(
        patterns.c.project_id == project_id, is_known | patterns.c.decided_maturity.is_not(None)
    )
    if at is not None:
        query = (
            select(func.count(distinct(observations.c.pattern_id)))
            .join(patterns, patterns.c.id == observations.c.pattern_id)
            .where(
                patterns.c.project_id == project_id,
                observations.c.received_at <= at,
                stood(observations.c.replaced_at, at),
            )
        )
    return connection.execute(query).scalar_one()
