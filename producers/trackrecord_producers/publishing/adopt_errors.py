"""Add errors that others recorded to an attempt's outcome, on its way to Redis.

The writing thread does this, so that no attempt waits for it: Redis is asked once
for a batch. While Redis is away, outcomes go to the spool with what their attempts counted
themselves.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any, NamedTuple

import msgspec
import redis

from trackrecord.inflight.reports import task_digest
from trackrecord.inflight.scripts import ADOPT
from trackrecord.inflight.store import or_unavailable
from trackrecord.redis.keys import Keys
from trackrecord.settings.agent_settings import AgentSettings

from ..delivery.waiting import WaitingItem


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
    with or_unavailable(), client.pipeline(transaction=False) as pipe:
        for adoption in adoptions:
            task = keys.task_in_flight(task_digest(adoption.task_id), adoption.project)
            pipe.eval(ADOPT, 1, task, adoption.outcome_id, round(adoption.age_s * 1000))
        answers: list[Any] = pipe.execute(raise_on_error=False)
    return [answer if isinstance(answer, int) else 0 for answer in answers]


class _Attempted(msgspec.Struct):
    """The fields of an attempt's outcome that decide which errors are its own."""

    task_id: str
    outcome_id: str
    project: str | None = None


_read = msgspec.json.Decoder(_Attempted).decode
_take_apart = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def with_adopted_errors(
    client: redis.Redis, settings: AgentSettings, items: Sequence[WaitingItem]
) -> list[WaitingItem]:
    """Return the same outcomes; those of attempts also count errors that others recorded.

    Raises:
        ServerUnavailable: Redis cannot be reached.
    """
    items = list(items)
    attempts = [place for place, item in enumerate(items) if item.adopts_since is not None]
    if attempts:
        adoptions = [_adoption(items[place], settings.project) for place in attempts]
        counts = adopt_errors(client, settings.keys, adoptions)
        for place, count in zip(attempts, counts, strict=True):
            if count:
                items[place] = _with_more_errors(items[place], count)
    return items


def _adoption(item: WaitingItem, project: str) -> Adoption:
    read = _read(item.body)
    assert item.adopts_since is not None  # noqa: S101 - why it was chosen
    age_s = max(0.0, monotonic() - item.adopts_since)
    return Adoption(read.project or project, read.task_id, read.outcome_id, age_s)


def _with_more_errors(item: WaitingItem, count: int) -> WaitingItem:
    fields = _take_apart(item.body)
    counted = msgspec.json.decode(fields["error_count"], type=int)
    fields["error_count"] = msgspec.Raw(str(counted + count).encode())
    return msgspec.structs.replace(item, body=msgspec.json.encode(fields))
