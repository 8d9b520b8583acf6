"""Adoption: an error of a task that no attempt has counted enters one attempt's outcome.

An attempt counts the errors that are reported to it. Errors that others record meanwhile, the
command line or another process, belong to the attempt that is going on; they are adopted when
that attempt's outcome travels.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import redis

from trackrecord.redis.keys import Keys

from .reports import task_digest
from .scripts import ADOPT
from .store import unavailable


class Adoption(NamedTuple):
    """The errors that an attempt's outcome may count as its own.

    Attributes:
        project: the task's project.
        task_id: the task.
        outcome_id: the outcome that will count it; asking again gives it the same.
        age_s: how long ago the attempt began: Redis tells by its own clock what came since.
    """

    project: str
    task_id: str
    outcome_id: str
    age_s: float


def adopt_errors(client: redis.Redis, keys: Keys, adoptions: Sequence[Adoption]) -> list[int]:
    """Return how many errors each of the outcomes adopts; 0 where Redis refuses.

    Raises:
        ServerUnavailable: Redis cannot be reached.
    """
    try:
        with client.pipeline(transaction=False) as pipe:
            for adoption in adoptions:
                task = keys.task_in_flight(task_digest(adoption.task_id), adoption.project)
                pipe.eval(ADOPT, 1, task, adoption.outcome_id, round(adoption.age_s * 1000))
            answers: list[Any] = pipe.execute(raise_on_error=False)
    except (redis.RedisError, OSError) as error:
        raise unavailable(error) from error
    return [answer if isinstance(answer, int) else 0 for answer in answers]
