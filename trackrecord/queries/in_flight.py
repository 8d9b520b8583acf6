"""Errors of tasks in flight: whether a project has any, and resolving short ids."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import redis

from trackrecord.errors import UnknownId
from trackrecord.inflight.store import InFlightStore
from trackrecord.redis_keys import Keys

from .short_ids import matching, nearest_id, whole_id

_TASKS_AT_ONCE: Final = 500
_ID_FIELD: Final = b"i:"
# Of the tasks with the latest news.
_MOST_COMPARED: Final = 1000


def has_tasks_in_flight(client: redis.Redis, keys: Keys, project: str) -> bool:
    """Return whether anything is on record of any task in flight of a project."""
    return bool(client.exists(keys.tasks_in_flight(project)))


def unknown_task_in_flight(store: InFlightStore, project: str, task_id: str) -> UnknownId:
    """Return the error for a task of which no error and no attempt is on record.

    Args:
        store: the project's tasks in flight.
        project: its name.
        task_id: the task; the nearest one is looked for among those with the latest news.
    """
    known = {task.task_id for task in islice(store.read_all(), _MOST_COMPARED)} - {""}
    return UnknownId(
        f"no error of a task {task_id!r} is on record in project {project!r}",
        nearest=nearest_id(task_id, known),
        hint="`trackrecord errors list` shows the errors of its tasks",
    )


def whole_error_id(client: redis.Redis, keys: Keys, project: str, given: str) -> str:
    """Return the id of an error from its id, or the beginning of it.

    Raises:
        UnknownId: the project keeps no such error.
        AmbiguousId: several errors' ids begin so.
    """
    known = list(error_ids(client, keys, project))
    return whole_id(
        given,
        matching(given, known),
        f"no error {given!r} is on record in project {project!r}",
        hint="`trackrecord errors list` shows its errors",
        near=lambda: known[-_MOST_COMPARED:],
    )


def error_ids(client: redis.Redis, keys: Keys, project: str) -> Iterator[str]:
    """Yield the ids of all errors of a project, to resolve short ids."""
    digests: Any = client.zrange(keys.tasks_in_flight(project), 0, -1)
    remaining = iter(digests)
    while some := list(islice(remaining, _TASKS_AT_ONCE)):
        with client.pipeline(transaction=False) as pipe:
            for digest in some:
                pipe.hkeys(keys.task_in_flight(digest.decode(), project))
            answers: Any = pipe.execute()
        for fields in answers:
            for name in fields:
                if name.startswith(_ID_FIELD):
                    yield name.removeprefix(_ID_FIELD).decode()
