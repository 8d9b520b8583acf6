"""HTTP calls about the server itself: its status."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trackrecord.resources.operation.status import StatusAnswer
    from trackrecord_door.protocol.callers import Caller
    from trackrecord_door.query_service import QueryService


def read_status(
    service: QueryService, caller: Caller, *, project: str | None = None
) -> StatusAnswer:
    """Return whether the loop is alive, and how much it has learnt.

    Without a project the counts are those of all projects. A token for one project is told neither
    where the servers are nor of the dead letters of others.

    Args:
        service: has the store and Redis.
        caller: whoever asks.
        project: Whose counts.
    """
    from msgspec.structs import replace

    from trackrecord.resources.operation import status
    from trackrecord.resources.operation.dead_letters import count_letters
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
            dead_letters=letters,
        )
    if caller.project is not None:
        found = replace(found, home=None, redis=None, database=None, bytes=None)
    return found
