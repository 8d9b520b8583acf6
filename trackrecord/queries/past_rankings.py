"""The rankings of a project as of a moment, computed from the store."""

import time

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.prompt.document import RankingsDocument

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
