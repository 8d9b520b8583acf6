"""HTTP calls about the server itself: its status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trackrecord.resources.checks import Moment, moment_of

if TYPE_CHECKING:
    from trackrecord_door.callers import Caller
    from trackrecord_door.query_service import QueryService


def read_status(
    service: QueryService, caller: Caller, *, at: Moment | None = None, project: str | None = None
) -> Mapping[str, Any]:
    """Return whether the loop is alive, and how much it has learnt.

    Without a project the counts are those of all projects. A token for one project is told neither
    where the servers are nor of the dead letters of others.

    Args:
        service: has the store and Redis.
        caller: whoever asks.
        at: A past moment that the counts of the store are answered for.
        project: Whose counts.
    """
    from trackrecord.queries import status
    from trackrecord.resources.dead_letters import count_letters
    from trackrecord.store.database.engine import reading
    from trackrecord_producers.spool.files import spool_size

    letters = None
    if caller.project is not None:
        letters = count_letters(service.client, service.settings.keys, caller.project)
    with reading(service.engine) as connection:
        found = status.read_status(
            service.client,
            connection,
            service.settings,
            project=project,
            spooled=spool_size(service.settings).outcomes,
            at=moment_of(at),
            dead_letters=letters,
        )
    document = found.to_document()
    if caller.project is not None:
        document |= {"home": None, "redis": None, "database": None}
    return document
