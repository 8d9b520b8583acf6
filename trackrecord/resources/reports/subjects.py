"""Sources and tasks on record, to tell a misspelt one from a known one."""

from sqlalchemy import Connection, Engine, select

from trackrecord.errors import UnknownId, UnknownProject
from trackrecord.learning.text.spelling import closest
from trackrecord.resources.access.tasks import nearest_task
from trackrecord.store.database.engine import reading
from trackrecord.store.memories.tables import memories, memory_sources
from trackrecord.store.outcomes.projects import project_id_of, project_names
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.subject import Subject, told_by

_CHUNK = 2000


def known_sources(connection: Connection, project_id: int) -> set[str]:
    """Return the sources that outcomes and memories of a project name; reads all of them."""
    bodies = select(outcomes.c.body).where(outcomes.c.project_id == project_id)
    found: set[str] = set()
    for body in connection.execute(bodies.execution_options(yield_per=_CHUNK)).scalars():
        told = told_by(body)
        found.update(() if told is None else told.sources)
    said = (
        select(memory_sources.c.source)
        .join(memories, memories.c.id == memory_sources.c.memory)
        .where(memories.c.project_id == project_id)
        .distinct()
    )
    return found.union(connection.execute(said).scalars())


def unknown_subject(engine: Engine, subject: Subject) -> UnknownId:
    """Return the error for a source, a task or a project without any record."""
    with reading(engine) as connection:
        project_id = project_id_of(connection, subject.project)
        if project_id is None:
            names = project_names(connection)
            nearest = closest(subject.project, names)
            return UnknownProject(subject.project, nearest=nearest, count=len(names))
        nearest = (
            nearest_task(connection, project_id, subject.name)
            if subject.what == "task"
            else closest(subject.name, known_sources(connection, project_id))
        )
        return UnknownId(
            f"nothing is on record of {subject.what} {subject.name!r} "
            f"in project {subject.project!r}",
            nearest=nearest,
            hint=f"`trackrecord runs list --json` names the {subject.what} of each run",
        )
