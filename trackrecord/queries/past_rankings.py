"""The rankings of a project as of a moment, computed from the store."""

import time

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.prompt.document import RankingsDocument
from trackrecord.prompt.task_record import FoundTask

from .past_tasks import find_tasks_at
from .project_rows import project_row
from .prompt_document import build_document


def rankings_at(
    connection: Connection, settings: DaemonSettings, project: str, at: float
) -> RankingsDocument:
    """Return a project's rankings as of a moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_row(connection, project)
    return build_document(
        connection,
        project,
        settings.rules,
        most=settings.rankings_max,
        now=time.time(),
        at=at,
    )


def past_tasks_at(
    connection: Connection, document: RankingsDocument, task: str | None, at: float
) -> tuple[FoundTask, ...] | None:
    """Return the past tasks that an agent would have found at a moment; None without a task.

    Args:
        connection: a reading transaction.
        document: the project's rankings of that moment.
        task: the text of the task at hand.
        at: the moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    if not task:
        return None
    newest = document.past_tasks
    return find_tasks_at(connection, document.project, task, newest=newest, at=at)
