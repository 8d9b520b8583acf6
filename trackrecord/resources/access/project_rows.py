"""The row of a project, which every question begins with."""

from sqlalchemy import Connection

from trackrecord.errors import UnknownProject
from trackrecord.learning.text.spelling import closest
from trackrecord.store.outcomes.projects import project_id_of, project_names


def project_row(connection: Connection, name: str) -> int:
    """Return the row of a project.

    Raises:
        UnknownProject: nothing is on record for it; the message names the nearest known project.
    """
    project_id = project_id_of(connection, name)
    if project_id is None:
        known = project_names(connection)
        raise UnknownProject(name, nearest=closest(name, known), count=len(known))
    return project_id
