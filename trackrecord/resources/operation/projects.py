"""Projects: which ones are on record, and how much has been learnt in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trackrecord.learning.text.times import iso
from trackrecord.resources.access.project_store import project_row, read_project
from trackrecord.resources.declaration.checks import Limit
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Project(Answer, frozen=True, kw_only=True):
    """A project on record.

    Attributes:
        name: its name.
        outcomes: the number of its outcomes.
        successes: the number of outcomes whose task reached its goal.
        without_verdict: the number of outcomes of which nobody knows whether it did.
        patterns: the number of patterns that its outcomes touched.
        competences: the number of its competence records.
        memories: the number of its memories.
        last_outcome: when its newest run ended.
    """

    name: str
    outcomes: int
    successes: int
    without_verdict: int
    patterns: int
    competences: int
    memories: int
    last_outcome: Instant | None

    @property
    def success_rate(self) -> float | None:
        """The share of the outcomes with a verdict that reached their goal; None without any."""
        judged = self.outcomes - self.without_verdict
        return self.successes / judged if judged else None


def count_projects(*, project: str | None = None) -> int:
    """Return how many projects `list_projects` returns without a limit.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    if project is not None:
        return len(list_projects(project=project))
    with read_project(None) as it:
        from trackrecord.store.outcomes.projects import project_names

        return len(project_names(it.connection))


PROJECTS = Resource("projects", "List the projects on record.")


@PROJECTS.offers(
    "GET /projects",
    command="projects",
    scope="all",
    sorting=sorting_of(
        "projects", "name", name="name", outcomes="outcomes", rate="success_rate",
        patterns="patterns", competences="competences", memories="memories",
        last_seen="last_outcome",
    ),
    in_pages=True,
    total=count_projects,
    columns=(
        "project", "outcomes", "successes", "without verdict", "patterns", "competences",
        "memories", "last outcome",
    ),
    terminal_columns=(
        "project", "outcomes", "success rate", "patterns", "records", "memories", "last outcome",
    ),
    drawings=("success rate",),
    about="project",
    secondary=("records", "patterns", "memories", "last outcome"),
    cells={
        "project": lambda project: project.name,
        "without verdict": lambda project: project.without_verdict,
        "records": lambda project: project.competences,
        "last outcome": lambda project: iso(project.last_outcome),
    },
    nothing="no projects on record: nothing has been learnt yet",
)  # fmt: skip
def list_projects(*, limit: Limit | None = None, project: str | None = None) -> list[Project]:
    """List the projects on record, and how much each has learnt.

    Args:
        limit: the maximum number of projects to return; all when not given.
        project: only the project of this name; all when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.store.outcomes.projects import project_names

        names = [name for name in project_names(it.connection) if project in (None, name)]
        return [_project(it.connection, name) for name in names[:limit]]


def _project(connection: Connection, name: str) -> Project:
    from trackrecord.store.advice.run_records import last_ended
    from trackrecord.store.competences.read import count_competences
    from trackrecord.store.memories.read import count_memories
    from trackrecord.store.outcomes.projects import count_outcomes

    project_id = project_row(connection, name)
    counts = count_outcomes(connection, project_id)
    return Project.taken(
        counts,
        name=name,
        patterns=_count_patterns(connection, project_id),
        competences=count_competences(connection, project_id),
        memories=count_memories(connection, project_id),
        last_outcome=last_ended(connection, project_id) or counts.last_learnt,
    )


def _count_patterns(connection: Connection, project_id: int) -> int:
    from sqlalchemy import func, select

    from trackrecord.store.patterns.decide import are_known

    return connection.execute(select(func.count()).where(are_known(project_id))).scalar_one()
