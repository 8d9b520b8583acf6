"""What HTTP offers of the server itself: projects, the status, and dead letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trackrecord.resources.checks import Moment, moment_of

if TYPE_CHECKING:
    from trackrecord.queries.dead_letters import DeadLetter
    from trackrecord.queries.projects import Project
    from trackrecord_door.callers import Caller
    from trackrecord_door.floor import Floor


def list_projects(
    floor: Floor, *, at: Moment | None = None, project: str | None = None
) -> list[Project]:
    """Return the projects on record by name, each with its counts.

    A token for one project is told of that project alone.

    Args:
        floor: has the store.
        at: A past moment to answer for; projects that nothing was on record of are left out.
        project: The only project that is wanted.
    """
    from trackrecord.queries import projects
    from trackrecord.store.database.engine import reading

    names = None if project is None else [project]
    with reading(floor.engine) as connection:
        return projects.list_projects(connection, at=moment_of(at), names=names)[0]


def read_status(
    floor: Floor, caller: Caller, *, at: Moment | None = None, project: str | None = None
) -> Mapping[str, Any]:
    """Return whether the loop is alive, and how much it has learnt.

    Without a project the counts are those of all projects. A token for one project is told neither
    where the servers are nor of the dead letters of others.

    Args:
        floor: has the store and Redis.
        caller: whoever asks.
        at: A past moment that the counts of the store are answered for.
        project: Whose counts.
    """
    from trackrecord.queries import status
    from trackrecord.queries.letters_of_project import count_letters_of
    from trackrecord.store.database.engine import reading
    from trackrecord_producers.spool.files import spool_size

    letters = None
    if caller.project is not None:
        letters = count_letters_of(floor.client, floor.settings.keys, caller.project)
    with reading(floor.engine) as connection:
        found = status.read_status(
            floor.client,
            connection,
            floor.settings,
            project=project,
            spooled=spool_size(floor.settings).outcomes,
            at=moment_of(at),
            dead_letters=letters,
        )
    document = found.to_document()
    if caller.project is not None:
        document |= {"home": None, "redis": None, "database": None}
    return document


def list_dead_letters(
    floor: Floor,
    *,
    at: Moment | None = None,
    limit: int | None = None,
    after: str | None = None,
    project: str | None = None,
) -> list[DeadLetter]:
    """Return the oldest dead letters, each with the reason why it could not be learnt.

    Args:
        floor: has Redis.
        at: Only those of the letters still there that had been set aside by this moment.
        limit: The maximum number of letters to return.
        after: The cursor of the page before.
        project: Only the letters that say that they are of this project.
    """
    from trackrecord.queries.letters_of_project import page_of_letters

    return page_of_letters(
        floor.client,
        floor.settings.keys,
        limit=limit,
        project=project,
        at=moment_of(at),
        after=after,
    )


def replay_dead_letters(
    floor: Floor,
    *,
    ids: Sequence[str] | None = None,
    everything: bool = False,
    project: str | None = None,
) -> Mapping[str, Any]:
    """Put dead letters back into the stream, after their cause has been mended.

    Args:
        floor: has Redis.
        ids: The letters' ids, or their beginnings.
        everything: Whether all letters are meant, instead of `ids`.
        project: Only letters that say that they are of this project are meant.
    """
    from trackrecord.changes.dead_letters import replay_letters

    wanted = _wanted(floor, ids, everything=everything, project=project)
    return {"replayed": replay_letters(floor.client, floor.settings.keys, wanted)}


def discard_dead_letters(
    floor: Floor,
    *,
    ids: Sequence[str] | None = None,
    everything: bool = False,
    project: str | None = None,
) -> Mapping[str, Any]:
    """Delete dead letters for good.

    Args:
        floor: has Redis.
        ids: The letters' ids, or their beginnings.
        everything: Whether all letters are meant, instead of `ids`.
        project: Only letters that say that they are of this project are meant.
    """
    from trackrecord.changes.dead_letters import discard_letters

    wanted = _wanted(floor, ids, everything=everything, project=project)
    return {"discarded": discard_letters(floor.client, floor.settings.keys, wanted)}


def _wanted(
    floor: Floor, ids: Sequence[str] | None, *, everything: bool, project: str | None
) -> Sequence[str] | None:
    from trackrecord.errors import InvalidRequest
    from trackrecord.queries.letters_of_project import ids_of_letters

    if everything == bool(ids):
        message = 'name the ids of dead letters, or say "everything": true'
        raise InvalidRequest(message)
    return ids_of_letters(floor.client, floor.settings.keys, project, ids or None)
