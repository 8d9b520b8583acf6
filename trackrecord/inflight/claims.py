"""Claims: each error of a task that no attempt has counted is counted by one attempt's outcome.

An attempt counts what is told to it. What others record meanwhile, the command line or another
process, belongs to the attempt that is going on; it is claimed when that attempt's outcome travels.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import redis

from ..keys import Keys
from .reports import task_digest
from .scripts import CLAIM
from .store import unavailable


class Claim(NamedTuple):
    """What an attempt's outcome may count.

    Attributes:
        project: whose task it is.
        task_id: the task.
        outcome_id: the outcome that will count it; claiming again gives it the same.
        age_s: how long ago the attempt began: Redis tells by its own clock what came since.
    """

    project: str
    task_id: str
    outcome_id: str
    age_s: float


def claim_errors(client: redis.Redis, keys: Keys, claims: Sequence[Claim]) -> list[int]:
    """How many errors each claim is given; 0 where Redis refuses.

    Raises:
        ServerUnavailable: Redis cannot be reached.
    """
    try:
        with client.pipeline(transaction=False) as pipe:
            for claim in claims:
                task = keys.task_in_flight(task_digest(claim.task_id), claim.project)
                pipe.eval(CLAIM, 1, task, claim.outcome_id, round(claim.age_s * 1000))
            answers: list[Any] = pipe.execute(raise_on_error=False)
    except (redis.RedisError, OSError) as error:
        raise unavailable(error) from error
    return [answer if isinstance(answer, int) else 0 for answer in answers]
