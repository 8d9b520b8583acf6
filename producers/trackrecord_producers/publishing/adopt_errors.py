"""Add errors that others recorded to an attempt's outcome, on its way to Redis.

The writing thread does this, so that no attempt waits for it: Redis is asked once
for a batch. While Redis is away, outcomes go to the spool with what their attempts counted
themselves.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any

import msgspec
import redis

from trackrecord.inflight.reports import task_digest
from trackrecord.inflight.scripts import ADOPT
from trackrecord.inflight.store import or_unavailable
from trackrecord.settings.agent_settings import AgentSettings

from ..delivery.waiting import WaitingItem


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
    if not attempts:
        return items
    keys, now = settings.keys, monotonic()
    with or_unavailable(), client.pipeline(transaction=False) as pipe:
        for place in attempts:
            read = _read(items[place].body)
            task = keys.task_in_flight(task_digest(read.task_id), read.project or settings.project)
            # How long ago the attempt began: Redis tells by its own clock what came since.
            age_s = max(0.0, now - (items[place].adopts_since or now))
            pipe.eval(ADOPT, 1, task, read.outcome_id, round(age_s * 1000))
        answers: list[Any] = pipe.execute(raise_on_error=False)
    for place, count in zip(attempts, answers, strict=True):
        # Where Redis refuses, the outcome counts its own.
        if isinstance(count, int) and count:
            items[place] = _with_more_errors(items[place], count)
    return items


def _with_more_errors(item: WaitingItem, count: int) -> WaitingItem:
    fields = _take_apart(item.body)
    counted = msgspec.json.decode(fields["error_count"], type=int)
    fields["error_count"] = msgspec.Raw(str(counted + count).encode())
    return msgspec.structs.replace(item, body=msgspec.json.encode(fields))
