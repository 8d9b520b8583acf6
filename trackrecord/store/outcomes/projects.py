"""Projects: whose experience is on record, and how much of it."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    case,
    func,
    select,
    update,
)

from trackrecord.learning.competences.selection import success_rate

from .tables import outcomes, projects


@dataclass(frozen=True)
class ProjectCounts:
    """The counts of a project's records.

    Attributes:
        outcomes: all of them.
        successes: those whose task reached its goal.
        without_verdict: those of which nobody knows whether it did.
        last_learnt: when the last one was learnt, seconds since the epoch.
    """

    outcomes: int
    successes: int
    without_verdict: int
    last_learnt: float | None

    @property
    def base_rate(self) -> float:
        """Successes ÷ outcomes with a verdict: how often a task succeeds; 0.5 without any."""
        failures = self.outcomes - self.without_verdict - self.successes
        return success_rate(self.successes, failures)


def clock_of(now: float) -> int:
    """The lowest revision of a change at that moment, in milliseconds since the epoch."""
    return int(now * 1000)


def next_revision(clock: int | BindParameter[int]) -> ColumnElement[int]:
    """The value that a project's revision takes with a change, see `clock_of`.

    It rises with every change and never lies behind the clock: of a database that was made anew,
    or restored from yesterday, the next revision is above those in the cache.
    """
    following = projects.c.revision + 1
    return case((following > clock, following), else_=clock)


def note_change(connection: Connection, project_id: int, now: float, **values: Any) -> None:  # noqa: ANN401 - of its columns
    """Gives a project its next revision, with other values of its row."""
    set_project(connection, project_id, revision=next_revision(clock_of(now)), **values)


def set_project(connection: Connection, project_id: int, **values: Any) -> None:  # noqa: ANN401 - as above
    """Sets values of a project's row."""
    own = projects.c.id == project_id
    connection.execute(update(projects).where(own).values(**values))


@dataclass(frozen=True)
class RemovedUntil:
    """The moments up to which retention has removed something of a project; None for never.

    Attributes:
        outcomes: outcomes received before this moment, seconds since the epoch.
        bodies: the texts of those received before this one.
    """

    outcomes: float | None
    bodies: float | None


def removed_until(connection: Connection, project_id: int) -> RemovedUntil:
    """Return up to when outcomes of a project, and texts, are removed."""
    query = select(projects.c.outcomes_until, projects.c.bodies_until)
    return RemovedUntil(*connection.execute(query.where(projects.c.id == project_id)).one())


def first_removed(connection: Connection, project_id: int) -> float | None:
    """Return the beginning of the first day with removed outcomes of a project; None without."""
    query = select(projects.c.removed_from).where(projects.c.id == project_id)
    return connection.execute(query).scalar()


def project_id_of(connection: Connection, project: str) -> int | None:
    """Return the row of a project; None without records."""
    query = select(projects.c.id).where(projects.c.name == project)
    return connection.execute(query).scalar()


def revision_of(connection: Connection, project: str) -> tuple[int, int] | None:
    """Return a project's row and revision; None without records."""
    query = select(projects.c.id, projects.c.revision).where(projects.c.name == project)
    row = connection.execute(query).one_or_none()
    return (row.id, row.revision) if row else None


def revision_of_row(connection: Connection, project_id: int) -> int:
    """The revision of a project by its row."""
    query = select(projects.c.revision).where(projects.c.id == project_id)
    return int(connection.execute(query).scalar_one())


def first_received(connection: Connection, project_id: int) -> float | None:
    """Return when the first outcome of a project was received; None without any."""
    removed = first_removed(connection, project_id)
    if removed is not None:
        return removed
    query = select(func.min(outcomes.c.received_at)).where(outcomes.c.project_id == project_id)
    return connection.execute(query).scalar()


def project_names(connection: Connection) -> list[str]:
    """Return all projects by name, in the order of code points on every database."""
    return sorted(connection.execute(select(projects.c.name)).scalars())


def project_revisions(connection: Connection) -> dict[str, int]:
    """Each project's revision: it rises with every change that rankings depend on."""
    rows = connection.execute(select(projects.c.name, projects.c.revision).order_by(projects.c.id))
    return {row.name: row.revision for row in rows}


def revisions_mark(connection: Connection) -> tuple[int, int, int]:
    """Return what changes whenever `project_revisions` does, in one row however many there are."""
    query = select(
        func.count(),
        func.coalesce(func.sum(projects.c.revision), 0),
        func.coalesce(func.max(projects.c.revision), 0),
    )
    number, total, last = connection.execute(query).one()
    return int(number), int(total), int(last)


def first_projects(connection: Connection, most: int) -> dict[int, tuple[str, ProjectCounts]]:
    """Return the projects that have been on record the longest, by row: the name and the counts."""
    query = (
        select(
            projects.c.id,
            projects.c.name,
            projects.c.outcomes,
            projects.c.successes,
            projects.c.without_verdict,
            projects.c.last_learnt_at,
        )
        .order_by(projects.c.id)
        .limit(most)
    )
    return {row[0]: (row[1], ProjectCounts(*row[2:])) for row in connection.execute(query)}


def count_later_projects(connection: Connection, project_id: int) -> ProjectCounts:
    """Count the outcomes of all projects that came on record after one."""
    return _counts(connection, _COUNTS.where(projects.c.id > project_id))


# Built once: building it takes longer than executing it.
_COUNTS: Final = select(
    func.coalesce(func.sum(projects.c.outcomes), 0),
    func.coalesce(func.sum(projects.c.successes), 0),
    func.coalesce(func.sum(projects.c.without_verdict), 0),
    func.max(projects.c.last_learnt_at),
)
_COUNTS_OF_PROJECT: Final = _COUNTS.where(projects.c.id == bindparam("project"))


def count_outcomes(connection: Connection, project_id: int | None) -> ProjectCounts:
    """Count outcomes of one project, or of all (None)."""
    query = _COUNTS if project_id is None else _COUNTS_OF_PROJECT
    return _counts(connection, query, None if project_id is None else {"project": project_id})


def _counts(
    connection: Connection, query: Select[Any], of: dict[str, int] | None = None
) -> ProjectCounts:
    total, successes, without, last = connection.execute(query, of or {}).one()
    return ProjectCounts(int(total), int(successes), int(without), last)
