"""Tasks by their ids: known ones, and suggestions for unknown ones."""

from sqlalchemy import Connection, select

from trackrecord.errors import UnknownId
from trackrecord.resources.access.project_store import project_row
from trackrecord.store.outcomes.tables import outcomes

from .removed import outcomes_removed
from .short_ids import ids_near, nearest_id


def check_task(connection: Connection, project: str, task_id: str) -> None:
    """Make sure that an outcome of a task is on record.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: none is; the message names the nearest task that has one.
    """
    if not is_known_task(connection, project, task_id):
        raise unknown_task(connection, project, task_id)


def is_known_task(connection: Connection, project: str, task_id: str) -> bool:
    """Return whether an outcome of a task is on record.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    query = select(outcomes.c.id).where(
        outcomes.c.project_id == project_id, outcomes.c.task_id == task_id
    )
    # PostgreSQL refuses to be asked for a NUL.
    return "\0" not in task_id and connection.execute(query.limit(1)).first() is not None


def unknown_task(connection: Connection, project: str, task_id: str) -> UnknownId:
    """Return the error for a task without an outcome on record, with the nearest task that has one.

    Args:
        connection: a reading transaction.
        project: whose task.
        task_id: its id.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    hint = "`trackrecord runs list --json` names the task of each run"
    nearest = nearest_task(connection, project_id, task_id)
    message = f"project {project!r} has no outcome of a task {task_id!r} on record"
    return UnknownId(
        message,
        nearest=None if nearest == task_id else nearest,
        hint="; ".join(filter(None, (hint, outcomes_removed(connection, project_id)))),
    )


def nearest_task(connection: Connection, project_id: int, task_id: str) -> str | None:
    """Return the task with an outcome that is most similar to the id; None if none is close."""
    where = outcomes.c.project_id == project_id
    return nearest_id(task_id, ids_near(connection, outcomes.c.task_id, where, task_id))
